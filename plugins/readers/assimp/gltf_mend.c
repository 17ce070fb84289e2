/* gltf_mend.c - rewrites the parts of a glTF file that its specification allows and Assimp 5.2
 * misreads: weights and positions that are no floats, morph targets that are on at rest, skins
 * without matrices, joints of two types, nodes of one name, a mesh on two skins.  The numbers go
 * into one more buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

enum { FLOATS = 5126, SHORTS = 5123 };

typedef struct mending {
  reader *r;
  gltf g;
  unsigned char *data; /* the new buffer */
  size_t len, room;
  int changed;
} mending;

static loom_status refuse_memory(reader *r)
{
  return reader_fail(r, LOOM_E_NOMEM, "out of memory");
}

/* ---- the new buffer ---- */

static loom_status add_bytes(mending *w, const void *from, size_t bytes)
{
  if (bytes > w->room - w->len) {
    const size_t room = 2 * (w->len + bytes);
    void *const p = realloc(w->data, room);
    if (p == NULL) return refuse_memory(w->r);
    w->data = p;
    w->room = room;
  }
  memcpy(w->data + w->len, from, bytes);
  w->len += bytes;
  return LOOM_OK;
}

static json_t *file_list(json_t *root, const char *key)
{
  json_t *const list = json_object_get(root, key);
  if (json_is_array(list)) return list;
  json_object_set_new(root, key, json_array());
  return json_object_get(root, key);
}

/* An accessor of `bytes` at the end of the new buffer; *id: its number. */
static loom_status add_accessor(mending *w, size_t bytes, int component, const char *type,
                                int64_t count, json_int_t *id)
{
  json_t *const views = file_list(w->g.root, "bufferViews"), *const list =
                                                                 file_list(w->g.root, "accessors");
  const json_int_t buffer = (json_int_t)w->g.num_buffers;
  *id = (json_int_t)json_array_size(list);
  const int bad =
      json_array_append_new(views, json_pack("{s:I,s:I,s:I}", "buffer", buffer, "byteOffset",
                                             (json_int_t)(w->len - bytes), "byteLength",
                                             (json_int_t)bytes)) |
      json_array_append_new(list, json_pack("{s:I,s:i,s:I,s:s}", "bufferView",
                                            (json_int_t)json_array_size(views) - 1, "componentType",
                                            component, "count", (json_int_t)count, "type", type));
  w->changed = 1;
  return bad ? refuse_memory(w->r) : LOOM_OK;
}

/* Writes an accessor of numbers anew, little-endian, as floats or shorts. */
static loom_status add_numbers(mending *w, const double *v, int width, int64_t count, int component,
                               json_int_t *id)
{
  const size_t size = component == FLOATS ? 4 : 2;
  for (int64_t k = 0; k < width * count; ++k) {
    const float f = (float)v[k];
    uint32_t u = 0;
    if (component == FLOATS)
      memcpy(&u, &f, sizeof u);
    else
      u = v[k] >= 0 && v[k] < 65536 ? (uint32_t)v[k] : 65535U;
    const unsigned char b[4] = {(unsigned char)u, (unsigned char)(u >> 8), (unsigned char)(u >> 16),
                                (unsigned char)(u >> 24)};
    LOOM_TRY(add_bytes(w, b, size));
  }
  return add_accessor(w, size * (size_t)width * (size_t)count, component,
                      width == 3 ? "VEC3" : "VEC4", count, id);
}

/* ---- attributes of meshes ---- */

static int64_t component_of(const mending *w, const json_t *attributes, const char *name)
{
  const json_t *const list = json_object_get(w->g.root, "accessors");
  const int64_t id = gltf_count(attributes, name, -1);
  return id >= 0 ? gltf_count(json_array_get(list, (size_t)id), "componentType", -1) : -1;
}

static loom_status rewrite_attribute(mending *w, json_t *attributes, const char *name, int width,
                                     int component)
{
  double *v = NULL;
  int64_t count;
  json_int_t id = 0;
  loom_status s = gltf_read(w->r, &w->g, gltf_count(attributes, name, -1), width, &v, &count);
  if (s == LOOM_OK) s = add_numbers(w, v, width, count, component, &id);
  free(v);
  if (s != LOOM_OK) return s;
  return json_object_set_new(attributes, name, json_integer(id)) == 0 ? LOOM_OK
                                                                      : refuse_memory(w->r);
}

static loom_status mend_primitive(mending *w, json_t *attributes)
{
  const int64_t positions = component_of(w, attributes, "POSITION");
  const int64_t first = component_of(w, attributes, "JOINTS_0");
  int mixed = 0;
  char name[32];
  if (positions >= 0 && positions != FLOATS)
    LOOM_TRY(rewrite_attribute(w, attributes, "POSITION", 3, FLOATS));
  for (int set = 0; set < 16; ++set) {
    snprintf(name, sizeof name, "WEIGHTS_%d", set);
    const int64_t weights = component_of(w, attributes, name);
    if (weights >= 0 && weights != FLOATS)
      LOOM_TRY(rewrite_attribute(w, attributes, name, 4, FLOATS));
    snprintf(name, sizeof name, "JOINTS_%d", set);
    const int64_t joints = component_of(w, attributes, name);
    mixed |= joints >= 0 && joints != first;
  }
  for (int set = 0; set < 16 && mixed; ++set) {
    snprintf(name, sizeof name, "JOINTS_%d", set);
    if (component_of(w, attributes, name) >= 0)
      LOOM_TRY(rewrite_attribute(w, attributes, name, 4, SHORTS));
  }
  return LOOM_OK;
}

static loom_status mend_meshes(mending *w)
{
  const json_t *const meshes = json_object_get(w->g.root, "meshes");
  for (size_t m = 0; m < json_array_size(meshes); ++m) {
    const json_t *const list = json_object_get(json_array_get(meshes, m), "primitives");
    for (size_t p = 0; p < json_array_size(list); ++p)
      LOOM_TRY(mend_primitive(w, json_object_get(json_array_get(list, p), "attributes")));
  }
  return LOOM_OK;
}

/* ---- morph targets (glTF 2.0, 3.7.2.2) ---- */

static loom_status add_target(mending *w, const json_t *target, double weight, int64_t count,
                              double *x)
{
  const int64_t id = gltf_count(target, "POSITION", -1);
  double *shift = NULL;
  int64_t have;
  if (id < 0 || weight == 0) return LOOM_OK; /* of normals alone */
  loom_status s = gltf_read(w->r, &w->g, id, 3, &shift, &have);
  if (s == LOOM_OK && have != count)
    s = reader_fail(w->r, LOOM_E_CONFIG,
                    "a morph target has another number of vertices than its mesh; the file is "
                    "damaged");
  for (int64_t k = 0; k < 3 * count && s == LOOM_OK; ++k) x[k] += weight * shift[k];
  free(shift);
  return s;
}

/* Adds the targets to the positions. */
static loom_status morph_primitive(mending *w, json_t *primitive, const json_t *weights)
{
  json_t *const attributes = json_object_get(primitive, "attributes");
  const json_t *const targets = json_object_get(primitive, "targets");
  double *x = NULL;
  int64_t count;
  json_int_t id = 0;
  if (json_array_size(targets) == 0) return LOOM_OK;
  loom_status s = gltf_read(w->r, &w->g, gltf_count(attributes, "POSITION", -1), 3, &x, &count);
  for (size_t k = 0; k < json_array_size(targets) && s == LOOM_OK; ++k)
    s = add_target(w, json_array_get(targets, k), json_number_value(json_array_get(weights, k)),
                   count, x);
  if (s == LOOM_OK) s = add_numbers(w, x, 3, count, FLOATS, &id);
  free(x);
  LOOM_TRY(s);
  (void)json_object_del(primitive, "targets");
  return json_object_set_new(attributes, "POSITION", json_integer(id)) == 0 ? LOOM_OK
                                                                            : refuse_memory(w->r);
}

static int is_any_weight_on(const json_t *weights)
{
  for (size_t k = 0; k < json_array_size(weights); ++k)
    if (json_number_value(json_array_get(weights, k)) != 0) return 1;
  return 0;
}

/* users [num]: nodes that show each mesh as it is; one of several gets a mesh of its own. */
static loom_status morph_node(mending *w, json_t *node, int64_t *users, size_t num)
{
  json_t *const meshes = json_object_get(w->g.root, "meshes");
  const int64_t id = gltf_count(node, "mesh", -1);
  if (id < 0 || (size_t)id >= num) return LOOM_OK;
  json_t *mesh = json_array_get(meshes, (size_t)id);
  const json_t *const own = json_object_get(node, "weights");
  const json_t *const weights = own != NULL ? own : json_object_get(mesh, "weights");
  if (!is_any_weight_on(weights)) return LOOM_OK;
  if (users[id] > 1) {
    mesh = json_deep_copy(mesh);
    if (mesh == NULL || json_array_append_new(meshes, mesh) ||
        json_object_set_new(node, "mesh", json_integer((json_int_t)json_array_size(meshes) - 1)))
      return refuse_memory(w->r);
    --users[id];
  }
  const json_t *const list = json_object_get(mesh, "primitives");
  for (size_t p = 0; p < json_array_size(list); ++p)
    LOOM_TRY(morph_primitive(w, json_array_get(list, p), weights));
  return LOOM_OK;
}

static loom_status mend_morphs(mending *w)
{
  const json_t *const nodes = json_object_get(w->g.root, "nodes");
  const size_t num = json_array_size(json_object_get(w->g.root, "meshes"));
  int64_t *users = NULL;
  loom_status s = reader_room(w->r, num, sizeof *users, &users);
  for (size_t n = 0; n < json_array_size(nodes) && s == LOOM_OK; ++n) {
    const int64_t id = gltf_count(json_array_get(nodes, n), "mesh", -1);
    if (id >= 0 && (size_t)id < num) ++users[id];
  }
  for (size_t n = 0; n < json_array_size(nodes) && s == LOOM_OK; ++n)
    s = morph_node(w, json_array_get(nodes, n), users, num);
  free(users);
  return s;
}

/* ---- skins and nodes ---- */

/* Without matrices all of them are 1 (glTF 2.0, 5.28). */
static loom_status mend_skin(mending *w, json_t *skin)
{
  const float one[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const size_t joints = json_array_size(json_object_get(skin, "joints"));
  json_int_t id = 0;
  if (!json_is_object(skin) || joints == 0) return LOOM_OK;
  if (json_object_get(skin, "inverseBindMatrices") != NULL) return LOOM_OK;
  for (size_t k = 0; k < joints; ++k) LOOM_TRY(add_bytes(w, one, sizeof one));
  LOOM_TRY(add_accessor(w, joints * sizeof one, FLOATS, "MAT4", (int64_t)joints, &id));
  return json_object_set_new(skin, "inverseBindMatrices", json_integer(id)) == 0
             ? LOOM_OK
             : refuse_memory(w->r);
}

/* Assimp tells joints by their names. */
static loom_status mend_name(mending *w, json_t *node, json_t *taken)
{
  const char *const name = json_string_value(json_object_get(node, "name"));
  char other[256];
  if (name == NULL) return LOOM_OK;
  int bad = 0;
  if (json_object_get(taken, name) == NULL) {
    bad = json_object_set_new(taken, name, json_integer(1));
    return bad ? refuse_memory(w->r) : LOOM_OK;
  }
  json_int_t number = json_integer_value(json_object_get(taken, name));
  do snprintf(other, sizeof other, "%.200s_%lld", name, (long long)++number);
  while (json_object_get(taken, other) != NULL);
  bad = json_object_set_new(taken, name, json_integer(number)) |
        json_object_set_new(taken, other, json_integer(1)) |
        json_object_set_new(node, "name", json_string(other));
  w->changed = 1;
  return bad ? refuse_memory(w->r) : LOOM_OK;
}

/* skin_of [meshes]: the skin that Assimp puts on the mesh, -1: none yet. */
static loom_status mend_node_skin(mending *w, json_t *node, json_int_t *skin_of, size_t num)
{
  json_t *const meshes = json_object_get(w->g.root, "meshes");
  const int64_t mesh = gltf_count(node, "mesh", -1), skin = gltf_count(node, "skin", -1);
  if (mesh < 0 || (size_t)mesh >= num || skin < 0) return LOOM_OK;
  if (skin_of[mesh] < 0) skin_of[mesh] = skin;
  if (skin_of[mesh] == skin) return LOOM_OK;
  json_t *const copy = json_deep_copy(json_array_get(meshes, (size_t)mesh));
  const int bad =
      copy == NULL || json_array_append_new(meshes, copy) ||
      json_object_set_new(node, "mesh", json_integer((json_int_t)json_array_size(meshes) - 1));
  w->changed = 1;
  return bad ? refuse_memory(w->r) : LOOM_OK;
}

static loom_status mend_nodes(mending *w, json_int_t *skin_of, size_t num, json_t *taken)
{
  const json_t *const nodes = json_object_get(w->g.root, "nodes");
  for (size_t n = 0; n < json_array_size(nodes); ++n) {
    json_t *const node = json_array_get(nodes, n);
    if (!json_is_object(node)) continue;
    LOOM_TRY(mend_name(w, node, taken));
    LOOM_TRY(mend_node_skin(w, node, skin_of, num));
  }
  return LOOM_OK;
}

static loom_status mend_skins(mending *w)
{
  const json_t *const skins = json_object_get(w->g.root, "skins");
  const size_t num = json_array_size(json_object_get(w->g.root, "meshes"));
  json_int_t *skin_of = NULL;
  LOOM_TRY(reader_room(w->r, num, sizeof *skin_of, &skin_of));
  json_t *const taken = json_object();
  loom_status s = taken != NULL ? LOOM_OK : refuse_memory(w->r);
  for (size_t m = 0; m < num; ++m) skin_of[m] = -1;
  if (s == LOOM_OK) s = mend_nodes(w, skin_of, num, taken);
  for (size_t k = 0; k < json_array_size(skins) && s == LOOM_OK; ++k)
    s = mend_skin(w, json_array_get(skins, k));
  json_decref(taken);
  free(skin_of);
  return s;
}

/* ---- the text ---- */

/* Without effect on the shape, or read: beginnings of names. */
static int is_harmless(const char *name)
{
  static const char *const begins[] = {"KHR_materials_",
                                       "KHR_texture_",
                                       "EXT_texture_",
                                       "MSFT_texture_",
                                       "MSFT_packing",
                                       "KHR_lights_",
                                       "EXT_lights_",
                                       "KHR_xmp",
                                       "KHR_mesh_quantization",
                                       "KHR_audio",
                                       "VRM",
                                       "EXT_structural_metadata",
                                       "EXT_mesh_features",
                                       "CESIUM_primitive_outline"};
  for (size_t k = 0; k < sizeof begins / sizeof *begins; ++k)
    if (strncmp(name, begins[k], strlen(begins[k])) == 0) return 1;
  return 0;
}

/* Extensions without which a program cannot read the file (glTF 2.0, 3.12), and the one that
 * repeats nodes. */
static loom_status refuse_extensions(reader *r, const json_t *root)
{
  static const char *const packed[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression"};
  static const char *const lists[] = {"extensionsRequired", "extensionsUsed"};
  for (size_t of = 0; of < 2; ++of) {
    const json_t *const list = json_object_get(root, lists[of]);
    for (size_t k = 0; k < json_array_size(list); ++k) {
      const char *const name = json_string_value(json_array_get(list, k));
      const int repeats = name != NULL && strcmp(name, "EXT_mesh_gpu_instancing") == 0;
      if (name == NULL || (of == 1 && !repeats) || is_harmless(name)) continue;
      const int pressed = strcmp(name, packed[0]) == 0 || strcmp(name, packed[1]) == 0;
      snprintf(r->why, r->len,
               pressed   ? "its meshes are compressed (%.80s); export it again without"
               : repeats ? "its nodes are repeated by %.80s; export it with a node for each copy"
                         : "it needs the extension '%.80s', which is not read; export it without",
               name);
      return LOOM_E_CONFIG;
    }
  }
  return LOOM_OK;
}

/* The new buffer as an address of its own. */
static loom_status put_buffer(mending *w)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const char head[] = "data:application/octet-stream;base64,";
  char *text = NULL;
  if (w->len == 0) return LOOM_OK;
  LOOM_TRY(reader_room(w->r, sizeof head + (w->len + 2) / 3 * 4, 1, &text));
  char *to = text + snprintf(text, sizeof head, "%s", head);
  for (size_t k = 0; k < w->len; k += 3) {
    const size_t have = w->len - k;
    const unsigned u = (unsigned)w->data[k] << 16 |
                       (have > 1 ? (unsigned)w->data[k + 1] << 8 : 0U) |
                       (have > 2 ? (unsigned)w->data[k + 2] : 0U);
    for (size_t c = 0; c < 4; ++c)
      *to++ = (char)(c <= have ? digits[u >> (18 - 6 * c) & 63U] : '=');
  }
  const int bad =
      json_array_append_new(file_list(w->g.root, "buffers"),
                            json_pack("{s:I,s:s}", "byteLength", (json_int_t)w->len, "uri", text));
  free(text);
  return bad ? refuse_memory(w->r) : LOOM_OK;
}

static void put_u32(unsigned char *to, size_t v)
{
  for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(v >> 8 * k);
}

/* The file as Assimp shall see it: the text, of a GLB in its first chunk. */
static loom_status put_file(mending *w, const char *json)
{
  const size_t len = strlen(json), text = (len + 3) / 4 * 4, bin = (w->g.bin.len + 3) / 4 * 4;
  const int glb = w->r->format == LOOM_RIG_GLB;
  const size_t all = glb ? 20 + text + (bin > 0 ? 8 + bin : 0) : len;
  unsigned char *out = NULL;
  LOOM_TRY(reader_room(w->r, all, 1, &out));
  memset(out, ' ', glb ? 20 + text : len);
  memcpy(out + (glb ? 20 : 0), json, len); /* NOLINT: a file's text has no null behind it */
  if (glb) {
    put_u32(out, 0x46546c67U); /* "glTF" */
    put_u32(out + 4, 2);       /* version */
    put_u32(out + 8, all);
    put_u32(out + 12, text);
    put_u32(out + 16, 0x4e4f534aU); /* "JSON" */
  }
  if (glb && bin > 0) {
    put_u32(out + 20 + text, bin);
    put_u32(out + 24 + text, 0x004e4942U); /* "BIN" and a null */
    memcpy(out + 28 + text, w->g.bin.data, w->g.bin.len);
  }
  w->r->files->text = (char *)out;
  w->r->files->len = all;
  return LOOM_OK;
}

loom_status reader_gltf_mend(reader *r)
{
  mending w = {.r = r};
  loom_status s = gltf_open(r, &w.g);
  if (s != LOOM_OK && s != LOOM_E_NOMEM) { /* Assimp tells the fault of a text that is no JSON */
    gltf_close(&w.g);
    return LOOM_OK;
  }
  if (s == LOOM_OK) s = refuse_extensions(r, w.g.root);
  if (s == LOOM_OK) s = mend_meshes(&w);
  if (s == LOOM_OK) s = mend_morphs(&w);
  if (s == LOOM_OK) s = mend_skins(&w);
  if (s == LOOM_OK && w.changed) s = put_buffer(&w);
  char *const json = s == LOOM_OK && w.changed ? json_dumps(w.g.root, JSON_COMPACT) : NULL;
  if (s == LOOM_OK && w.changed) s = json != NULL ? put_file(&w, json) : refuse_memory(r);
  free(json);
  free(w.data);
  gltf_close(&w.g);
  return s;
}
