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
"$loom" run "$LOOM_SOURCE_DIR/tests/package/sheet.ini" -o "$work/run.h5" --quiet \
  --plugin-path "$work/build/plugins" || fail "loom run"

# installed beside the others it is found without a path
"$CMAKE" --install "$work/build" --prefix "$work/prefix" >>"$work/install.log"
"$loom" list solver >"$work/list"
grep -w heavy_ball "$work/list" || fail "heavy_ball is not found after its installation"
