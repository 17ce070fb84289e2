/* format.c - see format.h. */
#define _GNU_SOURCE /* memmem */
#include "rig/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/read_file.h"
#include "loom/rig_reader.h"

/* Bytes at the beginning that tell a format. */
enum { HEAD = 4096 };

/* Formats with bodies or joints that other programs read, so that the message can name them. */
static const struct {
  const char *begin, *name;
} others[] = {{"ASSIMP.binary", "Assimp's binary format"},
              {"HIERARCHY", "a motion of BVH"},
              {"MD5Version", "MD5"},
              {"version 1", "SMD of Source"},
              {"$modelname", "a model script of Source"},
              {"xof ", "DirectX .x"},
              {"BLENDER", "Blender's own format"},
              {"IDST", "MDL"},
              {"IDPO", "MDL"},
              {"MS3D000000", "MilkShape 3D"},
              {"#usda", "USD (./loom convert makes OBJ files of it)"},
              {"PXR-USDC", "USD (./loom convert makes OBJ files of it)"},
              {"PK\003\004", "a ZIP archive"},
              {"Ogawa", "Alembic"},
              {"\x89HDF", "HDF5 (as older Alembic is)"},
              {"POINTCACHE2", "a point cache (PC2)"},
              {"\x93NUMPY", "an array of NumPy"},
              {"\x1f\x8b", "compressed by gzip"},
              {"version https://git-lfs", "a pointer of Git LFS (git lfs pull fetches the file)"},
              {"ISO-10303-21", "STEP of a CAD program"},
              {"#VRML", "VRML"},
              {"#X3D", "X3D"},
              {"MeshVersionFormatted", "MEDIT"},
              {"FORM", "LightWave's or another IFF format"},
              {"MM", "3DS"},
              {"# vtk", "legacy VTK (its name has to end in .vtk)"},
              {"$MeshFormat", "a file of Gmsh (a solid)"},
              {"<VTKFile", "VTK XML"},
              {"ply", "PLY"},
              {"# ", "OBJ or another text"},
              {"v ", "OBJ"},
              {"<?xml", "XML of another kind than Collada"},
              {"<mesh", "XML of OGRE"}};

static int has_format_magic(const char *head, size_t len, const char *with)
{
  return len >= strlen(with) && memcmp(head, with, strlen(with)) == 0;
}

/* The object of a JSON text has a member "asset", which every glTF has (glTF 2.0, 5.17). */
static int is_gltf(FILE *f, const char *head, size_t len)
{
  static const char word[] = "\"asset\"";
  char block[HEAD + sizeof word];
  size_t kept = 0, n;
  if (len == 0 || head[0] != '{' || fseek(f, 0, SEEK_SET) != 0) return 0;
  while ((n = fread(block + kept, 1, HEAD, f)) > 0) {
    n += kept;
    if (memmem(block, n, word, sizeof word - 1) != NULL) return 1;
    kept = n < sizeof word - 1 ? n : sizeof word - 2;
    memmove(block, block + n - kept, kept);
  }
  return 0;
}

static int detect_rig_format(FILE *f, const char *head, size_t len)
{
  static const char fbx[] = "Kaydara FBX Binary  "; /* and a NUL */
  size_t at = has_format_magic(head, len, "\xef\xbb\xbf") ? 3 : 0;
  while (at < len && strchr(" \t\r\n", head[at]) != NULL && head[at] != '\0') ++at;
  if (has_format_magic(head, len, "glTF")) return LOOM_RIG_GLB;
  if (len >= sizeof fbx && memcmp(head, fbx, sizeof fbx) == 0) return LOOM_RIG_FBX;
  if (has_format_magic(head + at, len - at, "; FBX ")) return LOOM_RIG_FBX;
  if (at < len && head[at] == '<' && memmem(head, len, "<COLLADA", 8) != NULL)
    return LOOM_RIG_COLLADA;
  return is_gltf(f, head + at, len - at) ? LOOM_RIG_GLTF : -1;
}

/* Bytes of a binary STL: a head of 80, a count, 50 for each triangle. */
static int is_binary_stl(const char *head, size_t len, int64_t bytes)
{
  uint32_t count = 0;
  if (len < 84) return 0;
  for (int k = 3; k >= 0; --k) count = count << 8 | (unsigned char)head[80 + k];
  return count > 0 && bytes == 84 + 50 * (int64_t)count;
}

/* A file that ends as an STL by its name, and is no text. */
static int may_be_cut_stl(const char *path, const char *head, size_t len)
{
  const size_t n = strlen(path);
  return n > 4 && strcasecmp(path + n - 4, ".stl") == 0 && len >= 84 &&
         memchr(head + 80, '\0', len - 80) != NULL;
}

/* The word is in the text, in capitals or small letters. */
static int has_word(const char *text, size_t len, const char *word)
{
  const size_t n = strlen(word);
  for (size_t k = 0; k + n <= len; ++k)
    if (strncasecmp(text + k, word, n) == 0) return 1;
  return 0;
}

static int detect_surface_format(const char *head, size_t len, int64_t bytes)
{
  static const char *const off[] = {"OFF", "COFF", "NOFF", "CNOFF", "STOFF"};
  for (size_t k = 0; k < sizeof off / sizeof *off; ++k)
    if (has_format_magic(head, len, off[k])) return LOOM_RIG_OFF;
  if (is_binary_stl(head, len, bytes)) return LOOM_RIG_STL;
  return len > 5 && strncasecmp(head, "solid", 5) == 0 && has_word(head, len, "facet")
             ? LOOM_RIG_STL
             : -1;
}

loom_status rig_format(loom_err *err, const char *path, int surface, int *format)
{
  char head[HEAD];
  int64_t bytes;
  const char *why, *name = NULL;
  FILE *const f = read_file_open(path, &bytes, &why);
  if (f == NULL)
    return err_set(err, access(path, F_OK) == 0 ? LOOM_E_IO : LOOM_E_CONFIG,
                   "%s: cannot be opened: %s; check the path", path, why);
  const size_t len = fread(head, 1, sizeof head, f);
  const int failed = ferror(f);
  *format = detect_rig_format(f, head, len);
  fclose(f);
  if (*format < 0 && surface) *format = detect_surface_format(head, len, bytes);
  if (failed) return err_set(err, LOOM_E_IO, "%s: cannot be read: %s", path, strerror(errno));
  if (*format >= 0) return LOOM_OK;
  if (surface && may_be_cut_stl(path, head, len))
    return err_set(err, LOOM_E_CONFIG,
                   "%s: the bytes of this binary STL, %lld, are not those of its triangles, 84 and "
                   "50 for each: it is cut off or damaged; copy or export it again",
                   path, (long long)bytes);
  for (size_t k = 0; k < sizeof others / sizeof *others && name == NULL; ++k)
    if (has_format_magic(head, len, others[k].begin)) name = others[k].name;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: is %s, not glTF (.gltf, .glb), Collada (.dae)%s by its contents; export the "
                 "%s as one of these",
                 path, name != NULL ? name : "of no format that is known here",
                 surface ? ", FBX, STL or OFF" : " or FBX", surface ? "surface" : "body");
}
