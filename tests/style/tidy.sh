#!/bin/sh
# clang-tidy finds nothing in the framework and the plugins (.clang-tidy says what it seeks).
. "${0%/*}/common.sh"
need clang-tidy
built=$(mktemp) || exit 1
trap 'rm -f "$built"' EXIT
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$LOOM_BINARY_DIR/compile_commands.json" |
  sed "s|^$LOOM_SOURCE_DIR/||" | sort -u >"$built"
# One file per process: version 14 takes va_lists for uninitialised from the second file on.
# GCC-only flags are no defect of the code.
files 'framework/*.c' 'plugins/*.c' | grep -xF -f "$built" |
  xargs -P "$jobs" -n 1 clang-tidy -p "$LOOM_BINARY_DIR" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument 2>&1 |
  { grep -vE '^[0-9]+ warnings? generated|^Suppressed |^Use -header-filter|^$' && exit 1; exit 0; }
