/* reader.c - see reader.h.
 *
 * The child process writes a head, the arrays of loom_rig_file in the order of the struct, and the
 * animations; its parent takes no more than there is, and checks every number. */
#include "rig/reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/crash.h"
#include "core/guard.h"
#include "core/module.h"
#include "rig/format.h"
#include "rig/tracks.h"

static const module_kind kind = {
    .variable = "LOOM_RIG_READER",
    .folder = "readers",
    .file = "assimp.so",
    .symbol = "loom_rig_reader_query",
    .need = "bodies from files need the module that reads them",
    .remedy = "install Assimp (Debian: libassimp-dev) and build again",
};

/* Bodies of some 10^5 vertices with minutes of animation take a few seconds and some 100 MB; a
 * nesting of 1,000 nodes takes less than 2 MB of stack. */
static const guard_limits limits = {.cpu_s = 60,
                                    .wall_s = 600,
                                    .memory = INT64_C(4) << 30,
                                    .stack = INT64_C(64) << 20,
                                    .answer = INT64_C(2) << 30};

typedef struct head {
  char magic[8];
  int32_t status; /* of read() */
  int32_t num_joints, num_verts, num_tris, per, num_clips, left_out;
  int32_t num_nodes;
  char why[1024];
} head;

typedef struct clip_head {
  char name[64];
  int32_t num_tracks, morphs;
  double length;
} clip_head;

typedef struct track_head {
  int32_t node, part, interpolation, num_keys;
} track_head;

static const char magic[8] = {'l', 'o', 'o', 'm', 'r', 'i', 'g', '3'};

void rig_reader_free(loom_rig_file *f)
{
  for (int32_t k = 0; f->clip != NULL && k < f->num_clips; ++k)
    rig_tracks_free(f->clip[k].num_tracks, f->clip[k].track);
  free(f->clip);
  free(f->joint);
  free(f->node);
  free(f->x);
  free(f->tris);
  free(f->bone);
  free(f->weight);
  memset(f, 0, sizeof *f);
}

/* ---- the child ---- */

typedef struct job {
  const loom_rig_reader *reader;
  const char *path, *module;
  int format, surface;
} job;

static void write_array_items(FILE *out, const void *data, size_t count, size_t item)
{
  if (count > 0 && data != NULL) fwrite(data, item, count, out);
}

static void write_tracks(FILE *out, const loom_rig_clip *c)
{
  for (int32_t k = 0; c->track != NULL && k < c->num_tracks; ++k) {
    const loom_rig_track *const t = &c->track[k];
    const track_head h = {t->node, t->part, t->interpolation, t->num_keys};
    write_array_items(out, &h, 1, sizeof h);
    write_array_items(out, t->time, (size_t)t->num_keys, sizeof *t->time);
    write_array_items(out, t->value, (size_t)t->num_keys * (size_t)rig_track_width(t),
                      sizeof *t->value);
  }
}

static void write_rig_arrays(FILE *out, const loom_rig_file *f)
{
  const size_t joints = (size_t)f->num_joints, verts = (size_t)f->num_verts;
  write_array_items(out, f->joint, joints, sizeof *f->joint);
  write_array_items(out, f->node, (size_t)f->num_nodes, sizeof *f->node);
  write_array_items(out, f->x, 3 * verts, sizeof *f->x);
  write_array_items(out, f->tris, 3 * (size_t)f->num_tris, sizeof *f->tris);
  write_array_items(out, f->bone, verts * (size_t)f->per, sizeof *f->bone);
  write_array_items(out, f->weight, verts * (size_t)f->per, sizeof *f->weight);
  for (int32_t k = 0; k < f->num_clips; ++k) {
    const loom_rig_clip *const c = &f->clip[k];
    clip_head h = {.num_tracks = c->num_tracks, .morphs = c->morphs, .length = c->length};
    memcpy(h.name, c->name, sizeof h.name);
    write_array_items(out, &h, 1, sizeof h);
    write_tracks(out, c);
  }
}

static int read_it(void *arg, FILE *out)
{
  const job *const j = arg;
  loom_rig_file f = {0};
  head h = {0};
  crash_place place = {.plugin = j->module, .callback = j->surface ? "read_surface" : "read"};
  crash_enter(&place);
  h.status = (j->surface ? j->reader->read_surface : j->reader->read)(j->path, j->format, &f, h.why,
                                                                      sizeof h.why);
  crash_leave(&place);
  memcpy(h.magic, magic, sizeof magic);
  h.num_joints = f.num_joints;
  h.num_verts = f.num_verts;
  h.num_tris = f.num_tris;
  h.per = f.per;
  h.num_clips = f.num_clips;
  h.left_out = f.left_out;
  h.num_nodes = f.num_nodes;
  write_array_items(out, &h, 1, sizeof h);
  if (h.status == LOOM_OK) write_rig_arrays(out, &f);
  j->reader->release(&f);
  return ferror(out);
}

/* ---- the parent ---- */

typedef struct cursor {
  loom_err *err;
  const char *at;
  size_t left;
} cursor;

/* A copy of the next count items in *out; `count` comes from the child process. */
static loom_status copy_rig_array(cursor *c, int64_t count, size_t item, void *out)
{
  void *p = NULL;
  if (count < 0 || (uint64_t)count > c->left / item)
    return err_set(c->err, LOOM_E_IO, "its reader gave too little; the file is damaged");
  const size_t bytes = (size_t)count * item;
  p = malloc(bytes > 0 ? bytes : 1);
  memcpy(out, &p, sizeof p);
  if (p == NULL) return err_set(c->err, LOOM_E_NOMEM, "out of memory");
  if (bytes > 0) memcpy(p, c->at, bytes);
  c->at += bytes;
  c->left -= bytes;
  /* cppcheck-suppress memleak ; *out owns it */
  return LOOM_OK;
}

static loom_status take_track(cursor *c, loom_rig_track *to)
{
  track_head *h = NULL;
  LOOM_TRY(copy_rig_array(c, 1, sizeof *h, &h));
  *to = (loom_rig_track){h->node, h->part, h->interpolation, h->num_keys, NULL, NULL};
  free(h);
  LOOM_TRY(copy_rig_array(c, to->num_keys, sizeof *to->time, &to->time));
  return copy_rig_array(c, (int64_t)to->num_keys * rig_track_width(to), sizeof *to->value,
                        &to->value);
}

/* Room for `count` zeroed items, which have heads of `item` bytes in the rest of the data. */
static loom_status take_room_of(cursor *c, int32_t count, size_t item, size_t size, void *out)
{
  if (count < 0 || (size_t)count > c->left / item)
    return err_set(c->err, LOOM_E_IO, "its reader gave too few animations; the file is damaged");
  void *const p = calloc((size_t)count + 1, size);
  memcpy(out, &p, sizeof p);
  if (p == NULL) return err_set(c->err, LOOM_E_NOMEM, "out of memory");
  /* cppcheck-suppress memleak ; *out owns it */
  return LOOM_OK;
}

static loom_status take_clips(cursor *c, int32_t count, loom_rig_file *f)
{
  LOOM_TRY(take_room_of(c, count, sizeof(clip_head), sizeof *f->clip, &f->clip));
  for (int32_t k = 0; k < count; ++k) {
    loom_rig_clip *const to = &f->clip[k];
    clip_head *h = NULL;
    LOOM_TRY(copy_rig_array(c, 1, sizeof *h, &h));
    memcpy(to->name, h->name, sizeof to->name);
    const int32_t tracks = h->num_tracks;
    to->length = h->length;
    to->morphs = h->morphs;
    free(h);
    f->num_clips = k + 1;
    LOOM_TRY(take_room_of(c, tracks, sizeof(track_head), sizeof *to->track, &to->track));
    for (int32_t i = 0; i < tracks; ++i) {
      to->num_tracks = i + 1;
      LOOM_TRY(take_track(c, &to->track[i]));
    }
  }
  return LOOM_OK;
}

static loom_status take_file(cursor *c, const head *h, int surface, loom_rig_file *f)
{
  const int64_t verts = h->num_verts, rows = verts * h->per;
  f->num_joints = h->num_joints;
  f->num_verts = h->num_verts;
  f->num_tris = h->num_tris;
  f->per = h->per;
  f->left_out = h->left_out;
  f->num_nodes = h->num_nodes;
  LOOM_TRY(copy_rig_array(c, h->num_joints, sizeof *f->joint, &f->joint));
  LOOM_TRY(copy_rig_array(c, h->num_nodes, sizeof *f->node, &f->node));
  LOOM_TRY(copy_rig_array(c, 3 * verts, sizeof *f->x, &f->x));
  LOOM_TRY(copy_rig_array(c, 3 * (int64_t)h->num_tris, sizeof *f->tris, &f->tris));
  LOOM_TRY(copy_rig_array(c, rows, sizeof *f->bone, &f->bone));
  LOOM_TRY(copy_rig_array(c, rows, sizeof *f->weight, &f->weight));
  LOOM_TRY(take_clips(c, h->num_clips, f));
  return rig_reader_check(c->err, f, surface);
}

static loom_status unpack_rig_file(loom_err *err, const char *text, size_t len, int surface,
                                   loom_rig_file *out)
{
  head h;
  cursor c = {err, text + sizeof h, len - sizeof h};
  if (len < sizeof h || memcmp(text, magic, sizeof magic) != 0)
    return err_set(err, LOOM_E_IO, "its reader gave no answer; the file is damaged");
  memcpy(&h, text, sizeof h);
  h.why[sizeof h.why - 1] = '\0';
  if (h.status != LOOM_OK)
    return err_set(err,
                   h.status == LOOM_E_NOMEM || h.status == LOOM_E_CONFIG ? h.status : LOOM_E_IO,
                   "%s", h.why);
  return take_file(&c, &h, surface, out);
}

static loom_status find_reader(loom_err *err, char *file, job *j)
{
  loom_rig_reader_query_fn query = NULL;
  LOOM_TRY(module_open(err, &kind, file, &query));
  const loom_rig_reader *const reader = query(LOOM_RIG_READER_ABI);
  if (reader == NULL || reader->struct_size < sizeof *reader ||
      reader->abi != LOOM_RIG_READER_ABI || reader->read == NULL || reader->read_surface == NULL ||
      reader->release == NULL)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no module of loom/rig_reader.h, or one for another version", file);
  j->reader = reader;
  j->module = file;
  return LOOM_OK;
}

static loom_status call_reader(loom_err *err, const char *path, int surface, loom_rig_file *out)
{
  char file[PATH_MAX], who[128], *text = NULL;
  size_t len = 0;
  job j = {.path = path, .surface = surface};
  memset(out, 0, sizeof *out);
  LOOM_TRY(rig_format(err, path, surface, &j.format));
  LOOM_TRY(find_reader(err, file, &j));
  snprintf(who, sizeof who, "the reader '%.60s'", j.reader->name != NULL ? j.reader->name : "");
  loom_status s = guard_call(err, &limits, who, read_it, &j, &text, &len);
  if (s == LOOM_OK) s = unpack_rig_file(err, text, len, surface, out);
  free(text);
  if (s != LOOM_OK) {
    rig_reader_free(out);
    err_prefix(err, "%s", path);
  }
  return s;
}

loom_status rig_reader_read(loom_err *err, const char *path, loom_rig_file *out)
{
  return call_reader(err, path, 0, out);
}

loom_status rig_reader_surface(loom_err *err, const char *path, loom_rig_file *out)
{
  return call_reader(err, path, 1, out);
}
