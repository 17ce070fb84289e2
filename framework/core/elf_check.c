/* elf_check.c - header, segments and sections of an ELF file lie inside the file. */
#include "core/elf_check.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADERS_MAX = 4096 };

static int read_at(FILE *f, uint64_t at, void *buf, size_t len)
{
  return at <= INT64_MAX && fseeko(f, (off_t)at, SEEK_SET) == 0 && fread(buf, 1, len, f) == len;
}

static int is_range_inside(uint64_t at, uint64_t len, uint64_t size)
{
  return at <= size && len <= size - at;
}

/* Machine, class and byte order of the running program; it was loaded, so it fits. */
static int own_header(Elf64_Ehdr *h)
{
  FILE *const f = fopen("/proc/self/exe", "rb");
  const int fine = f != NULL && read_at(f, 0, h, sizeof *h);
  if (f != NULL) fclose(f);
  return fine;
}

static loom_status check_elf_header(loom_err *err, const Elf64_Ehdr *h)
{
  Elf64_Ehdr own = {0};
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
    return err_set(err, LOOM_E_ABI, "not an ELF file; plugins are shared objects");
  if (!own_header(&own))
    return err_set(err, LOOM_E_IO, "cannot read /proc/self/exe to compare machines: %s",
                   strerror(errno));
  if (h->e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || h->e_ident[EI_DATA] != own.e_ident[EI_DATA])
    return err_set(err, LOOM_E_ABI, "an ELF file of another word size or byte order");
  if (h->e_ident[EI_CLASS] != ELFCLASS64)
    return err_set(err, LOOM_E_UNSUPPORTED, "loom runs as 64-bit program only");
  if (h->e_machine != own.e_machine)
    return err_set(err, LOOM_E_ABI, "built for another processor (ELF machine %d, here %d)",
                   (int)h->e_machine, (int)own.e_machine);
  if (h->e_type != ET_DYN)
    return err_set(err, LOOM_E_ABI, "not a shared object (ELF type %d); link it with -shared",
                   (int)h->e_type);
  return LOOM_OK;
}

static loom_status refuse_truncated_elf(loom_err *err, const char *what, uint64_t size)
{
  return err_set(err, LOOM_E_ABI, "truncated: %s past the end of its %llu bytes; copy it again",
                 what, (unsigned long long)size);
}

static loom_status check_extent(loom_err *err, FILE *f, const Elf64_Ehdr *h, uint64_t size)
{
  int loads = 0, dynamic = 0;
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > HEADERS_MAX ||
      (h->e_shoff != 0 && h->e_shentsize != sizeof(Elf64_Shdr)))
    return err_set(err, LOOM_E_ABI, "damaged ELF header (%d segments of %d bytes)", (int)h->e_phnum,
                   (int)h->e_phentsize);
  if (!is_range_inside(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), size))
    return refuse_truncated_elf(err, "program headers", size);
  if (!is_range_inside(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), size))
    return refuse_truncated_elf(err, "section headers", size);
  for (unsigned i = 0; i < h->e_phnum; ++i) {
    Elf64_Phdr p = {0};
    if (!read_at(f, h->e_phoff + i * sizeof p, &p, sizeof p))
      return refuse_truncated_elf(err, "program headers", size);
    if (!is_range_inside(p.p_offset, p.p_filesz, size))
      return refuse_truncated_elf(err, "a segment", size);
    loads += p.p_type == PT_LOAD;
    dynamic += p.p_type == PT_DYNAMIC;
  }
  if (loads == 0 || dynamic != 1)
    return err_set(err, LOOM_E_ABI, "damaged ELF file: %d loadable and %d dynamic segments", loads,
                   dynamic);
  for (unsigned i = 0; i < h->e_shnum; ++i) {
    Elf64_Shdr s = {0};
    if (!read_at(f, h->e_shoff + i * sizeof s, &s, sizeof s))
      return refuse_truncated_elf(err, "section headers", size);
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL &&
        !is_range_inside(s.sh_offset, s.sh_size, size))
      return refuse_truncated_elf(err, "a section", size);
  }
  return LOOM_OK;
}

loom_status elf_check(loom_err *err, const char *path)
{
  struct stat st;
  Elf64_Ehdr h = {0};
  /* the kind of file first: opening a pipe would wait for its other end */
  if (stat(path, &st) != 0) return err_set(err, LOOM_E_IO, "cannot read it: %s", strerror(errno));
  if (!S_ISREG(st.st_mode)) return err_set(err, LOOM_E_ABI, "not a regular file");
  FILE *const f = fopen(path, "rb");
  if (f == NULL) return err_set(err, LOOM_E_IO, "cannot read it: %s", strerror(errno));
  const uint64_t size = (uint64_t)st.st_size;
  loom_status s = LOOM_OK;
  if (size < sizeof h || !read_at(f, 0, &h, sizeof h))
    s = err_set(err, LOOM_E_ABI, "not an ELF file (%llu bytes); plugins are shared objects",
                (unsigned long long)size);
  if (s == LOOM_OK) s = check_elf_header(err, &h);
  if (s == LOOM_OK) s = check_extent(err, f, &h, size);
  fclose(f);
  return s;
}
