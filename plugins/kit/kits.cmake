# The kits: what several plugins share, compiled once per tree (README.md).  Included by the tree itself
# and, from an installation, by projects with plugins of their own.
set(LOOM_KIT_DIR ${CMAKE_CURRENT_LIST_DIR})
loom_add_kit(state SOURCES state.c)
loom_add_kit(gather SOURCES gather.c KERNELS gather.kern.c)
loom_add_kit(candidates SOURCES candidates.c active.c KERNELS candidates.kern.c KITS gather)
loom_add_kit(pair_energy SOURCES pair_energy.c KITS candidates)
loom_add_kit(friction SOURCES friction.c KERNELS friction.kern.c KITS pair_energy)
loom_add_kit(barrier SOURCES barrier.c KITS friction state)
loom_add_kit(box_tree SOURCES box_tree.c KERNELS box_tree.kern.c)
loom_add_kit(mesh_query SOURCES mesh_query.c mesh_narrow.c KERNELS mesh_query.kern.c)
loom_add_kit(yarn_line SOURCES yarn_line.c)
loom_add_kit(bcsr SOURCES bcsr.c bcsr_steady.c KERNELS bcsr.kern.c bcsr_steady.kern.c)
loom_add_kit(subspace SOURCES subspace.c subspace_reduced.c splines.c radial.c sparse_basis.c KERNELS subspace.kern.c
             sparse_basis.kern.c)
loom_add_kit(krylov SOURCES krylov.c krylov_bsr3.c KERNELS krylov.kern.c krylov_bsr3.kern.c)
include(${LOOM_KIT_DIR}/cholmod.cmake)
if(TARGET loom_cholmod)
  loom_add_kit(chol SOURCES chol.c chol_blocks.c chol_solve3.c LIBRARIES loom_cholmod)
else()
  loom_skip_kit(chol "CHOLMOD was not found; install SuiteSparse (Debian: libsuitesparse-dev) and \
configure again")
endif()
