#!/bin/bash
# Every config that gpu-check runs makes a step on the CPU: a change of defaults fails here, not on the day of a
# device.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export bundle=$LOOM_SOURCE_DIR work
mkdir -p "$work/run" "$work/cache"
# shellcheck source=framework/bundle/scenes.sh
. "$LOOM_SOURCE_DIR/framework/bundle/scenes.sh"
step() { # COMMAND...
  "$@" --device cpu --quiet --overwrite -n 1 -o "$work/out.h5" 2>"$work/told" ||
    { echo "FAILED: $*: $(cat "$work/told")"; exit 1; }
}
loom=$LOOM_BIN

for subspace in none bspline eigen; do
  two_sheets 12 2 3 $subspace 0.5 "$work/out.h5" >"$work/run/two.ini"
  step "$loom" run "$work/run/two.ini"
done
resting_sheets 12 2 3 "$work/out.h5" >"$work/run/resting.ini"
step "$loom" run "$work/run/resting.ini"
while read -r name file set; do
  resting_sheets_by "$file" 12 2 3 "$work/out.h5" >"$work/run/$name.ini"
  # shellcheck disable=SC2086  # no setting, or one
  step "$loom" run "$work/run/$name.ini" ${set:+--set "$set"}
done <<<"$methods_timed"
for scene in drape_self fold_desk; do
  shipped $scene 1 1 "$work/out.h5" >"$work/run/$scene.ini"
  step "$loom" run "$work/run/$scene.ini" --set log.audit=off
done
for name in $compared; do
  step at_small_size "$loom" run "$LOOM_SOURCE_DIR/configs/$name.ini"
done
