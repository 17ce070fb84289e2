#!/bin/sh
# The methods of configs/methods reach their tolerance in at least 95 % of the first 40 steps of the scenes they
# are shipped with.  LOOM_ENDS_CONFIGS names some of these alone, LOOM_ENDS_STEPS is another number.  vbd, xpbd and
# pd_ipc do not: their files say so.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

ends() { # CONFIG OPTIONS
  name=$1
  shift
  case " ${LOOM_ENDS_CONFIGS:-$name} " in *" $name "*) ;; *) return ;; esac
  if ! "$LOOM_BIN" run "$LOOM_SOURCE_DIR/configs/$name.ini" -n "${LOOM_ENDS_STEPS:-40}" --threads 1 --overwrite \
    -o "$work/log.h5" --set log.audit=off "$@" >"$work/out" 2>"$work/err"; then
    echo "FAILED: $name.ini"
    cat "$work/err"
    failed=1
    return
  fi
  grep -E '(steps converged|did not converge)' "$work/out" | sed "s/^ */$name.ini: /"
  if ! awk '/all [0-9]+ steps converged/ { fine = 1 }
    /of [0-9]+ steps did not converge/ { fine = $1 <= 0.05 * $3 }
    END { exit !fine }' "$work/out"; then
    echo "FAILED: $name.ini: fewer than 95 % of its steps ended at their tolerance"
    failed=1
  fi
}

# The worst step of a run ends at less than the bound that the method file tells in "end at up to N times", and
# at more than half of it.
tells() { # CONFIG METHOD
  case " ${LOOM_ENDS_CONFIGS:-$1} " in *" $1 "*) ;; *) return ;; esac
  most=$(sed -n 's/^;.*end at up to \([0-9,]*\) times.*/\1/p' "$LOOM_SOURCE_DIR/configs/methods/$2.ini" | tr -d ,)
  "$LOOM_BIN" run "$LOOM_SOURCE_DIR/configs/$1.ini" --threads 1 --overwrite -o "$work/log.h5" \
    --set log.audit=off >"$work/out" 2>"$work/err"
  worst=$(sed -n 's/^ *[0-9]* of [0-9]* steps did not converge; the worst ended at \([0-9.e+]*\) times .*/\1/p' "$work/out")
  echo "$1.ini: the worst step ended at ${worst:-?} times its tolerance, $2.ini tells ${most:-?}"
  if ! awk -v worst="${worst:-0}" -v most="${most:-0}" 'BEGIN { exit !(worst < most && worst > 0.5 * most) }'; then
    echo "FAILED: $1.ini: $2.ini tells another bound"
    failed=1
  fi
}

ends hang
ends hang_chebyshev
ends stack
ends drape_subspace --set 'cloth.sheet.resolution=25 25'
ends drape_large --set 'cloth.sheet.resolution=51 51'
ends collide_sheets_dbb
ends collide_sheets_ndb
ends drape_self_dbb
ends drape_self_ndb
ends fold_desk_dbb
ends fold_desk_ndb
ends knot_ndb
ends knot_pd_bfgs
ends twist_pd_bfgs
ends drape_self_pd_bfgs
tells hang_vbd vbd
tells hang_xpbd xpbd
exit $failed
