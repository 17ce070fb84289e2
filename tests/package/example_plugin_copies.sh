#!/bin/sh
# The steps of the plugin guide: copy the exemplary plugin of each kind out of the tree, give it a name of
# its own, build all three against an installation, check each, and run a scene with them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_PLUGIN_PATH
loom=$work/prefix/bin/loom
fail() { echo "FAILED: $*"; exit 1; }
export OMP_WAIT_POLICY=passive # others may run beside it

"$CMAKE" --install "$LOOM_BINARY_DIR" --prefix "$work/prefix" >"$work/install.log"

# copy OLD NEW FOLDER: the sources, with the plugin's name in files and text
mkdir "$work/own"
copy() {
  for file in "$LOOM_SOURCE_DIR/plugins/$3/$1/$1".*; do
    upper=$(printf '%s' "$2" | tr '[:lower:]' '[:upper:]')
    old=$(printf '%s' "$1" | tr '[:lower:]' '[:upper:]')
    sed "s/\\b$1/$2/g; s/\\b${old}_/${upper}_/g" "$file" >"$work/own/$2.${file#*/"$1"/"$1".}"
  done
}
copy gd own_solver solvers
copy brute own_pairs collision
copy repulsion own_contact contact
cat >"$work/own/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(own VERSION 0.1.0 LANGUAGES C)
find_package(loom 0.2 REQUIRED)
if(TARGET loom::kit_chol) # of a library that may be missing
  set(chol chol)
endif()
loom_add_plugin(own_solver SOURCES own_solver.c KERNELS own_solver.kern.c KITS state ${chol})
loom_add_plugin(own_pairs SOURCES own_pairs.c KERNELS own_pairs.kern.c KITS mesh_query)
loom_add_plugin(own_contact SOURCES own_contact.c KERNELS own_contact.kern.c KITS pair_energy)
END
"$CMAKE" -S "$work/own" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DLOOM_WERROR=ON -DLOOM_CUDA=OFF >"$work/configure.log"
"$CMAKE" --build "$work/build" >"$work/build.log" || fail "the build: $(tail -30 "$work/build.log")"
[ "$(grep -c 'kit/gather.c' "$work/build/build.ninja")" -gt 0 ] || fail "kits are not built with the project"

cd "$work"
for name in own_solver own_pairs own_contact; do
  "$loom" contract "$name" --plugin-path "$work/build/plugins" >"$work/contract" ||
    fail "loom contract $name: $(grep -v '^PASS' "$work/contract")"
done
grep -q '^PASS  contact.self_hessian' "$work/contract" || fail "$(cat "$work/contract")"

# A sheet falls on a ball and on a box of the mesh kind: the model acts on both, and keeps it above them.  Its edges
# dip 0.7 mm into the ball between vertices that touch it, less than half the thickness.
cat >box.obj <<'END'
v -0.3 -0.3 -0.4
v 0.3 -0.3 -0.4
v 0.3 0.3 -0.4
v -0.3 0.3 -0.4
v 0 0 -0.35
f 1 2 5
f 2 3 5
f 3 4 5
f 4 1 5
f 1 4 3
f 1 3 2
END
cat >scene.ini <<'END'
[run]
steps = 8
dt = 0.01
[cloth.sheet]
shape = grid
size = 0.2 0.2
resolution = 13 13
density = 0.2
thickness = 2e-3
[body.ball]
shape = sphere
radius = 0.1
position = 0 0 -0.105
[body.hill]
shape = mesh
file = box.obj
[solver]
plugin = own_solver
[collision.cloth]
plugin = own_pairs
[collision.bodies]
plugin = sdf
[contact.all]
plugin = own_contact
[stop]
tol_rel = 1e-3
max_iters = 60
END
"$loom" run scene.ini -o run.h5 --quiet --plugin-path "$work/build/plugins" ||
  fail "a run with all three"
"$loom" verify run.h5 >verified || fail "loom verify: $(cat verified)"

# an unknown kit is an error that names the known kits
mkdir typo
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(typo LANGUAGES C)' \
  'find_package(loom 0.2 REQUIRED)' 'loom_add_plugin(typo SOURCES typo.c KITS gathr)' >typo/CMakeLists.txt
"$CMAKE" -S typo -B typo/build -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DLOOM_CUDA=OFF \
  >configure.log 2>&1 && fail "an unknown kit was accepted"
tr -s ' \n' ' ' <configure.log | grep -q "there is no kit 'gathr'; kits: .*gather" ||
  fail "$(cat configure.log)"
