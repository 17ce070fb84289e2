#!/bin/sh
# The Python environment is made once for all checkouts with the same pins.  A command adds the packages of its
# extra, goes on where an installation was cut off, and replaces packages that were removed or damaged.  Here
# python3 only pretends to make an environment, as that takes a minute.
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
  printf '# pins\npart==1.0\nother==2.0 ; python_version < "3"\nlate==3.0\n' >"$work/$1/experiments/tools/requirements.txt"
  printf '# lists\nbase: part\ntable: other part\nwatch: late part\n' >"$work/$1/experiments/tools/extras.txt"
  for stub_tool in table watch; do
    echo 'import os, sys; print(os.path.realpath(sys.prefix))' >"$work/$1/experiments/tools/loomcloth/$stub_tool.py"
  done
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
[ "${3:-}" != --version ] || exit 0
while [ "$1" != -r ]; do shift; done
site=$("${0%/*}/real" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$site"
grep -v ';' "$2" | while IFS='=' read -r name rest; do
  echo "$name" >>"$PIPS"
  [ -z "${NO_NETWORK:-}" ] || { echo 'no network'; exit 1; }
  [ ! -e "$site/$name-${rest#=}.dist-info" ] || continue
  echo 'x = 1' >"$site/$name.py"
  if [ -n "${EGG:-}" ]; then
    mkdir "$site/$name-${rest#=}.egg-info"
    printf '../%s.py\nPKG-INFO\n' "$name" >"$site/$name-${rest#=}.egg-info/installed-files.txt"
    : >"$site/$name-${rest#=}.egg-info/PKG-INFO"
    continue
  fi
  mkdir "$site/$name-${rest#=}.dist-info"
  [ -z "${SLOW:-}" ] || { touch "$SLOW"; sleep 60; }
  printf '%s.py,sha256=0,6\n%s-%s.dist-info/RECORD,,\n' "$name" "$name" "${rest#=}" \
    >"$site/$name-${rest#=}.dist-info/RECORD"
done
EOS
    chmod +x "$4/bin/python"
    ;;
  '-c import sys, sysconfig'*) echo "${FAKE_VERSION:-3.11}" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
EOP
chmod +x "$work/bin/python3"
export PATH="$work/bin:$PATH" MADE="$work/made" PIPS="$work/pips"

# run_tool CHECKOUT TOOL MADE PACKAGES: the tool runs in a kept environment.  Environments were made so many times in
# all, and these packages were installed since the last call.
run_tool() {
  : >"$PIPS"
  "$work/$1/loom" "$2" >"$work/out" 2>"$work/err" || fail "$1: $(cat "$work/err")"
  got=$(cat "$work/out")
  case $got in "$store"/venv-*) ;; *) fail "$1: the tool runs in '$got'" ;; esac
  [ "$(readlink "$work/$1/.venv")" = "$got" ] || fail "$1: .venv is no link to $got"
  [ "$(wc -l <"$MADE")" = "$3" ] || fail "$1: made $(wc -l <"$MADE") times, not $3"
  pips=$(tr '\n' ' ' <"$PIPS")
  [ "${pips% }" = "$4" ] || fail "$1: '${pips% }' were installed, not '$4'"
}
look() { "$1/bin/python" -I "$LOOM_SOURCE_DIR/framework/cmake/check_venv.py" "$2" ${3:+"$3"} 2>/dev/null; }

# ---- two checkouts, one environment; each tool adds its own packages ----
checkout one
checkout two
run_tool one table 1 part
grep -q "making $store/venv-" "$work/err" || fail "not said where: $(cat "$work/err")"
grep -q '^loom: Python packages 1 to 2 of 2: part other$' "$work/err" || fail "no progress: $(cat "$work/err")"
first=$(readlink "$work/one/.venv")
run_tool two table 1 ''
run_tool two table 1 ''
[ ! -s "$work/err" ] || fail "a second time: $(cat "$work/err")"
run_tool two watch 1 late
run_tool one watch 1 ''
[ ! -e "$first/requirements.txt" ] || fail "two tools count as all"

# ---- removed, thinned out, without a network ----
rm -r "$store"
run_tool one table 2 part
rm -r "$first"/lib/python*/site-packages/part-1.0.dist-info
run_tool two table 2 part
: >"$(echo "$first"/lib/python*/site-packages/part.py)"
printf 'part==1.0\n' >"$work/pins"
look "$first" "$work/pins" '' || fail "the quick look opens files"
[ "$(look "$first" "$work/pins" --files)" = part==1.0 ] || fail "a damaged file passes"
rm -r "$store"
! NO_NETWORK=1 "$work/one/loom" table >"$work/out" 2>"$work/err" || fail "made without a network"
grep -q 'no network' "$work/err" || fail "no reason: $(cat "$work/err")"

# ---- cut off between two packages: the first one stays, the other one is installed anew ----
rm -r "$store"
sed -i 's/^table: .*/table: late other part/' "$work/one/experiments/tools/extras.txt"
SLOW=$work/slow setsid "$work/one/loom" watch >"$work/out" 2>&1 &
until [ -e "$work/slow" ]; do sleep 0.05; done
kill -9 "-$!"
first_site=$(echo "$first"/lib/python*/site-packages)
[ -d "$first_site/part-1.0.dist-info" ] || fail "cut off too early"
[ ! -e "$first_site/part-1.0.dist-info/RECORD" ] || fail "not cut off"
run_tool two table 4 part
run_tool one table 4 late
mv "$first/.begun" "$work"
rm -r "$first_site/part-1.0.dist-info"
run_tool one table 5 'part late' # the environment itself was cut off

# ---- two at once ----
rm -r "$store"
"$work/one/loom" table >"$work/out1" 2>&1 & a=$!
"$work/two/loom" table >"$work/out2" 2>&1 & b=$!
wait "$a" || fail "$(cat "$work/out1")"
wait "$b" || fail "$(cat "$work/out2")"
run_tool one table 6 ''

# ---- other pins, another Python; a folder of an old checkout; another place ----
sed -i 's/^part==1.0/part==1.1/' "$work/two/experiments/tools/requirements.txt"
run_tool two table 7 part
[ "$(readlink "$work/two/.venv")" != "$first" ] || fail "the same for other pins"
grep -q "$first is of other pins" "$work/err" || fail "the old one is not named: $(cat "$work/err")"
run_tool one table 7 ''
rm "$work/one/.venv"
mkdir "$work/one/.venv"
! "$work/one/loom" table >"$work/out" 2>"$work/err" || fail "a folder of the user's is taken away"
touch "$work/one/.venv/pyvenv.cfg"
run_tool one table 7 ''
rm "$work/one/.venv"
FAKE_VERSION=3.12 run_tool one table 8 'part late'
LOOM_VENV_DIR=$work/kept "$work/two/loom" table >"$work/out" 2>&1 || fail "$(cat "$work/out")"
[ ! -e "$work/kept" ] || fail "LOOM_VENV_DIR: .venv fits already"
rm "$work/two/.venv"
LOOM_VENV_DIR=$work/kept "$work/two/loom" table >"$work/out" 2>/dev/null || fail "LOOM_VENV_DIR"
grep -q "^$work/kept/venv-" "$work/out" || fail "LOOM_VENV_DIR: $(cat "$work/out")"

# ---- a pip before 23.1 without `wheel` leaves .egg-info folders, as on Debian 12 ----
rm -r "$store"
export EGG=1
run_tool one table 10 'part late'
run_tool one table 10 ''
kept=$(readlink "$work/one/.venv")
rm "$(echo "$kept"/lib/python*/site-packages/part.py)"
[ "$(look "$kept" "$work/pins" --files)" = part==1.0 ] || fail "a file that an egg lacks passes"
