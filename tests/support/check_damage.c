/* check_damage.c - see check_damage.h. */
#include "support/check_damage.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5util.h"
#include "support/proc.h"

/* ---- scenes ---- */

#define RUN(more) "[run]\nsteps = 12\ndt = 0.01\n" more "[exec]\nbackend = cpu\nthreads = 1\n"
#define SHEET                                                                           \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.6 " \
  "0.6\nresolution = 9 9\n"                                                             \
  "transform = translate 0.02 0.01 0.225\ndensity = 0.2\n"                              \
  "membrane = 1000\nk_b = 1e-4\nthickness = 2 mm\ndamping = 0.5\n"                      \
  "[stop]\ntol_abs = 1e-6\ntol_rel = 1e-3\nmax_iters = 6\n"                             \
  "[log]\ncheckpoint_every = 4\naudit = off\n[collision.bodies]\nplugin = sdf\n"
#define BALL "[body.ball]\nshape = sphere\nradius = 0.12\nposition = 0 0 0.1\nfriction = 0.3\n"
#define SELF "[collision.self]\nplugin = patch_bvh\n"
#define YARN                                                                                   \
  "[run]\nsteps = 12\ndt = 6.1728395e-5\n[exec]\nbackend = cpu\nthreads = 1\n"                 \
  "[detect]\nevery = step\n[log]\ncheckpoint_every = 4\naudit = off\n"                         \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\nmu_const = 0\nshrink = 0.8\n"             \
  "shrink_time = 6e-4\n[collision.grid]\nplugin = yarn_grid\n"                                 \
  "[yarn.swatch]\npattern = stockinette\nrows = 2\nloops = 3\n[contact.yarns]\nplugin = acl\n" \
  "stiction = 0.05\nstiction_break = 1e-10\n"

static const struct scene {
  const char *what, *text;
} scenes[CD_SCENES] = {
    {"cholmod_pd and ndb", RUN("forwarding = corrected\n") SHEET BALL SELF
     "[contact.all]\nplugin = ndb\ncarry = yes\n[solver]\nplugin = cholmod_pd\n"},
    {"ndb_pd and ndb", RUN("") SHEET BALL SELF
     "[contact.all]\nplugin = ndb\ncarry = yes\n[solver]\nplugin = ndb_pd\n"},
    {"cholmod_newton and ipc_barrier",
     RUN("") SHEET BALL SELF "[contact.all]\nplugin = ipc_barrier\n[solver]\nplugin = "
                             "cholmod_newton\n"},
    {"pcg_newton and dbb",
     RUN("") SHEET BALL SELF "[contact.all]\nplugin = dbb\n[solver]\nplugin = pcg_newton\n"},
    {"yarn_explicit and acl", YARN},
    {"gd and project with balls that move",
     RUN("") SHEET BALL "mass = 0.5\n[body.other]\nshape = sphere\nradius = 0.1\nposition = 0 0 "
                        "-0.13\nmass = 0.5\n[contact.all]\nplugin = project\npairs = obstacle\n"
                        "[solver]\nplugin = gd\n"}};

const char *cd_scene(int which, const char *name)
{
  char file[PROC_NAME];
  snprintf(file, sizeof file, "%s.ini", name);
  proc_write(file, scenes[which].text);
  return scenes[which].what;
}

void cd_copy(const char *from, const char *to)
{
  char piece[65536];
  const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  cr_assert(in >= 0 && out >= 0, "%s to %s", from, to);
  for (ssize_t n; (n = read(in, piece, sizeof piece)) > 0;)
    cr_assert_eq(write(out, piece, (size_t)n), n);
  close(in);
  close(out);
}

/* ---- names ---- */

typedef struct list {
  char (*names)[128];
  int num, most;
} list;

static herr_t add_name(hid_t id, const char *name, const h5api_object *object, void *user)
{
  list *const l = user;
  (void)id;
  if (!h5api_is_dataset(object) || l->num == l->most) return 0;
  snprintf(l->names[l->num++], 128, "%s", name);
  return 0;
}

int cd_names(const char *path, char (*names)[128], int most)
{
  list l = {names, 0, most};
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  cr_assert_geq(f, 0, "%s", path);
  cr_assert_geq(h5api_visit(f, add_name, &l), 0);
  H5Fclose(f);
  return l.num;
}

/* ---- data sets ---- */

/* In place of data set `name`: `count` items of `type` (in one dimension) from `data`. */
static void replace_dataset(hid_t f, const char *name, hid_t type, hsize_t count, const void *data)
{
  cr_assert_geq(H5Ldelete(f, name, H5P_DEFAULT), 0);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t d = H5Dcreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert_geq(d, 0, "%s", name);
  if (data != NULL && count > 0)
    cr_assert_geq(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
  H5Dclose(d);
  H5Sclose(space);
}

/* All of it in the type of the file, with room for as much again; *type is the caller's. */
static char *load_dataset(hid_t f, const char *name, hid_t *type, hsize_t *count)
{
  const hid_t d = H5Dopen2(f, name, H5P_DEFAULT), space = H5Dget_space(d);
  cr_assert_geq(d, 0, "%s", name);
  *type = H5Dget_type(d);
  *count = (hsize_t)H5Sget_simple_extent_npoints(space);
  char *const all = calloc(2 * *count + 1, H5Tget_size(*type));
  cr_assert_geq(H5Dread(d, *type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all), 0);
  H5Sclose(space);
  H5Dclose(d);
  return all;
}

/* ---- damage ---- */

static uint64_t next_damage_random(uint64_t *state) /* splitmix64 */
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void damage_bytes(const char *path, int cut, uint64_t *state, char *what, size_t len)
{
  struct stat st;
  const int fd = open(path, O_RDWR);
  cr_assert(fd >= 0 && fstat(fd, &st) == 0);
  const off_t at = (off_t)(next_damage_random(state) % (uint64_t)st.st_size);
  const int bit = (int)(next_damage_random(state) % 8);
  if (cut) {
    cr_assert_eq(ftruncate(fd, at), 0);
    snprintf(what, len, "cut to %lld bytes", (long long)at);
  } else {
    unsigned char byte;
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    byte ^= (unsigned char)(1 << bit);
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    snprintf(what, len, "bit %d of byte %lld flipped", bit, (long long)at);
  }
  close(fd);
}

static void damage_sets(const char *path, int kind, uint64_t *state, char *what, size_t len)
{
  char names[64][128];
  const int num = cd_names(path, names, 64);
  const char *const one = names[next_damage_random(state) % (uint64_t)num];
  const char *two = names[next_damage_random(state) % (uint64_t)num];
  if (strcmp(one, two) == 0) two = strcmp(one, "core/v") == 0 ? "core/x" : "core/v";
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  if (kind == 2) {
    snprintf(what, len, "%s and %s exchanged", one, two);
    H5Lmove(f, one, f, "aside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(f, two, f, one, H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(f, "aside", f, two, H5P_DEFAULT, H5P_DEFAULT);
  } else {
    hid_t type;
    hsize_t count;
    char *const all = load_dataset(f, one, &type, &count);
    if (kind == 3) {
      const hsize_t now = next_damage_random(state) % 2 ? 2 * count : count / 2;
      replace_dataset(f, one, type, now, all);
      snprintf(what, len, "%s with %d instead of %d items", one, (int)now, (int)count);
    } else {
      const hid_t to = H5Tget_class(type) == H5T_FLOAT ? H5T_IEEE_F32LE : H5T_STD_I16LE;
      H5Tconvert(type, to, count, all, NULL, H5P_DEFAULT);
      replace_dataset(f, one, to, count, all);
      snprintf(what, len, "%s in another type", one);
    }
    free(all);
    H5Tclose(type);
  }
  H5Fclose(f);
}

const char *cd_damage(const char *path, uint32_t seed)
{
  static char what[400];
  uint64_t state = seed;
  const int kind = (int)(seed % CD_KINDS);
  if (kind < 2)
    damage_bytes(path, kind, &state, what, sizeof what);
  else
    damage_sets(path, kind, &state, what, sizeof what);
  return what;
}

/* ---- forgery ---- */

static void reseal_checkpoint(const char *path)
{
  const int fd = open(path, O_RDWR);
  cr_assert(fd >= 0 && h5u_seal(fd) == 0);
  close(fd);
}

/* One value in place of items from `first` on, every `each` of them. */
static void put_values(char *all, hid_t type, hsize_t count, double value, hsize_t first,
                       hsize_t each)
{
  const size_t size = H5Tget_size(type);
  for (hsize_t i = first; i < count; i += each) {
    char item[8] = "";
    const int64_t whole = value >= 9e18 ? INT64_MAX : value <= -9e18 ? INT64_MIN : (int64_t)value;
    if (H5Tget_class(type) == H5T_FLOAT)
      memcpy(item, &value, sizeof value);
    else
      memcpy(item, &whole, sizeof whole); /* little endian: the low bytes come first */
    memcpy(all + i * size, item, size);
  }
}

/* Values for one item, for some and for all; then lengths; then types. */
const char *cd_forge(const char *path, const char *name, int form)
{
  static const double values[] = {-1,   0,    1,     7,   255,     2147483647.0, -2147483648.0,
                                  1e19, 1e30, 1e300, NAN, INFINITY};
  enum { VALUES = sizeof values / sizeof values[0], PLACES = 9, LENGTHS = 5, TYPES = 3 };
  static char what[300];
  hid_t type;
  hsize_t count;
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  char *const all = load_dataset(f, name, &type, &count);
  if (form < VALUES * PLACES) {
    const int p = form % PLACES;
    const double value = values[form / PLACES];
    const hsize_t first = p < 7 ? (hsize_t)p : p == 7 ? count / 2 : 0, each = p < 8 ? count + 1 : 1;
    put_values(all, type, count, value, first, each);
    replace_dataset(f, name, type, count, all);
    snprintf(what, sizeof what, "%s: %g from item %d on, every %d", name, value, (int)first,
             (int)each);
  } else if (form < VALUES * PLACES + LENGTHS) {
    const hsize_t lengths[LENGTHS] = {0, 1, count > 0 ? count - 1 : 5, count + 1, 2 * count};
    const hsize_t now = lengths[form - VALUES * PLACES];
    replace_dataset(f, name, type, now, now <= 2 * count ? all : NULL);
    snprintf(what, sizeof what, "%s: %d instead of %d items", name, (int)now, (int)count);
  } else {
    const hid_t types[TYPES] = {H5T_IEEE_F64LE, H5T_STD_I64LE, H5T_STD_U8LE};
    replace_dataset(f, name, types[form - VALUES * PLACES - LENGTHS], count, NULL);
    snprintf(what, sizeof what, "%s: type %d", name, form - VALUES * PLACES - LENGTHS);
  }
  free(all);
  H5Tclose(type);
  H5Fclose(f);
  reseal_checkpoint(path);
  return what;
}
