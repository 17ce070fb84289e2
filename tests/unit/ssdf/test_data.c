/* test_data.c - training data: allowed configurations, records that were cut off, the file. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ssdf/data.h"

static const char small[] =
    "[ssdf]\nrig = leg\nedge = 0.05\nresolution = 10\nextra = 20\ntests = 1\n"
    "test_points = 30\n[ssdf.hip]\nposes = 2 2\n[ssdf.knee]\nchance = 3\n";

static cfg *parse_data_config(const char *text)
{
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert_eq(cfg_parse(&err, text, "data.ini", ".", NULL, 0, &c), LOOM_OK, "%s", err.text);
  return c;
}

/* Samples missing poses, at most `most`. */
static int sample_missing_poses(const ssdf_plan *p, ssdf_part *f, int most)
{
  loom_err err = {0};
  int made = 0;
  for (int32_t r = 0; r < p->num; ++r)
    for (int64_t k = 0; k < p->regions[r].num_poses + p->num_tests; ++k) {
      const ssdf_plan_region *const g = &p->regions[r];
      double angles[SSDF_MAX_DOFS];
      ssdf_samples s;
      if (ssdf_part_has(f, r, k)) continue;
      if (made++ == most) return most;
      ssdf_plan_angles(p, r, k, angles);
      if (k < g->num_poses)
        cr_assert_eq(ssdf_sample_training(&err, &g->poser, &g->box, &p->how, angles, k, &s),
                     LOOM_OK);
      else
        cr_assert_eq(ssdf_sample_test(&err, &g->poser, &g->box, &p->how, angles, k, &s), LOOM_OK);
      cr_assert_eq(ssdf_part_add(&err, f, r, k, &s), LOOM_OK);
      ssdf_samples_free(&s);
    }
  return made;
}

static void *read_file_bytes(const char *path, size_t *len)
{
  FILE *const f = fopen(path, "rb");
  cr_assert_not_null(f);
  fseek(f, 0, SEEK_END);
  *len = (size_t)ftell(f);
  rewind(f);
  void *const p = malloc(*len);
  cr_assert_eq(fread(p, 1, *len, f), *len);
  fclose(f);
  return p;
}

Test(data, what_was_cut_off_goes_on_to_the_same_bytes)
{
  loom_err err = {0};
  cfg *const c = parse_data_config(small);
  ssdf_plan p;
  ssdf_part f;
  size_t whole, again;
  cr_assert_eq(ssdf_plan_open(&err, c, &p), LOOM_OK, "%s", err.text);
  cr_assert(p.num == 2 && p.regions[0].num_poses == 4 && p.regions[1].num_poses == 3);
  cr_assert_eq(ssdf_part_open(&err, "whole.h5", &p, &f), LOOM_OK, "%s", err.text);
  cr_assert_eq(sample_missing_poses(&p, &f, 100), 9);
  cr_assert_eq(ssdf_data_write(&err, "whole.h5", &p, &f), LOOM_OK, "%s", err.text);
  ssdf_part_close(&f);
  void *const want = read_file_bytes("whole.h5.part", &whole);
  cr_assert_eq(ssdf_part_open(&err, "cut.h5", &p, &f), LOOM_OK);
  cr_assert_eq(sample_missing_poses(&p, &f, 5), 5);
  ssdf_part_close(&f);
  free(read_file_bytes("cut.h5.part", &again));
  cr_assert_eq(truncate("cut.h5.part", (off_t)again - 100), 0); /* killed within the fifth */
  cr_assert_eq(ssdf_part_open(&err, "cut.h5", &p, &f), LOOM_OK);
  cr_assert_eq(f.num, 4);
  cr_assert_eq(sample_missing_poses(&p, &f, 100), 5);
  ssdf_part_close(&f);
  void *const have = read_file_bytes("cut.h5.part", &again);
  cr_assert_eq(whole, again);
  cr_assert_arr_eq(have, want, whole);
  free(have);
  free(want);
  const hid_t h = H5Fopen("whole.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  cr_assert(h >= 0 && H5Lexists(h, "knee", H5P_DEFAULT) > 0);
  int64_t first[5];
  const hid_t set = H5Dopen2(h, "hip/first", H5P_DEFAULT);
  cr_assert(H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, first) >= 0);
  cr_assert(first[0] == 0 && first[1] > 100 && first[4] > first[3]);
  H5Dclose(set);
  H5Fclose(h);
  ssdf_plan_close(&p);
  cfg_free(c);
  cfg *const d = parse_data_config("[ssdf]\nrig = leg\n[ssdf.knee]\n");
  cr_assert_eq(ssdf_plan_open(&err, d, &p), LOOM_OK);
  cr_assert_eq(ssdf_part_open(&err, "cut.h5", &p, &f), LOOM_E_CONFIG);
  cr_assert_not_null(strstr(err.text, "other settings; remove it"));
  ssdf_part_close(&f);
  ssdf_plan_close(&p);
  cfg_free(d);
  unlink("whole.h5");
  unlink("whole.h5.part");
  unlink("cut.h5.part");
}

Test(data, mistakes_are_named_with_place_and_remedy)
{
  static const char *const cases[][2] = {
      {"[ssdf]\nrig = legg\n[ssdf.knee]\n", "data.ini:2: [ssdf] rig"},
      {"[ssdf]\nrig = leg\n", "no section [ssdf.JOINT]"},
      {"[ssdf]\nrig = leg\n[ssdf.nee]\n", "it has knee, "},
      {"[ssdf]\nrig = leg\n[ssdf.knee]\ndofs = knee.flex\n", "no angle of the body"},
      {"[ssdf]\nrig = leg\n[ssdf.knee]\nrange = 0 1\n", "4 numbers needed"},
      {"[ssdf]\nrig = leg\n[ssdf.knee]\nrange = 1 0 0 1\n", "lower end"},
      {"[ssdf]\nrig = leg\n[ssdf.knee]\nposes = 5\n", "2 whole numbers needed"},
      {"[ssdf]\nrig = leg\n[ssdf.knee]\nposes = 5 5\nchance = 3\n", "leave one of them out"},
      {"[ssdf]\nrig = leg\n[ssdf.pelvis]\n", "has no angle"},
      {"[ssdf]\nrig = leg\nwidth = 3\n[ssdf.knee]\n", "width"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    loom_err err = {0};
    ssdf_plan p;
    cfg *const c = parse_data_config(cases[k][0]);
    cr_assert_eq(ssdf_plan_open(&err, c, &p), LOOM_E_CONFIG, "%s", cases[k][1]);
    cr_assert_not_null(strstr(err.text, cases[k][1]), "%s: %s", cases[k][1], err.text);
    cfg_free(c);
  }
}
