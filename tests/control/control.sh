#!/bin/bash
# control.sh PROGRAM FILTER              Criterion tests FILTER of PROGRAM
# control.sh --contract LOOM NAME CHECK  a check of `loom contract`
# with every contact model switched off (LOOM_PLUGIN_PATH, see CMakeLists.txt): succeeds only if
# each of the tests fails.
set -u
count() { sed -n "s/.*$1: \([0-9]*\).*/\1/p" <<<"$summary"; }
if [ "$1" = --contract ]; then
  what="contract $3 $4"
  text=$("$2" contract "$3" --plugin-path "$LOOM_PLUGIN_PATH" --check "$4" 2>&1)
  [ $? = 1 ] && failed=yes || failed=no
  grep -q '^FAIL' <<<"$text" || failed=no
else
  what=$2
  text=$("$1" -j1 --filter "$2" 2>&1)
  summary=$(grep -ao 'Tested: [0-9]*.*' <<<"$text" | tail -1 | sed 's/\x1b\[[0-9;]*m//g')
  tested=$(count Tested) failing=$(count Failing) crashing=$(count Crashing)
  failed=no
  if [ "${tested:-0}" -gt 0 ] && [ "$failing" = "$tested" ] && [ "$crashing" = 0 ]; then failed=yes; fi
fi
if [ "$failed" = yes ]; then
  echo "control: $what fails with the method off, as it must"
  exit 0
fi
printf '%s\n' "$text" | tail -30
echo "control: $what must fail with the method off" >&2
exit 1
