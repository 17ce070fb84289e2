/* assimp.c - skinned, animated bodies (glTF, Collada, FBX) and surfaces (these, STL, OFF) by the
 * Open Asset Import Library. */
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "reader.h"

/* By LOOM_RIG_GLTF, ...: the suffix by which Assimp chooses an importer, and a word of its name. */
static const struct {
  const char *suffix, *importer;
} formats[] = {{"gltf", "glTF"}, {"glb", "glTF"}, {"dae", "Collada"},
               {"fbx", "FBX"},   {"stl", "STL"},  {"off", "OFF"}};

loom_status reader_fail(reader *r, loom_status s, const char *what)
{
  snprintf(r->why, r->len, "%s", what);
  return s;
}

loom_status reader_room(reader *r, size_t count, size_t item, void *out)
{
  void *const p = calloc(count > 0 ? count : 1, item);
  memcpy(out, &p, sizeof p);
  if (p == NULL) return reader_fail(r, LOOM_E_NOMEM, "out of memory");
  /* cppcheck-suppress memleak ; *out has it */
  return LOOM_OK;
}

static void assimp_release(loom_rig_file *f)
{
  for (int32_t k = 0; f->clip != NULL && k < f->num_clips; ++k) {
    loom_rig_clip *const c = &f->clip[k];
    for (int32_t i = 0; c->track != NULL && i < c->num_tracks; ++i) {
      free(c->track[i].time);
      free(c->track[i].value);
    }
    free(c->track);
  }
  free(f->clip);
  free(f->joint);
  free(f->node);
  free(f->x);
  free(f->tris);
  free(f->bone);
  free(f->weight);
  memset(f, 0, sizeof *f);
}

/* Assimp takes another importer where that of the suffix gives up. */
static loom_status check_importer(reader *r, int format)
{
  const struct aiMetadata *const m = r->s->mMetaData;
  for (unsigned k = 0; m != NULL && k < m->mNumProperties; ++k) {
    if (strcmp(m->mKeys[k].data, "SourceAsset_Format") != 0 || m->mValues[k].mType != AI_AISTRING)
      continue;
    const struct aiString *const name = m->mValues[k].mData;
    if (strstr(name->data, formats[format].importer) != NULL) continue;
    snprintf(r->why, r->len, "is taken for a file of '%.60s'; export it as glTF, Collada or FBX",
             name->data);
    return LOOM_E_CONFIG;
  }
  return LOOM_OK;
}

static loom_status check_refused(reader *r, const files *f)
{
  if (f->refused[0] == '\0') return LOOM_OK;
  snprintf(r->why, r->len,
           "names the file '%.80s', which %s; only regular files in the folder of the model are "
           "read",
           f->refused, f->why);
  return LOOM_E_CONFIG;
}

static loom_status import_scene(reader *r, files *f, int format)
{
  if (format == LOOM_RIG_GLTF || format == LOOM_RIG_GLB) {
    const loom_status s = reader_gltf_mend(r);
    LOOM_TRY(check_refused(r, f));
    LOOM_TRY(s);
  }
  if (format == LOOM_RIG_STL) files_lower(f);
  r->s = aiImportFileEx(f->shown, aiProcess_Triangulate, &f->io);
  LOOM_TRY(check_refused(r, f));
  if (r->s == NULL) return reader_fail(r, LOOM_E_IO, aiGetErrorString());
  if (r->s->mRootNode == NULL) return reader_fail(r, LOOM_E_IO, "has no nodes");
  return check_importer(r, format);
}

static loom_status read_scene(reader *r)
{
  LOOM_TRY(reader_joints(r));
  LOOM_TRY(reader_skin(r));
  return reader_clips(r);
}

/* Keeps the first error of Assimp in user, char [WHY]. */
enum { WHY = 256 };
static void keep_error(const char *message, char *user)
{
  const char *const text = strstr(message, "Error");
  if (text != NULL && user[0] == '\0')
    snprintf(user, WHY, "%.*s", (int)strcspn(text, "\r\n"), text);
}

/* The readers of STL and OFF go on after errors, with another vertex in the place of one that is
 * not there. */
static loom_status import_strictly(reader *r, files *f, int format)
{
  char error[WHY] = "";
  const struct aiLogStream log = {.callback = keep_error, .user = error};
  if (format < LOOM_RIG_STL) return import_scene(r, f, format);
  aiAttachLogStream(&log);
  const loom_status s = import_scene(r, f, format);
  aiDetachLogStream(&log);
  if (s != LOOM_OK || error[0] == '\0') return s;
  return reader_fail(r, LOOM_E_CONFIG, error);
}

static loom_status read_file(const char *path, int format, loom_status (*take)(reader *r),
                             loom_rig_file *out, char *why, size_t len)
{
  files f;
  reader r = {.format = format, .files = &f, .out = out, .why = why, .len = len};
  memset(out, 0, sizeof *out);
  if (format < 0 || format > LOOM_RIG_OFF) return reader_fail(&r, LOOM_E_CONFIG, "unknown format");
  if (!files_open(&f, path, formats[format].suffix))
    return reader_fail(&r, LOOM_E_IO, "its folder cannot be found, or its path is too long");
  loom_status s = import_strictly(&r, &f, format);
  if (s == LOOM_OK) s = take(&r);
  free(r.node);
  free(r.bind);
  names_free(&r.joints);
  if (r.s != NULL) aiReleaseImport(r.s);
  files_close(&f);
  if (s != LOOM_OK) assimp_release(out);
  return s;
}

static loom_status assimp_read(const char *path, int format, loom_rig_file *out, char *why,
                               size_t len)
{
  return read_file(path, format, read_scene, out, why, len);
}

static loom_status assimp_read_surface(const char *path, int format, loom_rig_file *out, char *why,
                                       size_t len)
{
  return read_file(path, format, reader_surface, out, why, len);
}

const loom_rig_reader *loom_rig_reader_query(uint32_t abi)
{
  static const loom_rig_reader table = {
      .struct_size = sizeof table,
      .abi = LOOM_RIG_READER_ABI,
      .name = "assimp",
      .version = "5",
      .license = "BSD-3-Clause",
      .summary = "skinned, animated bodies of glTF, Collada and FBX, and surfaces",
      .read = assimp_read,
      .read_surface = assimp_read_surface,
      .release = assimp_release,
  };
  return abi == LOOM_RIG_READER_ABI ? &table : NULL;
}
