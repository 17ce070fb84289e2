#!/bin/sh
# run.sh SUITE: the commands of README.md on another system, beginning without a system.
#
#   tests/systems/run.sh trixie            Debian 13; also bookworm, forky, testing, sid
#   tests/systems/run.sh resolute          Ubuntu 26.04; also jammy, noble, questing
#
# debootstrap makes a minimal system in a scratch folder; the checked-out commit is cloned into it, and there
# `./loom run configs/drape.ini`, `./loom render` and `./loom test` install, build and run all that they need.  The
# result is a file SUITE.json: versions, warnings, tests by name, and how far the drape is from this machine's.
#
#   --folder DIR      make the system there and keep it; a next call takes it over and clones anew (else: a
#                     temporary folder, removed at the end)
#   --mirror URL      packages from there (default: the mirror of apt here)
#   --keyring FILE    the keys that sign the packages (default: of Debian's package debian-archive-keyring, or of
#                     ubuntu-keyring, which Debian has from 13 on)
#   --ccache DIR      keep compiled objects in DIR, one folder for each suite (default: none are kept)
#   --limit SECONDS   processor time after which everything there is ended (default: 9000)
#   --test ARGUMENTS  arguments of `./loom test`, for example 'unit' or '-R log' (default: all tests)
#   --without-test    leave `./loom test` out
#   --record          write tests/systems/results/SUITE.json; page.py --update then renews the page of systems
#
# Exit code 0: the commands ended with 0, no compiler warned, no test failed, and the positions of the drape are
# the same as on this machine to 1e-9 m.  1: one of that does not hold; 77: it cannot run here, with the reason.
# Everything runs in mount and process namespaces of its own: when this script ends, by any signal, the
# kernel ends all processes there, and with the last of them its mounts are gone.
set -eu
here=$(dirname "$(readlink -f -- "$0")")
root=$(readlink -f -- "$here/../..")

skip() { echo "SKIP: systems: $*"; exit 77; }
refuse() { echo "run.sh: $*" >&2; exit 2; }

suite='' folder='' mirror='' keys='' ccache='' limit=9000 tests=all record=''
keep='' job='' entered=0

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --without-test) tests=none ;;
      --record) record=1 ;;
      --folder | --mirror | --keyring | --ccache | --limit | --test)
        [ $# -gt 1 ] || refuse "$1 needs a value"
        case $1 in
          --folder) folder=$2 ;;
          --mirror) mirror=$2 ;;
          --keyring) keys=$2 ;;
          --ccache) ccache=$2 ;;
          --limit) limit=$2 ;;
          --test) tests=$2 ;;
        esac
        shift
        ;;
      -*) refuse "unknown option $1: --folder, --mirror, --keyring, --ccache, --limit, --test, --without-test and --record are known" ;;
      *) [ -z "$suite" ] || refuse "one suite, not $suite and $1"; suite=$1 ;;
    esac
    shift
  done
  case $limit in '' | *[!0-9]* | 0*) refuse "--limit takes seconds, a number from 1, not '$limit'" ;; esac
}

# choose_family: sets script, the file of debootstrap for the family of the suite: it does not know each new name.
choose_family() {
  case $suite in
    bookworm | trixie | forky | testing | sid)
      script=sid components=main keyring=/usr/share/keyrings/debian-archive-keyring.gpg package=debian-archive-keyring
      ;;
    jammy | noble | questing | resolute)
      script=gutsy components=main,universe keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg package=ubuntu-keyring
      ;;
    '') refuse "which suite? usage: run.sh SUITE [OPTION...]; the head of this file describes them" ;;
    *) refuse "unknown suite '$suite': bookworm, trixie, forky, testing, sid, jammy, noble, questing and resolute are known" ;;
  esac
  [ -z "$keys" ] || keyring=$(readlink -m -- "$keys")
}

# is_mounted_below FOLDER: rm would go through a mount, of the same file system even with --one-file-system.
is_mounted_below() {
  awk -v folder="$1/" '{ gsub(/\\040/, " ", $5) } index($5 "/", folder) == 1 { found = 1 } END { exit !found }' \
    /proc/self/mountinfo
}

check_folder() {
  [ -n "$folder" ] || return 0
  folder=$(readlink -m -- "$folder")
  [ ! -e "$folder" ] || [ -d "$folder" ] || refuse "$folder is not a folder"
  if [ -d "$folder" ] && [ -n "$(ls -A -- "$folder")" ] &&
    [ "$(cat "$folder/loom-system" 2>/dev/null)" != "$suite" ]; then
    refuse "$folder holds something else than a system of $suite that this script made: name another folder"
  fi
  ! is_mounted_below "$folder" || refuse "something is mounted in $folder: unmount it, or name another folder"
}

check_machine() {
  [ "$(id -u)" = 0 ] || skip "only root makes a system (chroot and mount)"
  for program in debootstrap unshare setpriv chroot git; do
    command -v "$program" >/dev/null || skip "$program is not installed"
  done
  python=''
  for program in "$root/.venv/bin/python" /usr/bin/python3 python3; do
    [ -n "$python" ] || ! "$program" -c 'import h5py' 2>/dev/null || python=$program
  done
  [ -n "$python" ] || skip "no Python here has h5py (package python3-h5py)"
  [ -r "$keyring" ] || skip "$keyring, which signs $suite, is not here (package $package, or --keyring)"
  unshare --mount --pid --fork true 2>/dev/null || skip "this machine allows no mounts in a namespace of its own"
  commit=$(git -C "$root" rev-parse HEAD 2>/dev/null) || skip "$root is not a git clone"
  [ -z "$(git -C "$root" status --porcelain -- ':!tests/systems/results' ':!framework/doc/systems.md')" ] ||
    skip "there are changes that are not committed; the system gets a clone of the commit"
}

choose_mirror() {
  if [ -z "$mirror" ] && [ $script = gutsy ]; then
    mirror=http://archive.ubuntu.com/ubuntu
  elif [ -z "$mirror" ]; then
    # shellcheck disable=SC2016  # apt's variables
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian/$') ||
      mirror=http://deb.debian.org/debian
  fi
  release=${mirror%/}/dists/$suite/InRelease
  "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=60).read(1)' "$release" 2>/dev/null ||
    skip "$release cannot be read: no network, or another --mirror"
}

# shellcheck disable=SC2317,SC2329  # called by the trap
finish() {
  trap '' INT TERM HUP
  if [ -n "$job" ]; then
    # The first process inside is unshare's child: the kernel ends all others before that one is gone.
    first=$(cat "/proc/$job/task/$job/children" 2>/dev/null) || first=''
    # shellcheck disable=SC2086  # one number and a blank
    kill -KILL ${first:-$job} 2>/dev/null || true
    wait "$job" 2>/dev/null || true
  fi
  if [ -z "$keep" ] && is_mounted_below "$folder"; then
    echo "run.sh: $folder is left, as something is mounted in it" >&2
  elif [ -z "$keep" ]; then
    rm -rf --one-file-system -- "$folder"
  fi
}

open_folder() {
  keep=$folder
  [ -n "$folder" ] || folder=$(mktemp -d "${TMPDIR:-/tmp}/loom-system-XXXXXX")
  mkdir -p "$folder"
  printf '%s\n' "$suite" >"$folder/loom-system"
  # A second call in the same folder would take the system from under the first.
  exec 9>"$folder/lock"
  flock -n 9 || refuse "another run.sh works in $folder"
  trap finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# contain COMMAND...: runs it with mounts and processes of its own, which end with this script.  In the background,
# so that a signal to this script is taken at once.
contain() {
  setpriv --pdeathsig KILL unshare --mount --mount-proc --pid --fork --kill-child "$@" </dev/null 9>&- &
  job=$!
  contained=0
  wait "$job" || contained=$?
  job=''
  return $contained
}

# run_host: this machine's drape of the same commit.
run_host() {
  host=$folder/host-$commit.h5
  [ -f "$host" ] || {
    contain "$root/loom" run "$root/configs/drape.ini" -o "$folder/host-running.h5" --overwrite >"$folder/host.log" 2>&1 || {
      tail -n 20 "$folder/host.log"
      echo "run.sh: the drape failed on this machine" >&2
      exit 1
    }
    mv "$folder/host-running.h5" "$host"
    rm -f -- "$folder/host-running.check.h5" "$folder/host-running.check.prev.h5"
  }
  "$here/versions.sh" >"$folder/host-versions"
}

enter_system() {
  rm -rf --one-file-system -- "$folder/out"
  mkdir -p "$folder/out" ${ccache:+"$ccache/$suite"}
  [ -z "$ccache" ] || ccache=$(readlink -f -- "$ccache/$suite")
  entered=0
  contain env SUITE="$suite" FOLDER="$folder" MIRROR="$mirror" SCRIPT="$script" COMPONENTS="$components" \
    KEYRING="$keyring" CCACHE="$ccache" LIMIT_S="$limit" TESTS="$tests" SOURCE="$root" COMMIT="$commit" HERE="$here" \
    "$here/enter.sh" || entered=$?
  [ "$entered" = 0 ] || echo "run.sh: $suite: what runs inside ended with $entered" >&2
}

report() {
  result=$folder/$suite.json
  verdict=0
  "$python" "$here/result.py" "$folder" "$suite" "$commit" "$result" || verdict=1
  [ "$entered" = 0 ] || verdict=1
  [ -z "$keep" ] || echo "kept: $folder"
  if [ -n "$record" ] && [ -f "$result" ]; then
    cp "$result" "$here/results/$suite.json"
  fi
  exit $verdict
}

main() {
  parse_arguments "$@"
  choose_family
  check_folder
  check_machine
  choose_mirror
  open_folder
  run_host
  enter_system
  report
}

# It exits: the shell does not read this file later, which may change meanwhile.
main "$@"
