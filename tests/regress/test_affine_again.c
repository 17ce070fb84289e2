/* Affine bodies give the same bits again: with other numbers of threads, after a resume, and in a
 * replay of their own log. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(affine_again, .init = proc_enter, .fini = proc_leave);

/* Two boxes fly against each other and onto a sheet. */
#define BOX(name, place, speed)                                                          \
  "[solid." name "]\nsize = 0.06 0.05 0.03\nresolution = 5 4 3\ndensity = 300\nmodel = " \
  "affine\nstiffness = 8e8\nthickness = 1 mm\nvelocity = " speed                         \
  "\ntransform = rotate 1 2 3 20 translate " place "\n"
#define SCENE                                                                                  \
  "[run]\nsteps = 12\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_rel = 1e-4\nmax_iters = "  \
  "30\n[log]\naudit = off\ncheckpoint_every = 5\n[cloth.sheet]\nmodel = arap+isometric\n"      \
  "pattern = regular\nshape = grid\nsize = 0.2 0.2\nresolution = 9 9\ndensity = 0.2\n"         \
  "membrane = 100\nk_b = 1e-4\nthickness = 1 mm\npins = corners\n" BOX("a", "0.01 0.013 0.05", \
                                                                       "0.5 0 -1")             \
      BOX("b", "0.09 0.02 0.06",                                                               \
          "-0.5 0 -1") "[collision.all]\nplugin = patch_bvh\n[contact.all]\nplugin = "         \
                       "ipc_barrier\n"                                                         \
                       "self_friction = 0.2\n[solver]\nplugin = cholmod_newton\n"

Test(affine_again, same_bits_for_any_number_of_threads)
{
  proc_write("boxes.ini", SCENE);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "three.h5", "--threads", "3");
  logs_same_bits("one.h5", "three.h5", LOGS_ANYWHERE);
}

#define CHEBYSHEV "--set", "solver.plugin=chebyshev_pd", "--set", "contact.all.plugin=dbb"
Test(affine_again, same_bits_of_chebyshev_pd)
{
  proc_write("boxes.ini", SCENE);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "one.h5", "--threads", "1", CHEBYSHEV);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-n", "7", "-o", "parts.h5", "--threads", "2",
            CHEBYSHEV);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-n", "12", "-o", "parts.h5", "--threads", "3",
            "--resume", CHEBYSHEV);
  logs_same_bits("one.h5", "parts.h5", 7);
}

Test(affine_again, same_bits_after_a_resume)
{
  proc_write("boxes.ini", SCENE);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "boxes.ini", "--quiet", "-n", "7", "-o", "parts.h5");
  LOOM_FINE("run", "boxes.ini", "--quiet", "-n", "12", "-o", "parts.h5", "--resume");
  cr_assert_eq(log_is_whole("parts.h5", "finished"), 12);
  logs_same_bits("whole.h5", "parts.h5", 7);
}

/* Every step begins where the reference began it, so it ends at the same bits. */
Test(affine_again, same_bits_in_a_replay)
{
  proc_write("boxes.ini", SCENE);
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "ref.h5");
  LOOM_FINE("run", "boxes.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=ref.h5");
  cr_expect_eq(log_is_whole("again.h5", "finished"), 12);
  cr_expect(logs_distance("ref.h5", "again.h5") == 0.0);
}
