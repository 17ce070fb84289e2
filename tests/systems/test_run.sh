#!/bin/sh
# run.sh on a small stand-in of the project and of debootstrap: its refusals, when it says that it cannot run,
# and that neither a mount nor a process nor a file is left, however it ends.
set -eu
here=$(dirname "$(readlink -f -- "$0")")
work=$(mktemp -d)
job=''
trap '[ -z "$job" ] || kill -KILL "$job" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
trap 'exit 143' TERM
fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "SKIP: systems_run: $*"; exit 77; }
code() { rc=0; "$@" >"$work/out" 2>&1 </dev/null || rc=$?; echo $rc; }

# ---- refused ----
mkdir "$work/mine" "$work/other"
echo precious >"$work/mine/file"
echo forky >"$work/other/loom-system"
[ "$(code "$here/run.sh" trixie --folder "$work/mine")" = 2 ] || fail "a folder that holds something else is taken"
grep -q 'holds something else' "$work/out" || fail "not said: $(cat "$work/out")"
[ "$(cat "$work/mine/file")" = precious ] || fail "a file of that folder has changed"
[ "$(code "$here/run.sh" trixie --folder "$work/other")" = 2 ] || fail "the folder of another suite is taken"
for arguments in '' whezzy '--limit 0 trixie' '--limit trixie' '--fast trixie' 'trixie forky'; do
  # shellcheck disable=SC2086
  [ "$(code "$here/run.sh" $arguments)" = 2 ] || fail "run.sh $arguments: $(cat "$work/out")"
done

# ---- cannot run ----
mkdir "$work/few"
for program in sh dirname readlink cat id git ls awk; do ln -s "$(command -v "$program")" "$work/few/$program"; done
want='debootstrap is not installed'
[ "$(id -u)" = 0 ] || want='only root makes a system'
[ "$(code env PATH="$work/few" "$here/run.sh" trixie)" = 77 ] || fail "not skipped: $(cat "$work/out")"
grep -q "^SKIP: systems: $want" "$work/out" || fail "without the reason: $(cat "$work/out")"
[ "$(id -u)" = 0 ] || skip "the rest needs root"
if command -v setpriv >/dev/null; then
  mkdir "$work/ours"
  cp "$here"/* "$work/ours" 2>/dev/null || true
  chmod 755 "$work" "$work/ours"
  [ "$(code setpriv --reuid 65534 --regid 65534 --clear-groups "$work/ours/run.sh" trixie)" = 77 ] ||
    fail "runs without root: $(cat "$work/out")"
fi

# ---- a stand-in of the project ----
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || skip "the rest needs debian-archive-keyring"
unshare --mount --pid --fork true 2>/dev/null || skip "the rest needs namespaces"
python=''
for program in "$here/../../.venv/bin/python" /usr/bin/python3 python3; do
  [ -n "$python" ] || ! "$program" -c 'import h5py' 2>/dev/null || python=$program
done
[ -n "$python" ] || skip "the rest needs a Python with h5py"
mkdir -p "$work/project/tests/systems/results" "$work/project/configs" "$work/bin" "$work/tmp" "$work/ccache/trixie"
cp "$here"/*.sh "$here"/*.py "$work/project/tests/systems"
"$python" -c '
import sys, h5py
with h5py.File(sys.argv[1], "w") as log:
    log.attrs["git_commit"] = "0"
    log["frames/x"] = [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]]' "$work/project/log.hdf5"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\002\200\0\0\001\340' >"$work/project/picture"
cat >"$work/project/loom" <<'STUB'
#!/bin/sh
cd "${0%/*}"
case $1 in
  run)
    [ ! -e ../host-waits ] || { echo >../host-waits; while sleep 1.0625; do :; done; }
    mkdir -p out
    cp log.hdf5 "${4:-out/drape.h5}"
    ;;
  render) cp picture drape.png ;;
  test)
    [ -e /proc/self/stat ] && [ -c /dev/null ] && [ -c /dev/pts/ptmx ] && [ -d /dev/shm ] || exit 9
    case $(cat /ccache/how) in
      wait) echo >/ccache/started; while sleep 1.0625; do :; done ;;
      busy) while :; do :; done ;;
      warn) echo "a.c:1:2: warning: no" >&2 ;;
      fail) printf '1/2 Test #1: one ....   Passed  0.01 sec\n2/2 Test #2: two ....***Failed  0.01 sec\n' ;;
    esac
    mkdir -p build/Testing/Temporary
    printf '1/1 Test #1: one ..........   Passed    0.01 sec\n' >build/test.log
    [ "$(cat /ccache/how)" != fail ] || printf '2/2 Test #2: two ....***Failed  0.01 sec\n' >>build/test.log
    ;;
esac
STUB
chmod +x "$work/project/loom"
git="git -C $work/project -c user.name=t -c user.email=t@t"
$git init -q && $git add -A && $git commit -q -m 1
mkdir -p "$work/mirror/dists/trixie"
touch "$work/mirror/dists/trixie/InRelease"
cat >"$work/bin/debootstrap" <<'STUB'
#!/bin/sh
# debootstrap [--OPTION]... SUITE TARGET MIRROR SCRIPT: a system of a few programs of this one.
while case $1 in --*) true ;; *) false ;; esac; do shift; done
mkdir -p "$2/bin" "$2/usr/bin" "$2/etc/ssl" "$2/etc/apt/apt.conf.d" "$2/dev" "$2/root" "$2/tmp"
for program in sh bash env cat cp mkdir sed tr grep sleep; do
  path=$(readlink -f "$(command -v "$program")")
  cp "$path" "$2/bin/$program"
  ldd "$path" | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$2${library%/*}"
    cp -L "$library" "$2$library"
  done
done
ln -s /bin/env "$2/usr/bin/env"
printf '#!/bin/sh\necho .\n' >"$2/bin/dpkg-query"
chmod +x "$2/bin/dpkg-query"
mknod -m 666 "$2/dev/null" c 1 3
printf 'PRETTY_NAME="Debian GNU/Linux 13 (stand-in)"\n' >"$2/etc/os-release"
echo 13.0 >"$2/etc/debian_version"
STUB
chmod +x "$work/bin/debootstrap"

begin() { # HOW OPTION...: run.sh takes the place of this shell
  echo "$1" >"$work/ccache/trixie/how"
  shift
  exec env -u PIP_CERT -u SSL_CERT_FILE -u REQUESTS_CA_BUNDLE PATH="$work/bin:$PATH" TMPDIR="$work/tmp" \
    "$work/project/tests/systems/run.sh" trixie --mirror "file://$work/mirror" --ccache "$work/ccache" "$@"
}
run() { (begin "$@"); }
clean() { # WHEN: no mount, no process, no folder is left, and the folder of objects is whole
  ! grep -q "$work" /proc/self/mountinfo || fail "$1: still mounted: $(grep "$work" /proc/self/mountinfo)"
  ! pgrep -f 'sleep 1[.]0625' >/dev/null || fail "$1: a process is left"
  [ -z "$(ls "$work/tmp")" ] || fail "$1: left behind: $(find "$work/tmp" | head -n 20)"
  [ -s "$work/ccache/trixie/how" ] || fail "$1: the folder of compiled objects was emptied"
}
until_there() {
  n=0
  until [ -s "$1" ]; do
    n=$((n + 1))
    [ "$n" -le 600 ] || fail "$1 does not come: $(cat "$work/out")"
    sleep 0.1
  done
}

[ "$(code run fine --mirror http://127.0.0.1:9/debian)" = 77 ] || fail "no mirror: $(cat "$work/out")"
grep -q '127.0.0.1:9/debian/dists/trixie/InRelease cannot be read' "$work/out" || fail "no reason: $(cat "$work/out")"

[ "$(code run fine --record)" = 0 ] || fail "a good system: $(cat "$work/out")"
clean "after a good run"
result=$work/project/tests/systems/results/trixie.json
for text in '"exit_code": 0' '"same_bits": true' '"passed": 1' '"made_new": true' 'stand-in'; do
  grep -q "$text" "$result" || fail "the result has no $text: $(cat "$result")"
done

[ "$(code run warn)" = 1 ] || fail "a warning passes: $(cat "$work/out")"
grep -q 'FAILED: warning: a.c:1:2: warning: no' "$work/out" || fail "$(cat "$work/out")"
[ "$(code run fail)" = 1 ] || fail "a failed test passes: $(cat "$work/out")"
grep -q 'FAILED: test two: Failed' "$work/out" || fail "$(cat "$work/out")"

touch "$work/project/new"
[ "$(code run fine)" = 77 ] || fail "changes that are not committed: $(cat "$work/out")"
rm "$work/project/new"

[ "$(code run busy --limit 2)" = 1 ] || fail "no limit: $(cat "$work/out")"
grep -q 'FAILED: ended at the limit of 2 s' "$work/out" || fail "the limit: $(cat "$work/out")"
clean "after the limit"

# end_by_sigterm FILE: a run that waits, and has written FILE
end_by_sigterm() {
  begin wait >"$work/out" 2>&1 &
  job=$!
  until_there "$1"
  kill -TERM "$job"
  n=0
  while kill -0 "$job" 2>/dev/null && [ "$n" -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
  [ "$n" -lt 300 ] || fail "SIGTERM does not end it"
  rc=0
  wait "$job" || rc=$?
  job=''
  [ "$rc" = 143 ] || fail "ended by SIGTERM with $rc"
  clean "after SIGTERM"
}
rm -f "$work/ccache/trixie/started"
end_by_sigterm "$work/ccache/trixie/started"
touch "$work/host-waits"
end_by_sigterm "$work/host-waits"
rm "$work/host-waits"

rm -f "$work/ccache/trixie/started"
mkdir "$work/kept"
begin wait --folder "$work/kept" >"$work/out" 2>&1 &
job=$!
until_there "$work/ccache/trixie/started"
[ "$(code run fine --folder "$work/kept")" = 2 ] || fail "two in one folder: $(cat "$work/out")"
kill -KILL "$job"
wait "$job" 2>/dev/null || true
job=''
n=0
while pgrep -f 'sleep 1[.]0625' >/dev/null && [ "$n" -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
clean "after SIGKILL"
[ "$(code run fine --folder "$work/kept")" = 0 ] || fail "taken over after SIGKILL: $(cat "$work/out")"
grep -q '"made_new": false' "$work/kept/trixie.json" || fail "not taken over"

# shellcheck disable=SC2016  # expanded by that shell
[ "$(code unshare --mount sh -c 'mkdir -p "$1/root/mnt/a b" && mount --bind "$2" "$1/root/mnt/a b" &&
  exec "$3/run.sh" trixie --folder "$1"' sh "$work/kept" "$work/mine" "$here")" = 2 ] ||
  fail "a folder with a mount is taken: $(cat "$work/out")"
[ "$(cat "$work/mine/file")" = precious ] || fail "a file of what is mounted there has changed"
