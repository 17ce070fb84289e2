# venv.sh - sourced by ./loom: the Python environment of its tools.
# shellcheck shell=sh
# The launcher sets these variables and reads the others:
# shellcheck disable=SC2154,SC2034

# The Python of render, sweep, table, report and figure: a virtual environment of pinned libraries.  It lies
# below the user's cache under a hash of its pins and its Python, so that all checkouts share it; .venv is a
# link to it.  A command installs the packages of its extra alone (experiments/tools/extras.txt); the next
# command adds those that it lacks, and so goes on where an installation was interrupted.

# pins_of EXTRA...: the lines of `requirements.txt` that these extras need; of `all`: all lines
pins_of() {
  awk -v wanted=" $* " '
    FILENAME == ARGV[1] {
      extra = $1
      if (sub(/:$/, "", extra) && index(wanted, " " extra " "))
        for (i = 2; i <= NF; ++i) needed[$i] = 1
      next
    }
    { name = $0; sub(/[=;[:space:]].*/, "", name) }
    name != "" && name !~ /^#/ && (name in needed || index(wanted, " all "))
  ' "$root/experiments/tools/extras.txt" "$pins"
}

# kept_venv: path of this machine's environment with these pins, whether it exists or not
kept_venv() {
  hash=$({ cat "$pins" && python3 -c 'import sys, sysconfig
print(sys.version, sys.base_prefix, sysconfig.get_platform())'; } | sha256sum | cut -c 1-16)
  printf '%s/venv-%s\n' "${LOOM_VENV_DIR:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/loom}" "$hash"
}

# missing_pins DIR: prints the pins of $wanted that the environment lacks; fails if its Python does not start.
# With check_files=1 a package with a damaged file is missing, too.
missing_pins() {
  printf '%s\n' "$wanted" |
    "$1/bin/python" -I "$root/framework/cmake/check_venv.py" - ${check_files:+--files} 2>/dev/null
  case $? in 0 | 3) return 0 ;; esac
  return 1
}

venv_fits() { lacks=$(missing_pins "$1") && [ -z "$lacks" ]; }

# install_pins DIR PINS: a few packages at a time, so that each finished part stays.
install_pins() {
  count=$(printf '%s\n' "$2" | grep -c .) done=0
  while [ "$done" -lt "$count" ]; do
    printf '%s\n' "$2" | sed -n "$((done + 1)),$((done + batch))p" >"$1/batch.txt"
    names=$(sed 's/[=;[:space:]].*//' "$1/batch.txt" | tr '\n' ' ')
    say "Python packages $((done + 1)) to $((done + batch < count ? done + batch : count)) of $count: ${names% }" 2>&8
    "$1/bin/python" -m pip install --disable-pip-version-check --no-input --no-deps -r "$1/batch.txt" || return 1
    done=$((done + batch))
  done
  rm -f "$1/batch.txt"
}
batch=8

# Of two processes that make it at once, the second waits and finds it finished.
make_venv() {
  ! command -v flock >/dev/null 2>&1 || flock 9
  venv_fits "$1" && return 0
  rm -f "$1/requirements.txt"
  if [ -f "$1/.begun" ] && "$1/bin/python" -m pip --version; then
    "$1/bin/python" -I "$root/framework/cmake/check_venv.py" "$pins" --forget ${check_files:+--files} || return 1
  else
    python3 -m venv --clear "$1" && : >"$1/.begun" || return 1
  fi
  # pip decides about pins with a marker
  lacks=$(missing_pins "$1"; printf '%s\n' "$wanted" | grep ';')
  install_pins "$1" "$lacks" && venv_fits "$1"
}

# Tests of the tools ask for an environment that has all pins: its copy of the list says so.
mark_full() {
  [ "$extras" = all ] || return 0
  cmp -s "$pins" "$1/requirements.txt" || { cp "$pins" "$1/new.$$" && mv "$1/new.$$" "$1/requirements.txt"; }
}

link_venv() {
  [ -L "$venv" ] || [ ! -e "$venv" ] || [ -f "$venv/pyvenv.cfg" ] ||
    die "$venv is no Python environment; move it away"
  [ -L "$venv" ] || rm -rf -- "$venv" # an environment inside the checkout, from older versions
  { ln -s "$1" "$venv.$$" && mv -T -- "$venv.$$" "$venv"; } || die "cannot make the link $venv"
}

# need_venv EXTRA...: afterwards .venv has the packages of these extras.
need_venv() {
  extras=$*
  pins=$root/experiments/tools/requirements.txt
  venv=$root/.venv
  wanted=$(pins_of "$@")
  if venv_fits "$venv"; then
    mark_full "$venv"
    return 0
  fi
  mkdir -p "$build" || die "cannot write $build; set LOOM_BUILD_DIR to another place"
  need_packages python "for pictures and figures"
  command -v python3 >/dev/null 2>&1 || die "python3 was not found; pictures and figures need it"
  kept=$(kept_venv)
  { mkdir -p "$kept" && [ -w "$kept" ]; } 2>/dev/null ||
    die "cannot write $kept; set LOOM_VENV_DIR to a folder for Python environments"
  venv_fits "$kept" || {
    say "making $kept for \`$extras\` (once for all checkouts; may be removed)"
    for other in "${kept%/*}"/venv-*/; do
      [ "${other%/}" = "$kept" ] || [ ! -d "$other" ] ||
        say "${other%/} is of other pins or another Python; remove it if no checkout needs it"
    done
    (make_venv "$kept") 9>"$kept.lock" 8>&2 >"$build/venv.log" 2>&1 </dev/null || {
      tail -n 15 "$build/venv.log" >&2
      die "making the Python environment failed (all of it: $build/venv.log); the next call goes on from there"
    }
  }
  mark_full "$kept"
  link_venv "$kept"
}
