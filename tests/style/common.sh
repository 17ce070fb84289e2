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

# changed TOOL VERSION OPTIONS...: of the sources on its input those that TOOL has to check anew (changed.py); says how
# many there are.
changed() {
  need python3
  all=$(cat)
  some=$(printf '%s\n' "$all" | python3 "$LOOM_SOURCE_DIR/tests/style/changed.py" "$LOOM_BINARY_DIR" "$@" \
    tests/style/changed.py tests/style/common.sh) || exit 1
  printf '%s: %s of %s sources\n' "$1" "$(printf '%s' "$some" | grep -c .)" "$(printf '%s' "$all" | grep -c .)" >&2
  [ -z "$some" ] || printf '%s\n' "$some"
}
