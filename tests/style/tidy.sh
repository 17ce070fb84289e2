#!/bin/sh
# clang-tidy has no finding in the framework and the plugins (.clang-tidy lists its checks).
#
# LOOM_TIDY_NODES: how far its analyzer follows a function.  Most of the time goes into a few dozen functions that
# are followed to the usual 225,000; by day a quarter of the time is enough for 40,000 in each.  The test clang_tidy_deep
# goes all the way, in the night.
# LOOM_LINT_ALL: also sources that have not changed since they were seen to be clean (clean.txt, changed.py).
. "${0%/*}/common.sh"
need clang-tidy
recorded clang-tidy "$(clang-tidy --version | sed -n 's/.*version //p')" 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
built=$work/built
# A source of several targets stands in the list once: clang-tidy would check each in one process.
need python3
python3 - "$LOOM_BINARY_DIR/compile_commands.json" "$work/compile_commands.json" <<'EOP' || exit 1
import json
import sys

commands = {command["file"]: command for command in reversed(json.load(open(sys.argv[1])))}
json.dump(list(commands.values()), open(sys.argv[2], "w"))
EOP
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$LOOM_BINARY_DIR/compile_commands.json" |
  sed "s|^$LOOM_SOURCE_DIR/||" | sort -u >"$built"
# One file per process: version 14 takes va_lists for uninitialised from the second file on.
# GCC-only flags are no defect of the code.  The output of a process is filtered as a whole, for lines of
# two processes may mix.
export work
export depth="max-nodes=${LOOM_TIDY_NODES:-225000}"
list=$work/list
files 'framework/*.c' 'plugins/*.c' | grep -xF -f "$built" >"$list"
changed "$list" clang-tidy "$kept" .clang-tidy tests/style/tidy.sh
# shellcheck disable=SC2016
xargs -r -P "$jobs" -n 1 sh -c '
    said=$(clang-tidy -p "$work" --quiet \
      --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg="$depth" \
      --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument "$1" 2>&1 |
      grep -vE "^[0-9]* ?warnings? generated|^Suppressed |^Use -header-filter|^$")
    [ -z "$said" ] || printf "%s\n" "$said"' sh <"$list" |
  { grep . && exit 1; exit 0; }
