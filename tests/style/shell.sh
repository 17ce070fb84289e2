#!/bin/sh
# No finding of shellcheck in any shell script.
. "${0%/*}/common.sh"
need shellcheck
files '*' | while read -r f; do
  head -n 1 "$f" | grep -qE '^#!(/usr)?/bin/(env )?(ba)?sh' && printf '%s\n' "$f"
done | xargs shellcheck -x --source-path=SCRIPTDIR
