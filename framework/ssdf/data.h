/* data.h - training data of a body: its regions and poses, and the file that holds their samples.
 *
 * [ssdf] names the body and how to sample, [ssdf.JOINT] a region for every network.  The file:
 *
 *   /                attributes format "loom-ssdf-data", version, body, body_hash, settings
 *   /REGION          joint, frame, dofs; lo, hi [dofs] (rad); centre [3], half, box_lo, box_hi,
 *                    margin (m); nodes, of the grid
 *   /REGION/angles   [poses][dofs], rad
 *   /REGION/first    [poses + 1], samples of pose k are first[k] to first[k+1] - 1
 *   /REGION/x        [samples][3], half sides from the centre, rest pose of the frame
 *   /REGION/d        [samples], signed distance, half sides
 *   /REGION/label    [samples], -1: inside, and an artificial cut is nearest; else 1
 *   /REGION/test_*   the same for random poses, points near the skin
 *
 * Until the file is complete, FILE.part holds a record for every finished pose; a call with the
 * same settings continues from it. */
#ifndef LOOM_SSDF_DATA_H
#define LOOM_SSDF_DATA_H

#include "config/config.h"
#include "ssdf/sample.h"

enum { SSDF_MAX_REGIONS = 64 };

typedef struct ssdf_plan_region {
  ssdf_region_spec spec;
  double range[SSDF_MAX_DOFS][2]; /* rad */
  int64_t counts[SSDF_MAX_DOFS];
  int64_t num_poses; /* of the training: the product of counts, or `by_chance` */
  int by_chance;     /* number of random poses, 0: all combinations of counts */
  ssdf_region region;
  ssdf_poser poser;
  ssdf_box box;
} ssdf_plan_region;

typedef struct ssdf_plan {
  rig body;
  const char *body_name; /* belongs to the cfg */
  const char *settings;  /* the resolved configuration, belongs to the cfg */
  ssdf_sampling how;
  double margin;     /* m */
  int64_t num_tests; /* poses for testing, of each region */
  int32_t num;
  ssdf_plan_region *regions; /* [num] */
} ssdf_plan;

/* From a configuration, which must live longer; errors name file, line and key. */
loom_status ssdf_plan_open(loom_err *err, cfg *c, ssdf_plan *out);
void ssdf_plan_close(ssdf_plan *p);
const loom_param *ssdf_params(const char *section, uint32_t *count); /* "ssdf", "ssdf.JOINT" */

/* Angles [dofs] (rad) of pose k of a region: a training pose for k < num_poses, else a pose for
 * testing.  [any] */
void ssdf_plan_angles(const ssdf_plan *p, int64_t region, int64_t k, double *angles);

/* Head of a record: a training pose for pose < num_poses of its region, else a pose for testing. */
typedef struct ssdf_record {
  int64_t region, pose, nodes, count;
  uint64_t check; /* checksum of the samples, which follow it in the file */
} ssdf_record;

typedef struct ssdf_part { /* FILE.part */
  char path[4096];
  int fd;
  int64_t num, room;
  ssdf_record *done; /* [num], in the order of the file */
  int64_t *at;       /* [num] bytes */
} ssdf_part;

/* Opens or creates FILE.part and drops an incomplete record.  LOOM_E_CONFIG if the file was made
 * with other settings. */
loom_status ssdf_part_open(loom_err *err, const char *file, const ssdf_plan *p, ssdf_part *out);
void ssdf_part_close(ssdf_part *f);
int ssdf_part_has(const ssdf_part *f, int64_t region, int64_t pose);
loom_status ssdf_part_add(loom_err *err, ssdf_part *f, int64_t region, int64_t pose,
                          const ssdf_samples *s);
/* Samples of record k; ssdf_samples_free() them. */
loom_status ssdf_part_read(loom_err *err, const ssdf_part *f, int64_t k, ssdf_samples *out);

/* Whether the finished file may be written there: a new file, or one of this command. */
loom_status ssdf_data_target(loom_err *err, const char *file);
/* The finished file from all records; it replaces `file` when it is whole. */
loom_status ssdf_data_write(loom_err *err, const char *file, const ssdf_plan *p,
                            const ssdf_part *records);

#endif
