#!/bin/sh
# The Python environment is made once for all checkouts with the same pins, never left half made, and made
# again when it was removed or damaged.  Here python3 only pretends to make one, as that takes a minute.
set -eu
. "${0%/*}/../support/stub.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_BUILD_DIR LOOM_VENV_DIR LOOM_TEST_VENV LOOM_CMAKE_ARGS LOOM_CUDA || true
export LOOM_NO_INSTALL=1 XDG_CACHE_HOME="$work/cache" REAL_PYTHON="${PYTHON:-/usr/bin/python3}"
store=$XDG_CACHE_HOME/loom

fail() { echo "FAILED: $*"; exit 1; }

# ---- checkouts with a tool that says where it runs ----
checkout() {
  stub_checkout "$work/$1" OFF
  mkdir -p "$work/$1/experiments/tools/loomcloth"
  printf 'part==1.0\nother==2.0 ; python_version < "3"\n' >"$work/$1/experiments/tools/requirements.txt"
  echo 'import os, sys; print(os.path.realpath(sys.prefix))' >"$work/$1/experiments/tools/loomcloth/table.py"
}

# ---- a python3 with small environments, quickly made ----
mkdir "$work/bin"
cat >"$work/bin/python3" <<'EOP'
#!/bin/sh
case "$*" in
  '-m venv --clear '*)
    echo made >>"$MADE"
    rm -rf "$4"/*
    "$REAL_PYTHON" -m venv --without-pip "$4"
    mv "$4/bin/python" "$4/bin/real"
    cat >"$4/bin/python" <<'EOS'
#!/bin/sh
[ "$1 ${2:-}" = '-m pip' ] || exec "${0%/*}/real" "$@"
[ -z "${SLOW:-}" ] || { touch "$SLOW"; sleep 60; }
[ -z "${NO_NETWORK:-}" ] || { echo 'no network'; exit 1; }
site=$("${0%/*}/real" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$site"
echo 'x = 1' >"$site/part.py"
if [ -n "${EGG:-}" ]; then
  mkdir "$site/Part-1.0.egg-info"
  printf '../part.py\nPKG-INFO\n' >"$site/Part-1.0.egg-info/installed-files.txt"
  : >"$site/Part-1.0.egg-info/PKG-INFO"
  exit 0
fi
mkdir -p "$site/Part-1.0.dist-info"
printf 'part.py,sha256=0,6\nPart-1.0.dist-info/RECORD,,\n' >"$site/Part-1.0.dist-info/RECORD"
EOS
    chmod +x "$4/bin/python"
    ;;
  '-c import sys, sysconfig'*) echo "${FAKE_VERSION:-3.11}" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
EOP
chmod +x "$work/bin/python3"
export PATH="$work/bin:$PATH" MADE="$work/made"

# tool CHECKOUT TIMES: the tool runs in a kept environment, which was made so many times in all
tool() {
  "$work/$1/loom" table >"$work/out" 2>"$work/err" || fail "$1: $(cat "$work/err")"
  got=$(cat "$work/out")
  case $got in "$store"/venv-*) ;; *) fail "$1: the tool runs in '$got'" ;; esac
  [ "$(readlink "$work/$1/.venv")" = "$got" ] || fail "$1: .venv is no link to $got"
  [ "$(wc -l <"$MADE")" = "$2" ] || fail "$1: made $(wc -l <"$MADE") times, not $2"
}

# ---- two checkouts, one environment ----
checkout one
checkout two
tool one 1
grep -q "making $store/venv-" "$work/err" || fail "not said where: $(cat "$work/err")"
first=$(readlink "$work/one/.venv")
tool two 1
tool two 1
[ ! -s "$work/err" ] || fail "a second time: $(cat "$work/err")"

# ---- removed, thinned out, cut off, without a network ----
rm -r "$store"
tool one 2
rm -r "$first"/lib/python*/site-packages/Part-1.0.dist-info
tool two 3
: >"$(echo "$first"/lib/python*/site-packages/part.py)"
"$work/one/.venv/bin/python" -I "$LOOM_SOURCE_DIR/framework/cmake/check_venv.py" \
  "$work/one/experiments/tools/requirements.txt" 2>/dev/null || fail "the quick look opens files"
! "$work/one/.venv/bin/python" -I "$LOOM_SOURCE_DIR/framework/cmake/check_venv.py" \
  "$work/one/experiments/tools/requirements.txt" --files 2>/dev/null || fail "a damaged file passes"
rm -r "$store"
! NO_NETWORK=1 "$work/one/loom" table >"$work/out" 2>"$work/err" || fail "made without a network"
grep -q 'no network' "$work/err" || fail "no reason: $(cat "$work/err")"
SLOW=$work/slow setsid "$work/one/loom" table >"$work/out" 2>&1 &
until [ -e "$work/slow" ]; do sleep 0.05; done
kill -9 "-$!"
tool two 6
tool one 6

# ---- two at once ----
rm -r "$store"
"$work/one/loom" table >"$work/out1" 2>&1 & a=$!
"$work/two/loom" table >"$work/out2" 2>&1 & b=$!
wait "$a" || fail "$(cat "$work/out1")"
wait "$b" || fail "$(cat "$work/out2")"
tool one 7

# ---- other pins, another Python; a folder of an old checkout; another place ----
echo 'plain==1' | sed 's/.*/# changed/' >>"$work/two/experiments/tools/requirements.txt"
tool two 8
[ "$(readlink "$work/two/.venv")" != "$first" ] || fail "the same for other pins"
grep -q "$first is of other pins" "$work/err" || fail "the old one is not named: $(cat "$work/err")"
tool one 8
rm "$work/one/.venv"
mkdir "$work/one/.venv"
! "$work/one/loom" table >"$work/out" 2>"$work/err" || fail "a folder of the user's is taken away"
touch "$work/one/.venv/pyvenv.cfg"
tool one 8
rm "$work/one/.venv"
FAKE_VERSION=3.12 tool one 9
LOOM_VENV_DIR=$work/kept "$work/two/loom" table >"$work/out" 2>&1 || fail "$(cat "$work/out")"
[ ! -e "$work/kept" ] || fail "LOOM_VENV_DIR: .venv fits already"
rm "$work/two/.venv"
LOOM_VENV_DIR=$work/kept "$work/two/loom" table >"$work/out" 2>/dev/null || fail "LOOM_VENV_DIR"
grep -q "^$work/kept/venv-" "$work/out" || fail "LOOM_VENV_DIR: $(cat "$work/out")"

# ---- a pip before 23.1 without `wheel` leaves .egg-info folders, as on Debian 12 ----
rm -r "$store"
export EGG=1
tool one 11
tool one 11
rm "$(echo "$(readlink "$work/one/.venv")"/lib/python*/site-packages/part.py)"
! "$work/one/.venv/bin/python" -I "$LOOM_SOURCE_DIR/framework/cmake/check_venv.py" \
  "$work/one/experiments/tools/requirements.txt" --files 2>/dev/null || fail "a file that an egg lacks passes"
