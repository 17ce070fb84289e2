/* driver.c - runs a fuzz target without libFuzzer: its corpus, then mutations of it.
 *
 *   fuzz_NAME CORPUS_DIR COUNT [SEED]
 *
 * Mutations come from a counter-based generator, so a run is the same everywhere.  The input
 * at work lies in the file <program>.last: after a crash it is the failing input, and becomes
 * a corpus file once the defect is repaired.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES_MAX = 1024, INPUT_MAX = 1 << 16 };

typedef struct input {
  char *name;
  uint8_t *data;
  size_t size;
} input;

typedef struct rng { /* the k-th number depends on seed, stream and k only */
  uint64_t seed, stream, k;
} rng;

/* Finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
 * generators", doi:10.1145/2660193.2660195). */
static uint64_t mix_seed_bits(uint64_t z)
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static size_t draw_index_below(rng *r, size_t n)
{
  const uint64_t z = mix_seed_bits(
      r->seed + mix_seed_bits(r->stream + mix_seed_bits(++r->k * UINT64_C(0x9e3779b97f4a7c15))));
  return n > 0 ? (size_t)(z % n) : 0;
}

static int compare_corpus_inputs(const void *a, const void *b)
{
  return strcmp(((const input *)a)->name, ((const input *)b)->name);
}

static void exit_fuzz_driver(const char *what, const char *name)
{
  fprintf(stderr, "fuzz driver: %s %s\n", what, name);
  exit(2);
}

static int read_corpus(const char *dir, input *in)
{
  DIR *const d = opendir(dir);
  int n = 0;
  if (d == NULL) exit_fuzz_driver("cannot read directory", dir);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (n == FILES_MAX) exit_fuzz_driver("too many files in", dir);
    FILE *const f = fopen(path, "rb");
    in[n].size = (size_t)st.st_size;
    in[n].name = strdup(e->d_name);
    in[n].data = malloc(in[n].size + 1);
    if (f == NULL || in[n].name == NULL || in[n].data == NULL ||
        fread(in[n].data, 1, in[n].size, f) != in[n].size)
      exit_fuzz_driver("cannot read", path);
    fclose(f);
    ++n;
  }
  closedir(d);
  if (n == 0) exit_fuzz_driver("no files in", dir);
  qsort(in, (size_t)n, sizeof *in, compare_corpus_inputs);
  return n;
}

/* Replace [at, at + cut) of buf by `len` bytes of `src`; the new size. */
static size_t replace_bytes(uint8_t *buf, size_t size, size_t at, size_t cut, const uint8_t *src,
                            size_t len)
{
  if (size - cut + len > INPUT_MAX) return size;
  memmove(buf + at + len, buf + at + cut, size - at - cut);
  if (len > 0) memcpy(buf + at, src, len);
  return size - cut + len;
}

static size_t mutate_input(rng *r, uint8_t *buf, size_t size, const input *in, int n)
{
  static const char *const bits[] = {"\n",     "=",
                                     "[",      "]",
                                     ";",      "#",
                                     "\"",     "'",
                                     "\\",     "\r\n",
                                     "/",      "0",
                                     "-1",     "1e999",
                                     "nan",    "inf",
                                     ".",      " ",
                                     "\t",     "1/0",
                                     "1e-320", "//",
                                     "f 1 2",  "\xff",
                                     "\xc3",   "99999999999999999999"};
  uint8_t piece[256];
  const size_t at = draw_index_below(r, size + 1), left = size - at;
  switch (draw_index_below(r, 8)) {
  case 0: /* flip a bit */
    if (left > 0) buf[at] ^= (uint8_t)(1u << draw_index_below(r, 8));
    return size;
  case 1: /* any byte, also NUL */
    piece[0] = (uint8_t)draw_index_below(r, 256);
    return replace_bytes(buf, size, at, draw_index_below(r, 2) && left > 0 ? 1 : 0, piece, 1);
  case 2: { /* a token that parsers stumble over */
    const char *const t = bits[draw_index_below(r, sizeof bits / sizeof bits[0])];
    return replace_bytes(buf, size, at, 0, (const uint8_t *)t, strlen(t));
  }
  case 3: { /* cut */
    const size_t room = left < 64 ? left : 64;
    return replace_bytes(buf, size, at, draw_index_below(r, room + 1), NULL, 0);
  }
  case 4: { /* repeat a piece */
    const size_t len = draw_index_below(r, (left < sizeof piece ? left : sizeof piece) + 1);
    memcpy(piece, buf + at, len);
    return replace_bytes(buf, size, at, 0, piece, len);
  }
  case 5: { /* splice from another file */
    const input *const o = &in[draw_index_below(r, (size_t)n)];
    const size_t from = draw_index_below(r, o->size + 1), most = o->size - from;
    const size_t len = draw_index_below(r, (most < 256 ? most : 256) + 1);
    return replace_bytes(buf, size, at, 0, o->data + from, len);
  }
  case 6:
    return at; /* truncate */
  default: {   /* a digit becomes another */
    for (size_t i = at; i < size; ++i)
      if (buf[i] >= '0' && buf[i] <= '9') {
        buf[i] = (uint8_t)('0' + draw_index_below(r, 10));
        break;
      }
    return size;
  }
  }
}

static void run_fuzz_input(int fd, const uint8_t *data, size_t size)
{
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
    exit_fuzz_driver("cannot write", "the .last file");
  LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
  static input in[FILES_MAX];
  static uint8_t buf[INPUT_MAX];
  char last[4096];
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: %s CORPUS_DIR COUNT [SEED]\n", argv[0]);
    return 2;
  }
  const long count = strtol(argv[2], NULL, 10);
  const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  const int n = read_corpus(argv[1], in);
  snprintf(last, sizeof last, "%s.last", argv[0]);
  const int fd = open(last, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) exit_fuzz_driver("cannot write", last);

  for (int i = 0; i < n; ++i) run_fuzz_input(fd, in[i].data, in[i].size);
  for (long i = 0; i < count; ++i) {
    rng r = {seed, (uint64_t)i, 0};
    const input *const from = &in[draw_index_below(&r, (size_t)n)];
    size_t size = from->size < INPUT_MAX ? from->size : INPUT_MAX;
    memcpy(buf, from->data, size);
    for (size_t m = 1 + draw_index_below(&r, 6); m > 0; --m)
      size = mutate_input(&r, buf, size, in, n);
    run_fuzz_input(fd, buf, size);
  }
  printf("%d corpus files and %ld mutations, seed %" PRIu64 "\n", n, count, seed);
  for (int i = 0; i < n; ++i) {
    free(in[i].name);
    free(in[i].data);
  }
  close(fd);
  unlink(last);
  return 0;
}
