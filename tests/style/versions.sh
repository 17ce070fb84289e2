#!/bin/sh
# clang-tidy and cppcheck decide in the versions that clean.txt has, and the others are skipped with a reason.
. "${0%/*}/common.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
fail() { echo "FAILED: $*"; exit 1; }
# says VERSION SCRIPT CODE: with tools of that version, which have no finding, SCRIPT ends so.
says() {
  for tool in 'clang-tidy LLVM version' 'cppcheck Cppcheck'; do
    printf '#!/bin/sh\ncase $* in *--version*) echo "%s" ;; esac\n' "${tool#* } $1" >"$work/bin/${tool%% *}"
    chmod +x "$work/bin/${tool%% *}"
  done
  rc=0
  PATH=$work/bin:$PATH "tests/style/$2" >"$work/out" 2>&1 || rc=$?
  [ "$rc" = "$3" ] || { cat "$work/out"; fail "$2 with version $1: $rc, not $3"; }
}
[ -f "$LOOM_BINARY_DIR/compile_commands.json" ] || skip "versions.sh: no build"
says 99.1.2 tidy.sh 77
grep -q '^SKIP: tidy.sh: clang-tidy 14.* this is 99.1.2$' "$work/out" || fail "$(cat "$work/out")"
says 99.1.2 cppcheck.sh 77
grep -q '^SKIP: cppcheck.sh: cppcheck 2\.10.* this is 99.1.2$' "$work/out" || fail "$(cat "$work/out")"
says 2.1 cppcheck.sh 77
says 14.9.9 tidy.sh 0
says 2.10.1 cppcheck.sh 0
