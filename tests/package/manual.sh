#!/bin/bash
# The manual page: it formats without a warning, and names all commands and exit codes that there are.
set -eu
cd "$LOOM_SOURCE_DIR"
page=framework/doc/loom.1
fail() { echo "FAILED: $*"; exit 1; }

if command -v groff >/dev/null; then
  said=$(groff -man -Tutf8 -ww -rLL=100n -z $page 2>&1)
  [ -z "$said" ] || fail "$said"
fi
commands=$("$LOOM_BIN" help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
[ -n "$commands" ] || fail "loom help names no commands"
for command in $commands; do
  grep -qE "^\.B $command( \*)?$" $page || fail "the command $command is not in $page"
done
list=framework/doc/exit-codes.md
codes=$(sed -n 's/^| \([0-9]\) .*/\1/p' $list)
[ -n "$codes" ] || fail "$list names no exit codes"
for code in $codes; do
  grep -q "^\.B $code$" $page || fail "the exit code $code of $list is not in $page"
done
grep -q "^\.B untold$" $page && fail "the control"
[ "$(sed -n 's/^\.TH .*"loom \(.*\)" .*/\1/p' $page)" = "$("$LOOM_BIN" --version | cut -d' ' -f2)" ] ||
  fail "the version of $page is another one"
