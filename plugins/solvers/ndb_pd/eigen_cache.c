/* eigen_cache.c - eigenpairs on disk, one file per system; see eigen.h.
 *
 * The name holds a hash of the system and of the request; the file's head holds a second,
 * independent one and a hash of its contents, so that a file of another system, a damaged one
 * or one of an older format is refused.  Files are written under another name and renamed:
 * runs side by side may share a folder. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eigen.h"

typedef struct head {
  char magic[8];
  uint64_t system, contents;
  int64_t n, count;
} head;

static const char cache_magic[8] = {'l', 'o', 'o', 'm', 'e', 'i', 'g', '1'};
enum { NAME_SEED = 1, HEAD_SEED = 2 };

/* FNV-1a over 8-byte words (G. Fowler, L. Noll, K. Vo), with a finalising mix. */
static uint64_t hash_words(uint64_t h, const void *data, size_t bytes)
{
  const unsigned char *p = data;
  for (; bytes > 0;) {
    uint64_t w = 0;
    const size_t take = bytes < sizeof w ? bytes : sizeof w;
    memcpy(&w, p, take);
    h = (h ^ w) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
    p += take;
    bytes -= take;
  }
  return h;
}

static uint64_t hash_system(const eig_system *s, const eig_request *r, uint64_t seed)
{
  const int64_t nnz = s->ptr[s->n];
  const int32_t shape[4] = {s->n, r->count, s->weight != NULL, (int32_t)sizeof(loom_real)};
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (seed * UINT64_C(0x9e3779b97f4a7c15));
  h = hash_words(h, shape, sizeof shape);
  h = hash_words(h, &r->tolerance, sizeof r->tolerance);
  h = hash_words(h, s->ptr, ((size_t)s->n + 1) * sizeof *s->ptr);
  h = hash_words(h, s->col, (size_t)nnz * sizeof *s->col);
  h = hash_words(h, s->val, (size_t)nnz * sizeof *s->val);
  if (s->weight != NULL) h = hash_words(h, s->weight, (size_t)s->n * sizeof *s->weight);
  return h;
}

static uint64_t hash_pairs(const eig_pairs *p)
{
  const size_t count = (size_t)p->count;
  const uint64_t h = hash_words(UINT64_C(0xcbf29ce484222325), p->mu, count * sizeof *p->mu);
  return hash_words(h, p->vec, count * (size_t)p->n * sizeof *p->vec);
}

char *eig_cache_path(const eig_system *s, const eig_request *r)
{
  const size_t len = strlen(r->cache) + 64;
  char *path = malloc(len);
  if (path != NULL)
    snprintf(path, len, "%s/modes-%d-%016" PRIx64 ".eig", r->cache, r->count,
             hash_system(s, r, NAME_SEED));
  return path;
}

static int read_pairs(FILE *f, const eig_system *s, const eig_request *r, eig_pairs *p)
{
  head h;
  if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, cache_magic, sizeof cache_magic) != 0 ||
      h.system != hash_system(s, r, HEAD_SEED) || h.n != s->n || h.count != r->count)
    return 0;
  const size_t count = (size_t)r->count, all = count * (size_t)s->n; /* as the file says */
  p->n = s->n;
  p->count = r->count;
  p->mu = malloc(count * sizeof *p->mu);
  p->vec = malloc(all * sizeof *p->vec);
  return p->mu != NULL && p->vec != NULL && fread(p->mu, sizeof *p->mu, count, f) == count &&
         fread(p->vec, sizeof *p->vec, all, f) == all && fgetc(f) == EOF &&
         hash_pairs(p) == h.contents;
}

/* A pipe under the name of a cache file would hold the run up for ever. */
static FILE *open_cache_file(const char *path)
{
  struct stat st;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *const f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
  if (f == NULL && fd >= 0) close(fd);
  return f;
}

int eig_cache_read(const eig_system *s, const eig_request *r, eig_pairs *out)
{
  char *path = eig_cache_path(s, r);
  FILE *f = path != NULL ? open_cache_file(path) : NULL;
  free(path);
  if (f == NULL) return 0;
  const int good = read_pairs(f, s, r, out);
  fclose(f);
  if (!good) {
    eig_free(out);
    out->stale = 1;
  }
  return good;
}

/* Makes the folder and its parents. */
static int create_cache_folder(const char *path)
{
  char *p = strdup(path);
  int ok = p != NULL;
  for (char *c = p; ok && *c != '\0'; ++c) {
    if (*c != '/' || c == p) continue;
    *c = '\0';
    ok = mkdir(p, 0777) == 0 || errno == EEXIST;
    *c = '/';
  }
  ok = ok && (mkdir(p, 0777) == 0 || errno == EEXIST);
  free(p);
  return ok;
}

static int write_eigenpairs(FILE *f, const eig_system *s, const eig_request *r, const eig_pairs *p)
{
  head h = {.system = hash_system(s, r, HEAD_SEED),
            .contents = hash_pairs(p),
            .n = p->n,
            .count = p->count};
  const size_t count = (size_t)p->count, all = count * (size_t)p->n;
  memcpy(h.magic, cache_magic, sizeof h.magic);
  return fwrite(&h, sizeof h, 1, f) == 1 && fwrite(p->mu, sizeof *p->mu, count, f) == count &&
         fwrite(p->vec, sizeof *p->vec, all, f) == all;
}

int eig_cache_write(const eig_system *s, const eig_request *r, const eig_pairs *p)
{
  char *path = eig_cache_path(s, r), *temp = NULL;
  int ok = 0;
  if (path != NULL && create_cache_folder(r->cache)) temp = malloc(strlen(path) + 32);
  if (temp != NULL) {
    sprintf(temp, "%s.%ld", path, (long)getpid());
    const int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (f != NULL) {
      ok = write_eigenpairs(f, s, r, p);
      ok = fclose(f) == 0 && ok;
      ok = ok && rename(temp, path) == 0;
      if (!ok) remove(temp);
    }
  }
  free(temp);
  free(path);
  return ok;
}
