#!/bin/sh
# An installation in an empty folder is complete: from another folder a configuration names installed methods,
# scenes, materials and animations; the tools in Python run; pkg-config builds a plugin without CMake.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_PLUGIN_PATH LOOM_CONFIG_PATH LOOM_BIN LOOM_ROOT
loom=$work/prefix/bin/loom
fail() { echo "FAILED: $*"; exit 1; }
"$CMAKE" --install "$LOOM_BINARY_DIR" --prefix "$work/prefix" >"$work/install.log"
share=$work/prefix/share/loom
mkdir "$work/empty"
cd "$work/empty"

# ---- the search path ----
cat >own.ini <<'END'
include = methods/barrier_bodies.ini
[run]
steps = 1
dt = 0.02
[cloth.sheet]
shape = grid
size = 0.2 0.2
resolution = 5 5
material = silk
[body.ball]
shape = sphere
radius = 0.1
position = 0 0 -0.15
END
"$loom" run own.ini -o own.h5 --quiet || fail "a run with an installed method and material"
sed 's/^material = silk/material = slik/' own.ini >typo.ini
"$loom" check typo.ini >out 2>&1 && fail "a material that is not there"
grep -q "did you mean 'silk'?.*searched: .*$share/configs/materials" out || fail "$(cat out)"
sed 's/barrier_bodies/no_such_method/' own.ini >typo.ini
"$loom" check typo.ini >out 2>&1 && fail "a method that is not there"
sed 's/barrier_bodies/barrier/; s/^shape = sphere/shape = rig/; s/^radius = 0.1/rig = lower_body\nanimation = squat/; s/-0.15/-5/' own.ini >squat.ini
"$loom" check squat.ini >out 2>&1 || fail "an installed animation: $(cat out)"
# a file beside the configuration comes first; LOOM_CONFIG_PATH comes before the installation
mkdir methods other other/methods
printf 'include = broken\n' >methods/barrier_bodies.ini
"$loom" check own.ini >out 2>&1 && fail "the method beside the configuration was not taken"
mv methods/barrier_bodies.ini other/methods
LOOM_CONFIG_PATH=$work/empty/other "$loom" check own.ini >out 2>&1 && fail "LOOM_CONFIG_PATH was not read"
"$loom" check own.ini >out 2>&1 || fail "$(cat out)"
# a name may not leave the folder
sed 's|methods/barrier|methods/../methods/barrier|' own.ini >typo.ini
rmdir methods
"$loom" check typo.ini >out 2>&1 && fail "a path with .. was searched for"

# ---- lists ----
for kind in materials methods scenes animations; do
  "$loom" describe $kind >out || fail "loom describe $kind"
  for file in "$share/configs/$kind"/*; do
    name=${file##*/}
    grep -q "^  ${name%.*} " out || fail "loom describe $kind does not list $name"
  done
  "$loom" describe $kind --json >out
  python3 -c 'import json, sys; assert all(r["summary"] for r in json.load(open(sys.argv[1])))' out || fail "$kind as JSON"
done

# ---- modules, tools, pages, examples ----
for folder in factors readers meshers; do
  for file in "$LOOM_BINARY_DIR/$folder"/*.so; do
    [ ! -e "$file" ] || [ -e "$work/prefix/lib/loom/$folder/${file##*/}" ] || fail "no $folder/${file##*/}"
  done
done
for tool in archive export fabric measure render report sweep table watch; do
  [ -e "$share/python/loomcloth/$tool.py" ] || [ -e "$share/python/loomcloth/$tool/__main__.py" ] || fail "no $tool"
done
"$loom" table --help >out || fail "loom table --help"
grep -q '^usage: loom table' out || fail "$(cat out)"
"$loom" docs >out 2>&1 && fail "docs needs a checkout"
grep -q 'belongs to the launcher' out || fail "$(cat out)"
LOOM_PYTHON=$work/none "$loom" table >out 2>&1 && fail "a Python that is not there"
grep -q 'LOOM_PYTHON names another' out || fail "$(cat out)"
find "$work/prefix/share/doc/loom" -name plugin-guide\* | grep -q . || fail "no guide"

# ---- a plugin by pkg-config ----
command -v pkg-config >/dev/null || { echo "SKIP: a plugin by pkg-config: pkg-config is not installed"; exit 0; }
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
[ "$(pkg-config --modversion loom)" = "$("$loom" --version | cut -d ' ' -f 2)" ] || fail "the version of loom.pc"
examples=$(pkg-config --variable=examplesdir loom)
mkdir plugins
# the flags are a list: word splitting is intended
# shellcheck disable=SC2046
${CC:-cc} -O2 $(pkg-config --cflags loom) "$examples"/example_plugin/heavy_ball.c \
  "$examples"/example_plugin/heavy_ball.kern.c -o plugins/heavy_ball.so $(pkg-config --libs loom) || fail "the compiler"
"$loom" contract heavy_ball --plugin-path plugins >out || fail "loom contract: $(cat out)"
