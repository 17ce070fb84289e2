#!/bin/sh
# Every scene of configs/ goes with every method that fits: two includes are a run.  By default each
# pair is checked; with LOOM_MATRIX_STEPS=N it also makes N steps.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
configs=$LOOM_SOURCE_DIR/configs
steps=${LOOM_MATRIX_STEPS:-0}
failed=0
listed=' '

# of one file that drape_obj.ini leaves to the user
printf 'v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0.2 0.2 0\nf 1 2 3\nf 2 4 3\n' >"$work/sheet.obj"

pushed='penalty penalty_newton penalty_pcg penalty_subspace penalty_self'
bodies="$pushed barrier_bodies dbb_bodies pd_ipc_bodies ndb_bodies pd_bfgs_bodies cama_bodies"
single=pd_coulomb # its contact is of one cloth with bodies
meshes='barrier barrier_pcg dbb pd_ipc ndb pd_bfgs cama ogc cubic_barrier'
free="pd newton chebyshev_pd $meshes $bodies"
# elements without a projective form
smooth='newton cama cama_bodies barrier barrier_pcg barrier_bodies penalty_newton penalty_pcg'

pair() { # SCENE METHOD
  dt=0.01
  case $1 in yarn_*) dt=5e-5 ;; esac # explicit steps are short
  printf 'include = %s\ninclude = %s\n[run]\ndt = %s\n[log]\naudit = off\n' \
    "$configs/scenes/$1.ini" "$configs/methods/$2.ini" "$dt" >"$work/$1-$2.ini"
  set -- "$work/$1-$2.ini" "$1"
  [ "$2" = drape_obj ] && set -- "$@" --set cloth.sheet.file="$work/sheet.obj"
  what=$2
  conf=$1
  shift 2
  if ! "$LOOM_BIN" check "$conf" "$@" >"$work/out" 2>&1; then
    echo "FAILED: check of $what with ${conf##*-}"
    cat "$work/out"
    failed=1
  elif [ "$steps" != 0 ] && ! "$LOOM_BIN" run "$conf" -n "$steps" --quiet \
    --overwrite -o "$work/log.h5" "$@" >"$work/out" 2>&1; then
    echo "FAILED: run of $what with ${conf##*-}"
    cat "$work/out"
    failed=1
  fi
}

fits() { # SCENES METHODS
  for scene in $1; do
    listed="$listed$scene "
    for method in $2; do pair "$scene" "$method"; done
  done
}

cd "$work" || exit 1
fits 'hang cantilever twist' "$free $single"
fits 'collide_sheets knot' "$free"
fits hang_fabric "$smooth"
fits 'drape_sphere drape_post drape_torus drape_obj drape_floor' "$bodies $single"
fits stack "$bodies"
fits slope "$pushed $single" # it begins in touch: barriers ask for a gap
fits 'drape_self fold_desk funnel slit stack_sphere flag' "$meshes"
fits 'tshirt trousers skirt tunic' "$meshes"
fits zip 'barrier_bodies dbb_bodies pd_ipc_bodies ndb_bodies' # its edges are drawn together
fits button 'barrier barrier_pcg dbb pd_ipc ndb ogc cubic_barrier' # its button is an affine body
fits 'cama_sphere cama_funnel cama_twisting cama_dryer cama_falling' 'barrier barrier_pcg cama'
fits 'yarn_swatch yarn_scarf yarn_sleeve yarn_sack yarn_ring' yarn

for f in "$configs"/scenes/*.ini; do
  scene=${f##*/}
  case $listed in
    *" ${scene%.ini} "*) ;;
    *) echo "FAILED: $scene stands in no line of this test"; failed=1 ;;
  esac
done
# A config is a scene, a method and settings of the run: no object, no body is born in it.
for f in "$configs"/*.ini; do
  for part in scenes methods; do
    [ "$(grep -c "^include = $part/" "$f")" = 1 ] && continue
    echo "FAILED: ${f##*/} includes not one of $part/"
    failed=1
  done
done
for f in "$configs"/scenes/*.ini; do
  if grep -nE '^\[(solver|stop|filter|detect|log|exec|collision|contact)' "$f"; then
    echo "FAILED: ${f##*/} is more than a scene"
    failed=1
  fi
done
exit $failed
