#!/bin/sh
# run_limited ends processes that spin, sleep for ever or hide, and tells each end from the others.
set -eu
runner=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LOOM_TEST_RECORD="$work/record"

failed=0
fail() { echo "FAILED: $*"; failed=1; }

# expect CODE RECORD COMMAND...: with `limit` s of processor time, and 2 s without any, COMMAND ends with this code,
# and with this verdict, name and detail in its record.
limit=0.4
expect() {
  code=$1 want=$2
  shift 2
  rm -f "$LOOM_TEST_RECORD"
  rc=0
  "$runner" tried $limit 2 "$@" >"$work/out" 2>&1 || rc=$?
  [ "$rc" = "$code" ] || fail "$*: exit code $rc, not $code"
  got=$(cut -f 1,2,5 "$LOOM_TEST_RECORD" | tr '\t' '|')
  [ "$got" = "$want" ] || fail "$*: '$got', not '$want'"
}

# is_gone FILE: neither process with a number in FILE is there (a number is not given again that soon)
is_gone() {
  [ -s "$1" ] || fail "$1 was not written"
  while read -r pid; do
    [ ! -e "/proc/$pid" ] || fail "$2: process $pid has outlived its test"
  done <"$1"
}

spin='while :; do :; done'
over='timeout|tried|over its 0.4 processor seconds'
hangs='timeout|tried|hanging: no processor time for 2 s'

# ---- ends of their own ----
expect 0 'passed|tried|' true
expect 3 'failed|tried|exit code 3' sh -c 'exit 3'
expect 77 'skipped|tried|' sh -c 'exit 77'
expect 139 'failed|tried|ended by signal 11 (Segmentation fault)' sh -c 'kill -SEGV $$'
expect 134 'failed|tried|ended by signal 6 (Aborted)' sh -c 'kill -ABRT $$'
expect 127 'failed|tried|exit code 127' "$work/is-not-there"
grep -q "cannot run $work/is-not-there: No such file" "$work/out" || fail "not said: $(cat "$work/out")"
for arguments in 'tried 1 2' 'tried 0 2 true' 'tried 1 none true'; do
  rc=0
  # shellcheck disable=SC2086
  "$runner" $arguments 2>/dev/null || rc=$?
  [ "$rc" = 2 ] || fail "run_limited $arguments: exit code $rc"
done

# ---- over the limit ----
expect 124 "$over" sh -c "$spin"
grep -q 'tried: over its 0.4 processor seconds' "$work/out" || fail "not said: $(cat "$work/out")"
used=$(cut -f 3 "$LOOM_TEST_RECORD")
case $used in 0.[4-9]*) ;; *) fail "$used processor seconds were used of 0.4" ;; esac
# a grandchild, waited for; one in a session of its own, after its parent has ended
expect 124 "$over" sh -c "sh -c 'echo \$\$; $spin' >'$work/pids'; true"
is_gone "$work/pids" 'a grandchild'
expect 124 "$over" sh -c "setsid sh -c 'echo \$\$; $spin' >'$work/pids' & exec sleep 60"
is_gone "$work/pids" 'a daemon'
# hundreds of short ones, none of which uses much
expect 124 "$over" sh -c 'while :; do (:) ; /bin/true; done'

# ---- hanging ----
expect 124 "$hangs" sleep 60
expect 124 "$hangs" sh -c "sleep 60 & echo \$! >'$work/pids'; wait"
is_gone "$work/pids" 'a sleeping child'
grep -q '^  [0-9]* S sleep 60' "$work/out" || fail "it is not said which process hung: $(cat "$work/out")"
expect 124 "$hangs" sh -c 'kill -STOP $$'
# waiting with some work now and then is none; processor time is told in hundredths of a second, so the work takes several
rc=0
"$runner" tried 30 1 sh -c 'for i in 1 2 3 4 5 6 7 8; do
  sleep 0.4
  for k in 1 2 3 4 5 6 7 8; do for l in 1 2 3 4 5 6 7 8; do /bin/true; done; done
done' >"$work/out" 2>&1 || rc=$?
[ "$rc" = 0 ] || fail "it worked now and then: $(cat "$work/out")"

# ---- processes that a test leaves behind ----
expect 0 'passed|tried|' sh -c "sleep 60 & echo \$! >'$work/pids'"
is_gone "$work/pids" 'a process left behind'
grep -q 'left these processes' "$work/out" || fail "not said: $(cat "$work/out")"

# ---- an interrupt ends all ----
rm -f "$LOOM_TEST_RECORD" "$work/pids"
"$runner" tried 60 60 sh -c "sleep 60 & echo \$! >'$work/pids'; wait" &
waits=$!
until [ -s "$work/pids" ]; do sleep 0.05; done
kill -TERM "$waits"
rc=0
wait "$waits" || rc=$?
[ "$rc" = 143 ] || fail "interrupted: exit code $rc"
is_gone "$work/pids" 'a child of an interrupted test'
grep -q '^interrupted' "$LOOM_TEST_RECORD" || fail "interrupted: $(cat "$LOOM_TEST_RECORD")"

# ---- records ----
rm -f "$LOOM_TEST_RECORD"
expect 0 'passed|tried|' "$runner" inner 1 2 true # a test that runs tests records itself alone
[ "$(wc -l <"$LOOM_TEST_RECORD")" = 1 ] || fail "inner records: $(cat "$LOOM_TEST_RECORD")"
exit $failed
