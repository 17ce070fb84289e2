/* schedule.c - see schedule.h. */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

static int push_link(yarn_grid_links *list, int32_t other, int32_t entry)
{
  void *p = list->v;
  const int ok = grow_array(&p, &list->cap, list->n + 1, sizeof *list->v);
  list->v = p;
  if (!ok) return 0;
  list->v[list->n].other = other;
  list->v[list->n++].entry = entry;
  return 1;
}

int yarn_grid_schedule_new(yarn_grid_schedule *s, int32_t num_segs)
{
  memset(s, 0, sizeof *s);
  s->num_segs = num_segs;
  s->size = 1024;
  s->links = calloc((size_t)num_segs + 1, sizeof *s->links);
  s->cells = calloc((size_t)num_segs * 6 + 1, sizeof *s->cells);
  s->table = calloc((size_t)s->size, sizeof *s->table);
  if (s->links == NULL || s->cells == NULL || s->table == NULL) return 0;
  for (int32_t i = 0; i < num_segs; ++i) s->cells[6 * (ptrdiff_t)i + 3] = -1; /* nowhere */
  return 1;
}

void yarn_grid_schedule_free(yarn_grid_schedule *s)
{
  for (int32_t i = 0; s->links != NULL && i < s->num_segs; ++i) free(s->links[i].v);
  for (int64_t i = 0; s->table != NULL && i < s->size; ++i) free(s->table[i].segs.v);
  for (int b = 0; b < YARN_GRID_BINS; ++b) free(s->bin[b].v);
  free(s->entry);
  free(s->freed.v);
  free(s->due.v);
  free(s->spare.v);
  free(s->links);
  free(s->cells);
  free(s->table);
  memset(s, 0, sizeof *s);
}

/* ---- cells ---- */

/* The key of a cell is never 0. */
static uint64_t schedule_cell_key(const int32_t c[3])
{
  uint64_t k = 0;
  for (int i = 0; i < 3; ++i) k = k << 21 | (uint64_t)(c[i] + YARN_GRID_CELL_MAX + 1);
  return k;
}

static uint64_t mix_key_bits(uint64_t z)
{
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static yarn_grid_cell *find_cell_slot(yarn_grid_cell *table, int64_t size, uint64_t key)
{
  uint64_t i = mix_key_bits(key) & (uint64_t)(size - 1);
  while (table[i].key != 0 && table[i].key != key) i = (i + 1) & (uint64_t)(size - 1);
  return &table[i];
}

/* Larger, and without the cells that have become empty. */
static int rehash_cells(yarn_grid_schedule *s)
{
  int64_t live = 0;
  for (int64_t i = 0; i < s->size; ++i) live += s->table[i].segs.n > 0;
  int64_t size = 1024;
  while (size < 4 * live) size *= 2;
  yarn_grid_cell *const t = calloc((size_t)size, sizeof *t);
  if (t == NULL) return 0;
  for (int64_t i = 0; i < s->size; ++i) {
    if (s->table[i].segs.n > 0)
      *find_cell_slot(t, size, s->table[i].key) = s->table[i];
    else
      free(s->table[i].segs.v);
  }
  free(s->table);
  s->table = t;
  s->size = size;
  s->used = live;
  return 1;
}

static int is_cell_in_box(const int32_t c[3], const int32_t *box)
{
  return c[0] >= box[0] && c[0] <= box[3] && c[1] >= box[1] && c[1] <= box[4] && c[2] >= box[2] &&
         c[2] <= box[5];
}

static void remove_cell_segment(yarn_grid_schedule *s, int32_t seg, const int32_t c[3])
{
  grow_ids *const l = &find_cell_slot(s->table, s->size, schedule_cell_key(c))->segs;
  int64_t i = 0;
  while (l->v[i] != seg) ++i;
  memmove(l->v + i, l->v + i + 1, (size_t)(l->n - i - 1) * sizeof *l->v);
  --l->n;
}

static int insert_cell_segment(yarn_grid_schedule *s, int32_t seg, const int32_t c[3])
{
  yarn_grid_cell *at = find_cell_slot(s->table, s->size, schedule_cell_key(c));
  if (at->key == 0) {
    if (2 * (s->used + 1) > s->size) {
      if (!rehash_cells(s)) return 0;
      at = find_cell_slot(s->table, s->size, schedule_cell_key(c));
    }
    if (at->key == 0) ++s->used;
    at->key = schedule_cell_key(c);
  }
  return grow_push(&at->segs, seg);
}

/* ---- entries ---- */

static int32_t find_segment_entry(const yarn_grid_schedule *s, int32_t a, int32_t b)
{
  const yarn_grid_links *const la = &s->links[a], *const lb = &s->links[b];
  const yarn_grid_links *const l = la->n < lb->n ? la : lb;
  const int32_t other = la->n < lb->n ? b : a;
  for (int64_t i = 0; i < l->n; ++i)
    if (l->v[i].other == other) return l->v[i].entry;
  return -1;
}

static int add_segment_entry(yarn_grid_schedule *s, int32_t a, int32_t b, lk_real d, int32_t *out)
{
  int32_t id;
  if (s->freed.n > 0) {
    id = s->freed.v[--s->freed.n];
  } else {
    void *p = s->entry;
    const int ok = grow_array(&p, &s->cap, s->num + 1, sizeof *s->entry);
    s->entry = p;
    if (!ok) return 0;
    id = (int32_t)s->num++;
  }
  const yarn_grid_entry e = {
      .a = a < b ? a : b, .b = a < b ? b : a, .d = d, .bin = -1, .place = -1};
  s->entry[id] = e;
  *out = id;
  return push_link(&s->links[a], b, id) && push_link(&s->links[b], a, id);
}

static void unlink_entry(yarn_grid_links *l, int32_t entry)
{
  int64_t i = 0;
  while (l->v[i].entry != entry) ++i;
  l->v[i] = l->v[--l->n];
}

static int delete_entry(yarn_grid_schedule *s, int32_t id)
{
  unlink_entry(&s->links[s->entry[id].a], id);
  unlink_entry(&s->links[s->entry[id].b], id);
  s->entry[id].a = -1;
  return grow_push(&s->freed, id);
}

static int into_bin(yarn_grid_schedule *s, int32_t id, int32_t bin)
{
  s->entry[id].bin = bin;
  s->entry[id].place = (int32_t)s->bin[bin].n;
  return grow_push(&s->bin[bin], id);
}

static int make_due(yarn_grid_schedule *s, int32_t id)
{
  yarn_grid_entry *const e = &s->entry[id];
  if (e->place < 0) return 1; /* is due already */
  /* out of its bin; the number stays: it names the snapshot */
  grow_ids *const l = &s->bin[e->bin];
  const int32_t last = l->v[--l->n];
  l->v[e->place] = last;
  s->entry[last].place = e->place;
  e->place = -1;
  return grow_push(&s->due, id);
}

int yarn_grid_restore_entry(yarn_grid_schedule *s, int32_t a, int32_t b, lk_real d, int32_t bin)
{
  int32_t id;
  return add_segment_entry(s, a, b, d, &id) && into_bin(s, id, bin);
}

/* ---- one tick ----
 */

/* Calls for every cell of `box` that is not in `but`. */
static int each_cell(yarn_grid_schedule *s, int32_t seg, const int32_t *box, const int32_t *but,
                     int (*f)(yarn_grid_schedule *, int32_t, const int32_t[3]))
{
  int32_t c[3];
  for (c[0] = box[0]; c[0] <= box[3]; ++c[0])
    for (c[1] = box[1]; c[1] <= box[4]; ++c[1])
      for (c[2] = box[2]; c[2] <= box[5]; ++c[2])
        if (!is_cell_in_box(c, but) && !f(s, seg, c)) return 0;
  return 1;
}

static int leave_cell(yarn_grid_schedule *s, int32_t seg, const int32_t c[3])
{
  remove_cell_segment(s, seg, c);
  return 1;
}

/* Entries for a newcomer and all others in a cell. */
static int add_cell_entries(yarn_grid_schedule *s, int32_t seg, const int32_t c[3])
{
  const yarn_grid_cell *const cell = find_cell_slot(s->table, s->size, schedule_cell_key(c));
  for (int64_t i = 0; i < cell->segs.n; ++i) {
    const int32_t other = cell->segs.v[i];
    int32_t id;
    if (other == seg || find_segment_entry(s, seg, other) >= 0) continue;
    if (!add_segment_entry(s, seg, other, LK_R(-1.0), &id) || !grow_push(&s->due, id)) return 0;
  }
  return 1;
}

int yarn_grid_enter_cells(yarn_grid_schedule *s, const int32_t *cells)
{
  grow_ids moved = {NULL, 0, 0};
  int ok = 1;
  for (int32_t i = 0; ok && i < s->num_segs; ++i) {
    const int32_t *const now = cells + 6 * (ptrdiff_t)i, *const was = s->cells + 6 * (ptrdiff_t)i;
    if (memcmp(now, was, 6 * sizeof *now) == 0) continue;
    ok = grow_push(&moved, i) && each_cell(s, i, was, now, leave_cell) &&
         each_cell(s, i, now, was, insert_cell_segment);
  }
  for (int64_t k = 0; ok && k < moved.n; ++k) {
    const ptrdiff_t at = 6 * (ptrdiff_t)moved.v[k];
    ok = each_cell(s, moved.v[k], cells + at, s->cells + at, add_cell_entries);
  }
  if (ok && moved.n > 0) memcpy(s->cells, cells, (size_t)s->num_segs * 6 * sizeof *cells);
  free(moved.v);
  return ok;
}

int yarn_grid_activate(yarn_grid_schedule *s, int32_t seg)
{
  const yarn_grid_links *const l = &s->links[seg];
  for (int64_t i = 0; i < l->n; ++i)
    if (!make_due(s, l->v[i].entry)) return 0;
  return 1;
}

int yarn_grid_compare_anew(yarn_grid_schedule *s, int32_t seg, int32_t p0, int32_t p1)
{
  const yarn_grid_links *const l = &s->links[seg];
  for (int64_t i = 0; i < l->n; ++i) {
    if (l->v[i].other < p0 || l->v[i].other > p1) continue;
    if (!make_due(s, l->v[i].entry)) return 0;
    s->entry[l->v[i].entry].d = LK_R(-1.0);
  }
  return 1;
}

int yarn_grid_top_bin(int64_t tick)
{
  int b = 0;
  while (b < YARN_GRID_BINS - 1 && tick % (INT64_C(2) << b) == 0) ++b;
  return b;
}

/* Ascending, by counting digits of 10 bits: neighbours in the list are then neighbours in memory,
 * and the order does not depend on how entries got into their bins. */
static int sort_due(yarn_grid_schedule *s)
{
  enum { DIGIT = 1024 };
  void *p = s->spare.v;
  const int ok = grow_array(&p, &s->spare.cap, s->due.n, sizeof *s->spare.v);
  s->spare.v = p;
  for (int shift = 0; ok && s->num >> shift > 0; shift += 10) {
    int64_t at[DIGIT + 1] = {0};
    for (int64_t i = 0; i < s->due.n; ++i) ++at[(s->due.v[i] >> shift & (DIGIT - 1)) + 1];
    for (int d = 0; d < DIGIT; ++d) at[d + 1] += at[d];
    for (int64_t i = 0; i < s->due.n; ++i)
      s->spare.v[at[s->due.v[i] >> shift & (DIGIT - 1)]++] = s->due.v[i];
    grow_ids swap = s->due;
    s->due.v = s->spare.v;
    s->due.cap = s->spare.cap;
    s->spare.v = swap.v;
    s->spare.cap = swap.cap;
    if (s->spare.cap < s->due.n) {
      p = s->spare.v;
      if (!grow_array(&p, &s->spare.cap, s->due.n, sizeof *s->spare.v)) return 0;
      s->spare.v = p;
    }
  }
  return ok;
}

int yarn_grid_collect(yarn_grid_schedule *s)
{
  for (int b = yarn_grid_top_bin(s->tick); b >= 0; --b) {
    for (int64_t i = 0; i < s->bin[b].n; ++i) {
      s->entry[s->bin[b].v[i]].place = -1;
      if (!grow_push(&s->due, s->bin[b].v[i])) return 0;
    }
    s->bin[b].n = 0;
  }
  return sort_due(s);
}

int yarn_grid_settle(yarn_grid_schedule *s, const yarn_grid_look *look)
{
  const int top = yarn_grid_top_bin(s->tick);
  for (int64_t k = 0; k < s->due.n; ++k) {
    const int32_t id = s->due.v[k];
    yarn_grid_entry *const e = &s->entry[id];
    if (look[k].apart) {
      if (!delete_entry(s, id)) return 0;
      continue;
    }
    e->d = look[k].d;
    if (!into_bin(s, id, look[k].wish < top ? look[k].wish : top)) return 0;
  }
  s->due.n = 0;
  ++s->tick;
  return 1;
}
