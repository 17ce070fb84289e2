#!/bin/sh
# record.sh - has everything checked by clang-tidy and cppcheck, as by day, and writes into clean.txt at which
# commit they had no finding.  From then on they check by day the sources that have changed since.
#
#   tests/style/record.sh [BUILD]     BUILD: a tree that `./loom test` has made (default: build)
set -eu
cd "${0%/*}/../.."
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "record.sh: commit your changes first" >&2; exit 1; }
LOOM_SOURCE_DIR=$PWD
LOOM_BINARY_DIR=$(readlink -f "${1:-build}")
export LOOM_SOURCE_DIR LOOM_BINARY_DIR LOOM_LINT_ALL=1 LOOM_LINT_NEW=1
ninja -C "$LOOM_BINARY_DIR" all >/dev/null
LOOM_TIDY_NODES=40000 tests/style/tidy.sh
tests/style/cppcheck.sh
commit=$(git rev-parse HEAD)
tidy=$(clang-tidy --version | sed -n 's/.*version //p') cpp=$(cppcheck --version | sed 's/Cppcheck //')
{
  sed -n '/^#/p' tests/style/clean.txt
  # lines of other versions stay
  grep -vE "^#| clang-tidy ${tidy%%.*}(\.|\$)| cppcheck $(printf '%s' "$cpp" | cut -d . -f 1-2)(\.|\$)" tests/style/clean.txt || true
  echo "$commit clang-tidy $tidy"
  echo "$commit cppcheck $cpp"
} >tests/style/clean.txt.new
mv tests/style/clean.txt.new tests/style/clean.txt
