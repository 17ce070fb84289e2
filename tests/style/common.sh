# common.sh - sourced by the checks of this folder; each runs from the source directory.
# shellcheck shell=sh
set -u
cd "${LOOM_SOURCE_DIR:?is set by CTest}" || exit 1
jobs=$(nproc)

# The files of the project that match the patterns: known to git, or not ignored by it.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do
      [ -f "$f" ] && printf '%s\n' "$f"
    done | sort -u
  else
    for pattern in "$@"; do
      find framework plugins tests loom .ci -type f -path "*${pattern#\*}"
    done | sort -u
  fi
}

# skip REASON: CTest counts the check as not run, `./loom test` prints the reason.
skip() {
  printf 'SKIP: %s\n' "$*"
  exit 77
}

need() { command -v "$1" >/dev/null 2>&1 || skip "${0##*/}: $1 is not installed"; }

# recorded TOOL VERSION PARTS: sets kept to the first PARTS parts of the version, of which clean.txt has to have a line:
# another version has other findings, so it does not decide.  record.sh sets LOOM_LINT_NEW to begin with one.
recorded() {
  kept=$(printf '%s' "$2" | cut -d . -f "1-$3")
  [ -z "${LOOM_LINT_NEW:-}" ] || return 0
  grep -q " $1 $kept\(\.\|\$\)" tests/style/clean.txt ||
    skip "${0##*/}: $1 $(sed -n "s/^[0-9a-f]* $1 //p" tests/style/clean.txt | cut -d . -f "1-$3" | sort -uV |
      paste -sd ' ' | sed 's/ / and /g') decides, this is $2"
}

# changed LIST TOOL VERSION OPTIONS...: of the sources in the file LIST, one a line, leaves the sources that TOOL has to check
# anew (changed.py); says how many.  Not for a pipe: there the check would go on where this ends it.
changed() {
  need python3
  list=$1 tool=$2
  shift
  [ -s "$list" ] || { echo "$tool: there are no sources"; exit 1; }
  python3 tests/style/changed.py "$LOOM_BINARY_DIR" "$@" tests/style/changed.py tests/style/common.sh <"$list" \
    >"$list.changed" || exit 1
  printf '%s: %s of %s sources\n' "$tool" "$(grep -c . "$list.changed")" "$(grep -c . "$list")" >&2
  mv "$list.changed" "$list"
}
