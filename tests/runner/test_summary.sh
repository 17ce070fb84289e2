#!/bin/sh
# The summary of `./loom test` tells failed tests from tests ended by a limit, and names the tests that cost most.
set -eu
. "${0%/*}/../support/stub.sh"
runner=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_BUILD_DIR LOOM_CMAKE_ARGS LOOM_CUDA LOOM_TEST_VENV || true
export LOOM_NO_INSTALL=1
stub_checkout "$work/tree" ON
tests=$work/tree/build/CTestTestfile.cmake

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

# try NAME LIMIT IDLE CLOCK SCRIPT
try() {
  printf '%s' "$5" >"$work/$1.sh"
  printf 'add_test(%s %s %s %s %s sh %s)\nset_tests_properties(%s PROPERTIES LABELS unit TIMEOUT %s SKIP_RETURN_CODE 77)\n' \
    "$1" "$runner" "$1" "$2" "$3" "$work/$1.sh" "$1" "$4" >>"$tests"
}

try spins 0.4 20 300 'while :; do :; done'
try hangs 20 2 300 'sleep 60'
try fails 20 20 300 'exit 3'
try crashes 20 20 300 'kill -SEGV $$'
try dozes 20 20 2 "sleep 60 & echo \$! >'$work/pid'; wait"
try skips 20 20 300 'echo "SKIP: skips: no reason"; exit 77'
try passes_1 20 20 300 'echo "fuzz_files: 3 inputs, LOOM_FUZZ_SEED=1234"'
for i in 2 3 4 5 6 7 8 9; do try "passes_$i" 20 20 300 true; done

rc=0
"$work/tree/loom" test unit >"$work/out" 2>&1 || rc=$?
[ "$rc" = 1 ] || fail "exit code $rc: $(cat "$work/out")"
for line in 'loom: timed out: spins: over its 0.4 processor seconds' \
  'loom: timed out: hangs: hanging: no processor time for 2 s' \
  'loom: failed: fails: exit code 3' \
  'loom: failed: crashes: ended by signal 11 (Segmentation fault)' \
  'loom: timed out: dozes: by the clock' \
  'loom: skipped: skips: no reason' \
  'loom: fuzz_files: 3 inputs, LOOM_FUZZ_SEED=1234'; do
  grep -qxF "$line" "$work/out" || fail "'$line' is missing: $(cat "$work/out")"
done
[ "$(grep -cE '^loom: (timed out|failed): ' "$work/out")" = 5 ] || fail "more has failed: $(cat "$work/out")"
for i in 1 2 3 4 5 6 7 8 9 left; do # killed, and not yet taken notice of
  grep -qs '^State:[^Z]*$' "/proc/$(cat "$work/pid")/status" || break
  [ "$i" != left ] || fail "ctest's limit has left a process"
  sleep 0.3
done
grep -A 1 '^loom: .* processor seconds in all tests' "$work/out" | grep -qE '^ +0\.[4-9]  spins$' ||
  fail "spins costs most: $(cat "$work/out")"
[ "$(grep -cE '^ +[0-9]+\.[0-9]  ' "$work/out")" = 10 ] || fail "not ten tests: $(cat "$work/out")"
tail -n 1 "$work/out" | grep -q '^67% tests passed, 5 tests failed out of 15$' || fail "$(tail -n 1 "$work/out")"

"$work/tree/loom" test -R passes unit >"$work/out" 2>&1 || fail "$(cat "$work/out")"
! grep -qE '^loom: (timed out|failed)' "$work/out" || fail "of the run before: $(cat "$work/out")"

# ---- the tree of a preset is configured anew when the presets have changed ----
mkdir "$work/bin"
cat >"$work/bin/cmake" <<EOP
#!/bin/sh
echo "\$*" >>"$work/configured"
echo 'build all: phony' >"$work/tree/build/asan/build.ninja"
EOP
chmod +x "$work/bin/cmake"
cp "$LOOM_SOURCE_DIR/CMakePresets.json" "$work/tree"
# configured TIMES: after this test run, so often in all
configured() {
  PATH=$work/bin:$PATH "$work/tree/loom" test asan >"$work/out" 2>&1 || true # no test has that label
  [ "$(wc -l <"$work/configured")" = "$1" ] || fail "configured $(wc -l <"$work/configured") times, not $1: $(cat "$work/out")"
}
configured 1
configured 1
echo >>"$work/tree/CMakePresets.json"
configured 2
