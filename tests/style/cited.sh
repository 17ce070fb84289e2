#!/bin/sh
# All that sources, documents and configs cite is here: every Markdown page that they name.  A name
# alone (README.md, style.md) may stand for a page of any folder.  The page of the data set ccd is
# left out: it stands where the data set does.
. "${0%/*}/common.sh"
pages=$(files '*.md')
[ -n "$pages" ] || { echo "no page was found: the check checks nothing"; exit 1; }
missing=$(files '*.c' '*.h' '*.cu' '*.md' '*.ini' '*.py' '*.sh' '*.txt' '*.cmake' loom |
  xargs grep -noE '[A-Za-z0-9_./%-]*[A-Za-z0-9_-]\.md\b' | grep -vE '%|NAME\.md$|:ccd/README\.md$' |
  while IFS=: read -r file line name; do
    name=$(printf '%s' "$name" | sed 's|^\(\.*/\)*||')
    printf '%s\n' "$pages" | grep -qE "(^|/)$name\$" || echo "$file:$line: $name"
  done)
[ -z "$missing" ] || { echo "cited, but not in the repository:"; echo "$missing"; exit 1; }
