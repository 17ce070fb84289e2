/* front.c - see front.h. */
#include "front.h"

#include "loom/plugin.h"

static const lk_entry k_count_marked = LK_ENTRY_MOVES(bvtt_front_count_marked, 2, 3);
static const lk_entry k_list_marked = LK_ENTRY_MOVES(bvtt_front_list_marked, 34, 96);
static const lk_entry k_test = LK_ENTRY_MOVES(bvtt_front_test, 3, 46);
static const lk_entry k_count_split = LK_ENTRY_MOVES(bvtt_front_count_split, 1, 0);
static const lk_entry k_sprout = LK_ENTRY_MOVES(bvtt_front_sprout, 51, 78);
static const lk_entry k_merge = LK_ENTRY_MOVES(bvtt_front_merge, 1, 19);
static const lk_entry k_count_kept = LK_ENTRY_MOVES(bvtt_front_count_kept, 1, 11);
static const lk_entry k_pack = LK_ENTRY_MOVES(bvtt_front_pack, 58, 61);
static const lk_entry k_count_names = LK_ENTRY_MOVES(bvtt_front_count_names, 1, 3);
static const lk_entry k_list[2] = {LK_ENTRY_MOVES(bvtt_front_list_vt, 24, 51),
                                   LK_ENTRY_MOVES(bvtt_front_list_ee, 40, 78)};

/* A front that has grown by this factor within a step is trimmed: parents take the place of
 * children that have come apart.  Below it the pairs to spare cost less than looking for them. */
static const double overgrown_factor = 1.5;

/* At the start of a step pairs are sorted where their number has grown by this factor since the
 * last sort. */
static const double disorder_factor = 1.25;

/* ---- life ---- */

loom_status front_lists_create(front_lists *l, const loom_host *host)
{
  const plug_buf all[] = {
      {"work", LOOM_I32, 0, &l->work[0]},       {"next work", LOOM_I32, 0, &l->work[1]},
      {"group counts", LOOM_I64, 0, &l->count}, {"group places", LOOM_I64, 1, &l->place},
      {"packed pairs", LOOM_U64, 0, &l->pair},  {"bits of packed pairs", LOOM_I32, 0, &l->known}};
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

loom_status front_create(front *f, sight *g, front_lists *l, int bodies)
{
  const loom_host *const host = g->t->m->host;
  f->g = g;
  f->l = l;
  f->bodies = bodies;
  LOOM_TRY(host->buf_new(host, "front", LOOM_U64, 0, &f->pair));
  return host->buf_new(host, "bits of pairs", LOOM_I32, 0, &f->known);
}

/* ---- launches ---- */

static int64_t groups_of(int64_t num) { return (num + BVTT_FRONT_GROUP - 1) / BVTT_FRONT_GROUP; }

static bvtt_front_args open_front(const front *f, plug_maps *m)
{
  return (bvtt_front_args){.t = sight_view(f->g, m, f->bodies),
                           .pair = plug_rdwr(m, f->pair),
                           .known = plug_rdwr(m, f->known),
                           .num = (lk_int)f->num};
}

/* Runs k, which writes a count for each group of `num` items; their exclusive sums go to l->place,
 * their sum to *total. */
static loom_status count_groups(front *f, const lk_entry *k, loom_buf *work, int64_t num,
                                int32_t bits, int64_t *total)
{
  const mesh *const m = f->g->t->m;
  const loom_host *const host = m->host;
  LOOM_TRY(mesh_reserve(m, f->l->count, groups_of(num)));
  LOOM_TRY(mesh_reserve(m, f->l->place, host->buf_count(host, f->l->count) + 1));
  plug_maps maps = plug_maps_on(host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.work = plug_read(&maps, work);
  args.num_work = (lk_int)num;
  args.count = plug_write(&maps, f->l->count);
  args.bits = bits;
  /* groups behind the last one count 0 */
  LOOM_TRY(plug_launch(&maps, k, &args, host->buf_count(host, f->l->count), NULL));
  return host->scan_i64(host, m->e, f->l->count, f->l->place, total);
}

static loom_status reserve_front_pairs(const mesh *m, loom_buf *pair, loom_buf *known, int64_t num)
{
  LOOM_CHECK(m->host, num <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%lld pairs of boxes are near each other; make the margin or the step smaller",
             (long long)num);
  LOOM_TRY(mesh_reserve(m, pair, num));
  return mesh_reserve(m, known, num);
}

/* ---- trimming ---- */

static loom_status pack_front_pairs(front *f, int64_t kept)
{
  const mesh *const m = f->g->t->m;
  front_lists *const l = f->l;
  LOOM_TRY(reserve_front_pairs(m, l->pair, l->known, kept));
  plug_maps maps = plug_maps_on(m->host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.place = plug_read(&maps, l->place);
  args.to_pair = plug_rdwr(&maps, l->pair);
  args.to_known = plug_rdwr(&maps, l->known);
  LOOM_TRY(plug_launch(&maps, &k_pack, &args, groups_of(f->num), NULL));
  loom_buf *const pair = f->pair, *const known = f->known;
  f->pair = l->pair;
  f->known = l->known;
  l->pair = pair;
  l->known = known;
  f->num = kept;
  return LOOM_OK;
}

/* Replaces every pair that lies below a pair with boxes that are apart by the highest of these. */
static loom_status merge_front_pairs(front *f, front_counts *c)
{
  const mesh *const m = f->g->t->m;
  int64_t kept;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const bvtt_front_args args = open_front(f, &maps);
  LOOM_TRY(plug_launch(&maps, &k_merge, &args, f->num, NULL));
  LOOM_TRY(count_groups(f, &k_count_kept, NULL, f->num, 0, &kept));
  c->merged += (double)(f->num - kept);
  return kept < f->num ? pack_front_pairs(f, kept) : LOOM_OK;
}

/* Sorts pairs so that neighbours in the tree stand beside each other, since testing all of them is
 * bound by memory.  Their bits are lost. */
static loom_status sort_front_pairs(front *f)
{
  const mesh *const m = f->g->t->m;
  LOOM_TRY(m->host->buf_resize(m->host, f->pair, f->num));
  LOOM_TRY(m->host->buf_resize(m->host, f->l->work[0], f->num));
  f->sorted = f->num;
  return m->host->sort_u64(m->host, m->e, f->pair, f->l->work[0]);
}

/* ---- testing, sprouting ---- */

/* Writes the places of the pairs with a node that covers a changed vertex to l->work[0]. */
static loom_status find_marked(front *f, int64_t *num)
{
  const mesh *const m = f->g->t->m;
  LOOM_TRY(count_groups(f, &k_count_marked, NULL, f->num, 0, num));
  if (*num == 0) return LOOM_OK;
  LOOM_TRY(mesh_reserve(m, f->l->work[0], *num));
  plug_maps maps = plug_maps_on(m->host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.place = plug_read(&maps, f->l->place);
  args.next = plug_rdwr(&maps, f->l->work[0]);
  return plug_launch(&maps, &k_list_marked, &args, groups_of(f->num), NULL);
}

static loom_status test_front_pairs(front *f, loom_buf *work, int64_t num)
{
  const mesh *const m = f->g->t->m;
  plug_maps maps = plug_maps_on(m->host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.work = plug_read(&maps, work);
  args.num_work = (lk_int)num;
  return plug_launch(&maps, &k_test, &args, num, NULL);
}

/* Children of the pairs of `work` that split, into the front and `next`. */
static loom_status sprout_front_pairs(front *f, loom_buf *work, int64_t num, loom_buf *next,
                                      int64_t children, int64_t splits)
{
  const mesh *const m = f->g->t->m;
  LOOM_TRY(reserve_front_pairs(m, f->pair, f->known, f->num + children - splits));
  LOOM_TRY(mesh_reserve(m, next, children));
  plug_maps maps = plug_maps_on(m->host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.work = plug_read(&maps, work);
  args.num_work = (lk_int)num;
  args.place = plug_read(&maps, f->l->place);
  args.next = plug_rdwr(&maps, next);
  LOOM_TRY(plug_launch(&maps, &k_sprout, &args, groups_of(num), NULL));
  f->num += children - splits;
  return LOOM_OK;
}

/* Tests pairs, level by level, until none descends; work NULL: all pairs. */
static loom_status descend_front(front *f, loom_buf *work, int64_t num, double most,
                                 front_counts *c)
{
  const int64_t before = f->num;
  int64_t looked = num;
  for (int k = 1; num > 0; k ^= 1) {
    int64_t total;
    LOOM_TRY(test_front_pairs(f, work, num));
    c->tested += (double)num;
    LOOM_TRY(count_groups(f, &k_count_split, work, num, 0, &total));
    const int64_t children = total >> 32, splits = total & UINT32_MAX;
    if (splits == 0) break;
    if ((double)(f->num + children - splits) > most) {
      f->num = 0;
      return LOOM_REJECTED;
    }
    LOOM_TRY(sprout_front_pairs(f, work, num, f->l->work[k], children, splits));
    looked += children - splits;
    work = f->l->work[k];
    num = children;
  }
  c->looked += (double)looked;
  c->sprouted += (double)(f->num - before);
  return LOOM_OK;
}

static loom_status begin_at_root(front *f)
{
  const mesh *const m = f->g->t->m;
  const box_levels *const a = &f->g->t->cloth, *const b = f->bodies ? &f->g->t->body : a;
  void *p;
  LOOM_TRY(reserve_front_pairs(m, f->pair, f->known, 1));
  LOOM_TRY(m->host->map(m->host, m->e, f->pair, LOOM_RDWR, LOOM_AT_HOST, &p));
  *(uint64_t *)p = (uint64_t)(a->num_levels - 1) << (32 + BVTT_FRONT_INDEX_BITS) |
                   (uint64_t)(b->num_levels - 1) << BVTT_FRONT_INDEX_BITS;
  f->num = 1;
  f->sorted = 0;
  return m->host->unmap(m->host, f->pair);
}

loom_status front_update(front *f, int all, double most, front_counts *c)
{
  int64_t num;
  /* The front at the start of a step does not depend on earlier steps: every pair is tested, and
   * the front becomes the one that a traversal from the root makes. */
  const int fresh = f->num == 0 || f->is_old;
  const int trims = fresh || (double)f->num > overgrown_factor * (double)f->trimmed;
  if (f->num == 0)
    LOOM_TRY(begin_at_root(f));
  else if (trims)
    LOOM_TRY(merge_front_pairs(f, c));
  if (fresh && (double)f->num > 1.0 + disorder_factor * (double)f->sorted)
    LOOM_TRY(sort_front_pairs(f));
  num = f->num;
  if (!all && !fresh) LOOM_TRY(find_marked(f, &num));
  LOOM_TRY(descend_front(f, all || fresh ? NULL : f->l->work[0], num, most, c));
  if (trims) f->trimmed = f->num;
  f->is_old = 0;
  f->g->due &= f->bodies ? ~2 : ~1;
  c->size += (double)f->num;
  return LOOM_OK;
}

/* ---- candidates ---- */

loom_status front_count_names(front *f, int32_t bits, int64_t *num_groups)
{
  *num_groups = groups_of(f->num);
  return count_groups(f, &k_count_names, NULL, f->num, bits, NULL);
}

loom_status front_list_names(front *f, int family, int64_t first, int64_t end, int64_t base,
                             loom_buf *place, loom_buf *name)
{
  const mesh *const m = f->g->t->m;
  plug_maps maps = plug_maps_on(m->host, m->e);
  bvtt_front_args args = open_front(f, &maps);
  args.place = plug_read(&maps, place);
  args.name = plug_rdwr(&maps, name);
  args.base = base;
  args.first = (lk_int)first;
  return plug_launch(&maps, &k_list[family], &args, end - first, NULL);
}
