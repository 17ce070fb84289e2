#!/bin/bash
# Completion by bash: words that are offered after some beginnings, and none after others.
set -eu
cd "$LOOM_SOURCE_DIR"
# shellcheck source=/dev/null
source framework/app/completion.bash
fail() { echo "FAILED: $*"; exit 1; }

offered() { # WORDS...: words that are offered for the last of them
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _loom 2>/dev/null
  printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

expect() { # WANTED WORDS...
  local wanted=$1 found
  shift
  found=$(offered "$@")
  [ "$found" = "$wanted" ] || fail "$*: '$found', not '$wanted'"
}

expect 'render report run ' ./loom r
expect 'render report run ' "$LOOM_BIN" r
expect 'archive ' ./loom arch
expect 'configs/drape_self_cama.ini ' ./loom cite configs/drape_self_c
expect ' ' ./loom xyz
expect '--max-time ' "$LOOM_BIN" run configs/drape.ini --max
expect '--save-camera ' ./loom render --save
expect 'cholmod_newton cholmod_pd ' ./loom describe chol
expect 'residual-calibration residual-calibration-bars ' ./loom figure residual
expect 'configs/scenes/trousers.ini ' ./loom run configs/scenes/trous
expect 'configs/ ' ./loom run confi
expect ' ' ./loom info README # no log is called so
complete -p ./loom | grep -q -- '-F _loom' || fail "not bound"
