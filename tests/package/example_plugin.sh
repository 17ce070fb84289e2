#!/bin/sh
# Install to a prefix, build the example plugin outside the tree against it, list, describe, run.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_PLUGIN_PATH
loom=$work/prefix/bin/loom
fail() { echo "FAILED: $*"; exit 1; }

"$CMAKE" --install "$LOOM_BINARY_DIR" --prefix "$work/prefix" >"$work/install.log"
"$CMAKE" -S "$LOOM_SOURCE_DIR/framework/doc/example_plugin" -B "$work/build" -G Ninja \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DLOOM_WERROR=ON -DLOOM_CUDA=OFF >"$work/configure.log"
"$CMAKE" --build "$work/build"

# not on the search path: unknown; with --plugin-path: there
cd "$work"
"$loom" list >"$work/list" || fail "loom list"
grep -q heavy_ball "$work/list" && fail "heavy_ball was found without --plugin-path"
grep -qw gd "$work/list" || fail "the installed plugins were not found: $(cat "$work/list")"
"$loom" list --plugin-path "$work/build/plugins" >"$work/list" || fail "loom list --plugin-path"
grep -w heavy_ball "$work/list" || fail "heavy_ball is not listed: $(cat "$work/list")"
"$loom" describe heavy_ball --plugin-path "$work/build/plugins" >"$work/describe"
grep -q beta "$work/describe" || fail "describe does not show the parameter beta"
"$loom" contract heavy_ball --plugin-path "$work/build/plugins" >"$work/contract" ||
  fail "loom contract: $(cat "$work/contract")"
grep -q '^PASS  life.restart_continues' "$work/contract" || fail "$(cat "$work/contract")"
# papers of installed plugins and of the example stand beside their files
"$loom" cite "$LOOM_SOURCE_DIR/tests/package/sheet.ini" --plugin-path "$work/build/plugins" >"$work/cite" || fail "loom cite"
grep -q "{polyak1964,$" "$work/cite" || fail "loom cite of the example: $(cat "$work/cite")"
"$loom" cite "$LOOM_SOURCE_DIR/configs/drape_self.ini" >"$work/cite" || fail "loom cite"
grep -q "{li2020,$" "$work/cite" || fail "loom cite of installed plugins: $(cat "$work/cite")"
rm "$work/build/plugins/heavy_ball.bib"
"$loom" cite "$LOOM_SOURCE_DIR/tests/package/sheet.ini" --plugin-path "$work/build/plugins" |
  grep -q '^% heavy_ball has no file heavy_ball.bib; .*Polyak' || fail "the paper of a plugin without .bib is not told"
"$loom" run "$LOOM_SOURCE_DIR/tests/package/sheet.ini" -o "$work/run.h5" --quiet \
  --plugin-path "$work/build/plugins" || fail "loom run"

# the lines that the guide shows are the lines that were compiled
doc=$LOOM_SOURCE_DIR/framework/doc
awk '/heavy_ball\.c`:$/ { on = 1 } on && /```$/ { on = 0 } on && code { sub(/^ */, ""); print } /```c$/ { code = on }' \
  "$doc/plugin-guide.md" >"$work/shown"
[ "$(grep -c . "$work/shown")" -ge 3 ] || fail "the guide shows nothing of heavy_ball.c"
while IFS= read -r line; do
  grep -qF -- "$line" "$doc/example_plugin/heavy_ball.c" ||
    fail "the guide shows '$line', which heavy_ball.c has not"
done <"$work/shown"
"$loom" export "$work/run.h5" --format csv -o "$work/csv" >/dev/null || fail "loom export"
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "own_res") c = i }
  NR > 1 && $c > 0 { ++n } END { exit n > 1 ? 0 : 1 }' "$work"/csv/*iters.csv || fail "own_res was not told"

# its kernels once more for the simulated device: refused by a loom that has a real one
if grep -q 'LOOM_CORE_DEVICE real' "$work/prefix/lib/cmake/loom/loomConfig.cmake"; then
  "$CMAKE" -S "$LOOM_SOURCE_DIR/framework/doc/example_plugin" -B "$work/simulated" -G Ninja \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DLOOM_CUDA=SIMULATED >"$work/configure.log" 2>&1 &&
    fail "a simulated plugin was configured for a real device"
  tr -s ' \n' ' ' <"$work/configure.log" | grep -q 'was built for a real device' ||
    fail "$(cat "$work/configure.log")"
else
  "$CMAKE" -S "$LOOM_SOURCE_DIR/framework/doc/example_plugin" -B "$work/simulated" -G Ninja \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DLOOM_WERROR=ON -DLOOM_CUDA=SIMULATED >"$work/configure.log"
  "$CMAKE" --build "$work/simulated" || fail "a build with LOOM_CUDA=SIMULATED"
  "$loom" list --plugin-path "$work/simulated/plugins" >"$work/list"
  grep -q 'heavy_ball .*cpu+cuda' "$work/list" || fail "no launchers: $(cat "$work/list")"
fi

# a slip of the pen in loom_add_plugin() is an error
mkdir "$work/typo"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(typo LANGUAGES C)' \
  'find_package(loom 0.2 REQUIRED)' 'loom_add_plugin(typo SOURCE typo.c)' >"$work/typo/CMakeLists.txt"
"$CMAKE" -S "$work/typo" -B "$work/typo/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DLOOM_CUDA=OFF >"$work/configure.log" 2>&1 && fail "SOURCE instead of SOURCES was accepted"
tr -s ' \n' ' ' <"$work/configure.log" | grep -q "'SOURCE;typo.c' is not understood" ||
  fail "$(cat "$work/configure.log")"

# installed beside the others it is found without a path
"$CMAKE" --install "$work/build" --prefix "$work/prefix" >>"$work/install.log"
"$loom" list solver >"$work/list"
grep -w heavy_ball "$work/list" || fail "heavy_ball is not found after its installation"
