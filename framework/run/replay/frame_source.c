/* frame_source.c - see frame_source.h. */
#include "run/replay/frame_source.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mesh/obj.h"

enum { MOST_FILES = 1000000 };

typedef struct numbered {
  char *name;
  int64_t number;
} numbered;

struct frame_source {
  char *path;
  h5motion *motion; /* NULL: a sequence of files */
  char *folder;
  numbered *files; /* [facts.num_frames], in order */
  h5motion_facts facts;
  int32_t *tris; /* [facts.num_tris][3] of the first file; NULL: a file of it has polygons */
};

/* ---- names of a sequence ---- */

/* Length of the name before its number, -1: it is no OBJ or PLY file with a number before the
 * ending. */
static int stem_length(const char *name, int64_t *number)
{
  const char *const dot = strrchr(name, '.');
  if (dot == NULL || (strcmp(dot, ".obj") != 0 && strcmp(dot, ".ply") != 0)) return -1;
  const char *first = dot;
  while (first > name && isdigit((unsigned char)first[-1])) --first;
  if (first == dot || dot - first > 15) return -1;
  *number = strtoll(first, NULL, 10);
  return (int)(first - name);
}

static int is_mesh_name(const char *name)
{
  const char *const dot = strrchr(name, '.');
  return dot != NULL && (strcmp(dot, ".obj") == 0 || strcmp(dot, ".ply") == 0);
}

static int compare_numbered(const void *a, const void *b)
{
  const numbered *const p = a, *const q = b;
  return p->number < q->number ? -1 : p->number > q->number;
}

static loom_status add_numbered_file(loom_err *err, frame_source *s, const char *name,
                                     int64_t number)
{
  const int64_t n = s->facts.num_frames;
  if (n == MOST_FILES)
    return err_set(err, LOOM_E_CONFIG, "%s: more than %d files; measure a part of them", s->path,
                   MOST_FILES);
  if ((n & (n - 1)) == 0) { /* powers of two */
    numbered *const more = realloc(s->files, (size_t)(n > 0 ? 2 * n : 1) * sizeof *more);
    if (more == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", s->path);
    s->files = more;
  }
  char *const copy = malloc(strlen(name) + 1);
  if (copy == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", s->path);
  strcpy(copy, name);
  s->files[n].name = copy;
  s->files[n].number = number;
  s->facts.num_frames = n + 1;
  return LOOM_OK;
}

/* Files of the sequence; `like` NULL: all OBJ and PLY files of the folder, which must be one. */
static loom_status list_sequence(loom_err *err, frame_source *s, DIR *d, const char *like)
{
  char first[NAME_MAX + 1] = "";
  int64_t number = 0;
  if (like != NULL) snprintf(first, sizeof first, "%s", like);
  int stem = like != NULL ? stem_length(first, &number) : -1;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    const int len = stem_length(e->d_name, &number);
    if (len < 0 && (like != NULL || !is_mesh_name(e->d_name))) continue;
    if (len < 0)
      return err_set(err, LOOM_E_CONFIG,
                     "%s/%s: has no number before its ending; frames are NAME0000.obj, "
                     "NAME0001.obj, ..., with no other meshes in the folder",
                     s->folder, e->d_name);
    if (first[0] == '\0') snprintf(first, sizeof first, "%s", e->d_name), stem = len;
    const int same = len == stem && strncmp(first, e->d_name, (size_t)stem) == 0 &&
                     strcmp(strrchr(first, '.'), strrchr(e->d_name, '.')) == 0;
    if (same)
      LOOM_TRY(add_numbered_file(err, s, e->d_name, number));
    else if (like == NULL)
      return err_set(err, LOOM_E_CONFIG,
                     "%s: holds %s and %s, which are of two sequences; name one file of the "
                     "sequence that is meant",
                     s->folder, first, e->d_name);
  }
  return LOOM_OK;
}

static loom_status check_file_numbers(loom_err *err, frame_source *s)
{
  numbered *const f = s->files;
  const int64_t n = s->facts.num_frames;
  if (n < 2)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: %lld OBJ or PLY files of a sequence; a step needs two frames, "
                   "NAME0000.obj, NAME0001.obj, ...",
                   s->path, (long long)n);
  qsort(f, (size_t)n, sizeof *f, compare_numbered);
  for (int64_t i = 1; i < n; ++i)
    if (f[i].number != f[i - 1].number + 1)
      return err_set(err, LOOM_E_CONFIG,
                     "%s: %s follows %s, and frames must be numbered without a gap, one for each "
                     "step; add the missing files, or number them anew",
                     s->folder, f[i].name, f[i - 1].name);
  return LOOM_OK;
}

/* The folder and, of a path to a file, its name. */
static loom_status open_sequence_folder(loom_err *err, frame_source *s, const char **like)
{
  struct stat st;
  *like = NULL;
  s->folder = malloc(strlen(s->path) + 2);
  if (s->folder == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", s->path);
  strcpy(s->folder, s->path);
  if (stat(s->path, &st) != 0)
    return err_set(err, LOOM_E_CONFIG, "%s: there is no file or folder of that name", s->path);
  if (S_ISDIR(st.st_mode)) return LOOM_OK;
  const char *const slash = strrchr(s->path, '/');
  int64_t number;
  *like = slash != NULL ? slash + 1 : s->path;
  if (stem_length(*like, &number) < 0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no HDF5 file, and no OBJ or PLY file with a number before its ending "
                   "(NAME0000.obj); ./loom measure also reads NPZ files",
                   s->path);
  if (slash == NULL)
    strcpy(s->folder, ".");
  else
    s->folder[slash - s->path + (slash == s->path)] = '\0';
  return LOOM_OK;
}

/* ---- meshes of a sequence ---- */

static loom_status read_sequence_mesh(const frame_source *s, loom_err *err, int64_t frame, mesh *m)
{
  char path[PATH_MAX];
  frame_source_place(s, frame, "x", path, sizeof path);
  *m = (mesh){0};
  const int ply = strcmp(strrchr(s->files[frame].name, '.'), ".ply") == 0;
  return ply ? ply_read(err, path, m) : obj_read(err, path, m);
}

static loom_status take_first_mesh(loom_err *err, frame_source *s)
{
  mesh m;
  LOOM_TRY(read_sequence_mesh(s, err, 0, &m));
  s->facts.num_verts = m.num_verts;
  s->facts.num_tris = m.num_split > 0 ? -1 : m.num_tris; /* polygons may be cut in other ways */
  if (m.num_split == 0) s->tris = m.tris, m.tris = NULL;
  mesh_free(&m);
  return LOOM_OK;
}

static loom_status open_sequence(loom_err *err, frame_source *s)
{
  const char *like;
  LOOM_TRY(open_sequence_folder(err, s, &like));
  DIR *const d = opendir(s->folder);
  if (d == NULL) return err_set(err, LOOM_E_CONFIG, "%s: cannot be listed", s->folder);
  s->facts = (h5motion_facts){.num_tris = -1, .dt = NAN};
  const loom_status st = list_sequence(err, s, d, like);
  closedir(d);
  LOOM_TRY(st);
  LOOM_TRY(check_file_numbers(err, s));
  return take_first_mesh(err, s);
}

static loom_status read_mesh_frame(const frame_source *s, loom_err *err, int64_t frame, double *x)
{
  mesh m;
  loom_status st = read_sequence_mesh(s, err, frame, &m);
  if (st == LOOM_OK && m.num_verts != s->facts.num_verts)
    st =
        err_set(err, LOOM_E_CONFIG,
                "%s/%s: has %d vertices, %s has %lld; all frames must be of one mesh", s->folder,
                s->files[frame].name, m.num_verts, s->files[0].name, (long long)s->facts.num_verts);
  if (st == LOOM_OK && s->tris != NULL &&
      (m.num_tris != s->facts.num_tris ||
       memcmp(m.tris, s->tris, (size_t)m.num_tris * 3 * sizeof *m.tris) != 0))
    st = err_set(err, LOOM_E_CONFIG,
                 "%s/%s: its faces are not those of %s; all frames must be of one mesh", s->folder,
                 s->files[frame].name, s->files[0].name);
  if (st == LOOM_OK) memcpy(x, m.x, 3 * (size_t)m.num_verts * sizeof *x);
  mesh_free(&m);
  return st;
}

/* ---- both ---- */

loom_status frame_source_open(loom_err *err, const char *path, frame_source **out)
{
  frame_source *const s = calloc(1, sizeof *s);
  *out = NULL;
  if (s != NULL) s->path = malloc(strlen(path) + 1);
  if (s == NULL || s->path == NULL) {
    free(s);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  }
  strcpy(s->path, path);
  const int hdf5 = h5motion_is_hdf5(path);
  const loom_status st = hdf5 ? h5motion_open(err, path, &s->motion) : open_sequence(err, s);
  if (st == LOOM_OK && hdf5) s->facts = *h5motion_facts_of(s->motion);
  if (st == LOOM_OK)
    *out = s;
  else
    frame_source_close(s);
  return st;
}

void frame_source_close(frame_source *s)
{
  if (s == NULL) return;
  h5motion_close(s->motion);
  for (int64_t i = 0; s->files != NULL && i < s->facts.num_frames; ++i) free(s->files[i].name);
  free(s->files);
  free(s->tris);
  free(s->folder);
  free(s->path);
  free(s);
}

const char *frame_source_path(const frame_source *s) { return s->path; }

const h5motion_facts *frame_source_facts(const frame_source *s) { return &s->facts; }

const char *frame_source_place(const frame_source *s, int64_t frame, const char *set, char *buf,
                               size_t len)
{
  if (s->motion != NULL)
    snprintf(buf, len, "%s: /%s, frame %lld", s->path, set, (long long)frame);
  else
    snprintf(buf, len, "%s/%s", s->folder, s->files[frame].name);
  return buf;
}

static loom_status refuse_not_finite(const frame_source *s, loom_err *err, int64_t frame,
                                     const char *set, const double *a)
{
  char place[PATH_MAX];
  for (int64_t i = 0; i < 3 * s->facts.num_verts; ++i)
    if (!isfinite(a[i]))
      return err_set(err, LOOM_E_CONFIG,
                     "%s: the %s of vertex %lld is not finite; leave out this frame and all after "
                     "it (-n %lld)",
                     frame_source_place(s, frame, set, place, sizeof place),
                     set[0] == 'x' ? "position" : "velocity", (long long)i / 3,
                     (long long)(frame > 0 ? frame - 1 : 0));
  return LOOM_OK;
}

loom_status frame_source_read(const frame_source *s, loom_err *err, int64_t frame, double *x,
                              double *v)
{
  if (s->motion == NULL)
    LOOM_TRY(read_mesh_frame(s, err, frame, x));
  else
    LOOM_TRY(h5motion_frame(s->motion, err, frame, x, v));
  LOOM_TRY(refuse_not_finite(s, err, frame, "x", x));
  return v != NULL && s->motion != NULL ? refuse_not_finite(s, err, frame, "v", v) : LOOM_OK;
}

loom_status frame_source_tris(const frame_source *s, loom_err *err, int32_t *tris)
{
  if (s->motion != NULL) return h5motion_tris(s->motion, err, tris);
  memcpy(tris, s->tris, 3 * (size_t)s->facts.num_tris * sizeof *tris);
  return LOOM_OK;
}

double frame_source_cpu(const frame_source *s, int64_t frame)
{
  return s->motion != NULL ? h5motion_cpu(s->motion, frame) : NAN;
}

const char *frame_source_text(frame_source *s, const char *name)
{
  return s->motion != NULL ? h5motion_text(s->motion, name) : "";
}
