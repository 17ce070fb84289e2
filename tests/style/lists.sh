#!/bin/sh
# Every C file is built, or at least named in a CMakeLists.txt (the CUDA build has its own
# files), and none has more than 600 lines.  The README counts the plugins of each kind.
. "${0%/*}/common.sh"
fail=0
named=$(files '*CMakeLists.txt' | xargs cat)
unbuilt=$(files 'framework/*.c' 'plugins/*.c' 'tests/*.c' | grep -v '^framework/doc/' |
  while read -r f; do
    grep -qF "\"$LOOM_SOURCE_DIR/$f\"" "$LOOM_BINARY_DIR/compile_commands.json" ||
      printf '%s\n' "$named" | grep -qwF -- "${f##*/}" || echo "$f"
  done)
[ -z "$unbuilt" ] || { echo "in no CMakeLists.txt:"; echo "$unbuilt"; fail=1; }

long=$(files '*.c' '*.h' '*.cu' '*.py' '*.sh' loom | while read -r f; do
  n=$(wc -l <"$f")
  [ "$n" -le 600 ] || echo "$f: $n lines"
done)
[ -z "$long" ] || { echo "more than 600 lines; one subject each:"; echo "$long"; fail=1; }

count() { find "plugins/$1" -mindepth 1 -maxdepth 1 -type d | wc -l; }
plugins="- $(count solvers) solvers, $(count collision) collision and $(count contact) contact methods,"
grep -qF -- "$plugins" README.md ||
  { echo "README.md does not say: $plugins"; fail=1; }
exit $fail
