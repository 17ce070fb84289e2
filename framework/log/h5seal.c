/* h5seal.c - the seal of a checkpoint: a hash over the whole file, in front of it.
 *
 * HDF5 has checksums of its own structures but not of the data, and its library was not made for
 * damaged files.  So a checkpoint begins with 512 bytes that HDF5 leaves free (a user
 * block), and they are compared with the rest before HDF5 reads the file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5util.h"

static const char seal_form[] = "loom checkpoint %d\nbytes %016" PRIx64 "\nhash %016" PRIx64 "\n";
enum { PIECE = 64 << 10 }; /* bytes read at once, a multiple of 8 */

/* FNV-1a over 8-byte words (G. Fowler, L. Noll, K. Vo).  Every step is a bijection of h, so one
 * changed word always changes the hash; the shift moves high bits down, which the product does not.
 */
uint64_t h5u_hash(uint64_t h, const void *data, size_t bytes)
{
  const unsigned char *const p = data;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t w;
    memcpy(&w, p + i, 8);
    h = (h ^ w) * UINT64_C(1099511628211);
    h ^= h >> 29;
  }
  return h;
}

/* Hash and length of the bytes that follow the seal; 0, or -1 with errno. */
static int hash_rest(int fd, uint64_t *bytes, uint64_t *hash)
{
  unsigned char piece[PIECE];
  uint64_t h = H5U_HASH_START;
  off_t at = H5U_SEAL_BYTES;
  for (;;) {
    size_t have = 0;
    while (have < PIECE) {
      const ssize_t n = pread(fd, piece + have, PIECE - have, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return -1;
      if (n == 0) break;
      have += (size_t)n;
      at += n;
    }
    memset(piece + have, 0, (8 - have % 8) % 8);
    h = h5u_hash(h, piece, (have + 7) / 8 * 8);
    if (have < PIECE) break;
  }
  *bytes = (uint64_t)(at - H5U_SEAL_BYTES);
  *hash = h;
  return 0;
}

int h5u_seal(int fd)
{
  char seal[H5U_SEAL_BYTES] = "";
  uint64_t bytes, hash;
  if (hash_rest(fd, &bytes, &hash) < 0) return -1;
  snprintf(seal, sizeof seal, seal_form, H5U_SEAL_VERSION, bytes, hash);
  const ssize_t n = pwrite(fd, seal, sizeof seal, 0);
  if (n >= 0 && n != (ssize_t)sizeof seal) errno = ENOSPC;
  return n == (ssize_t)sizeof seal ? 0 : -1;
}

int h5u_seal_holds(int fd, char *why, size_t len)
{
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  char seal[H5U_SEAL_BYTES], wanted[H5U_SEAL_BYTES] = "";
  uint64_t bytes, hash, told_bytes = 0;
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    snprintf(why, len, "is not a regular file");
    return 0;
  }
  if (pread(fd, seal, sizeof seal, 0) != (ssize_t)sizeof seal || hash_rest(fd, &bytes, &hash) < 0) {
    snprintf(why, len, "is too short, or cannot be read");
    return 0;
  }
  snprintf(wanted, sizeof wanted, seal_form, H5U_SEAL_VERSION, bytes, hash);
  if (memcmp(seal, wanted, sizeof seal) == 0) return 1;
  const int end = (int)strcspn(wanted, "\n") + 1;
  seal[sizeof seal - 1] = '\0';
  if (memcmp(seal, hdf5, sizeof hdf5) == 0)
    snprintf(why, len, "has no hash of its contents: another version of loom wrote it");
  else if (memcmp(seal, wanted, (size_t)end) != 0)
    snprintf(why, len, "does not begin as a checkpoint of this version");
  else if (sscanf(seal + end, "bytes %" SCNx64, &told_bytes) == 1 && told_bytes != bytes)
    snprintf(why, len, "is damaged: %" PRIu64 " bytes were written, it has %" PRIu64,
             told_bytes + H5U_SEAL_BYTES, bytes + H5U_SEAL_BYTES);
  else
    snprintf(why, len, "is damaged: its contents do not have the hash that was written");
  return 0;
}
