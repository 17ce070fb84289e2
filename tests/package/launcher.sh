#!/bin/sh
# The launcher in a fresh copy of the sources: help without a build, `describe` by a small one, jobs
# and progress as asked, a broken build is reported as broken.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fresh=$work/loom
mkdir "$fresh"
cd "$LOOM_SOURCE_DIR"
tar c loom CMakeLists.txt CMakePresets.json CITATION.cff configs framework plugins tests | tar x -C "$fresh"
cd "$fresh"
export LOOM_NO_INSTALL=1 LOOM_JOBS=1 LOOM_PROGRESS_S=0
export LOOM_CMAKE_ARGS="-DLOOM_NATIVE=OFF" LOOM_CUDA=OFF
unset LOOM_BUILD_DIR LOOM_PLUGIN_PATH || true

fail() { echo "FAILED: $*"; exit 1; }
code() { rc=0; "$@" >"$work/out" 2>"$work/err" || rc=$?; echo $rc; }

# ---- help builds no target ----
"$LOOM_BIN" help >"$work/help"
for word in help --help -h; do
  [ "$(code ./loom $word)" = 0 ] || fail "./loom $word: $(cat "$work/err")"
  cmp "$work/out" "$work/help" || fail "./loom $word differs from the binary's"
done
[ "$(code ./loom)" = 2 ] || fail "./loom alone is no command"
[ "$(code ./loom --version)" = 0 ] || fail "./loom --version"
[ "$(cut -d ' ' -f 1,2 "$work/out")" = "$("$LOOM_BIN" --version | cut -d ' ' -f 1,2)" ] ||
  fail "./loom --version: $(cat "$work/out")"
[ ! -e build ] || fail "help made a build folder"

# ---- refusals, before anything is done ----
for setting in LOOM_JOBS=0 LOOM_JOBS=two LOOM_PROGRESS_S=-1 LOOM_CUDA=maybe; do
  [ "$(code env "$setting" ./loom help)" = 2 ] || fail "$setting is accepted"
  grep -q "^loom: LOOM_.*${setting%=*}\|^loom: ${setting%=*}" "$work/err" || fail "$setting: $(cat "$work/err")"
done

# ---- describe ----
[ "$(code ./loom describe gd)" = 0 ] || fail "./loom describe gd: $(cat "$work/err")"
"$LOOM_BIN" describe gd | grep -vE '^  (build|path|backends) ' >"$work/want"
grep -vE '^  (build|path|backends) ' "$work/out" | cmp - "$work/want" || fail "another text: $(cat "$work/out")"
grep -qE '^loom: building \[[0-9]+/[0-9]+\]$' "$work/err" || fail "no progress: $(cat "$work/err")"
[ ! -e build/bin/loom ] || fail "describe built everything"
[ ! -e build/describe/plugins/ndb.so ] || fail "describe built all plugins"
# One job: no part begins before the one before it has ended (.ninja_log: begin and end in ms, a line
# for every output).
awk 'NR > 1 && NF >= 4 { print $1, $2 }' build/describe/.ninja_log | sort -nu |
  awk '$1 < end { exit 1 } { end = $2 }' || fail "LOOM_JOBS=1, but parts were built side by side"
[ "$(code ./loom describe pin)" = 0 ] || fail "./loom describe pin: $(cat "$work/err")"
[ "$(code ./loom describe)" = 2 ] || fail "./loom describe alone"

# ---- a source that does not compile ----
echo '#error broken on purpose' >>plugins/solvers/gd/gd.c
[ "$(code ./loom describe gd)" = 1 ] || fail "a broken build passes"
grep -q 'broken on purpose' "$work/err" || fail "no compiler's message: $(cat "$work/err")"
grep -q 'loom: the build failed' "$work/err" || fail "not said: $(cat "$work/err")"

# ---- CUDA ----
# AUTO leaves it out where a compiler is but no driver, and says so.  In the tree from above, which
# this configures afresh, no source need be compiled again.
[ ! -e /proc/driver/nvidia/version ] && [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] || exit 0
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || exit 0
export LOOM_CUDA=AUTO
./loom describe pin >/dev/null 2>"$work/err" || fail "AUTO: $(cat "$work/err")"
grep -q 'no CUDA launchers: .*LOOM_CUDA=ON' "$work/err" || fail "not said: $(cat "$work/err")"
! grep -q CUDA_COMPILER:STRING build/describe/CMakeCache.txt || fail "CUDA was set up"
