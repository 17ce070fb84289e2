#!/bin/sh
# Every config of configs/ and experiments/ passes `loom check`, or is a part that a figure completes: an include
# without a solver, an object or a file, a replay without its reference, the specification of a sweep.  None has a
# membrane that locks.
set -u
cd "$LOOM_SOURCE_DIR" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
part='there is no \[solver\] section|no object to simulate|shape: needs the key file|replay_first: it needs \[run\] replay'
part="$part|\\[body\\.ball\\] meets no contact|there is no collision plugin 'fx_"
failed=0 whole=0 parts=0
for config in configs/*.ini experiments/*/*.ini; do
  grep -q '^\[\(grid\|set\)\]' "$config" && continue
  if "$LOOM_BIN" check "$config" >/dev/null 2>"$work/told"; then
    whole=$((whole + 1))
  elif grep -qE "$part" "$work/told"; then
    parts=$((parts + 1))
  else
    echo "FAILED: $config"
    cat "$work/told"
    failed=1
  fi
  if grep 'come out too stiff' "$work/told"; then
    echo "FAILED: $config has cells that lock"
    failed=1
  fi
done
echo "$whole configs, $parts parts of configs"
[ "$whole" -ge 90 ] || { echo "FAILED: too few were whole"; failed=1; }
exit "$failed"
