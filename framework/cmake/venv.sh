# venv.sh - sourced by ./loom: the Python environment of its tools.
# shellcheck shell=sh
# The launcher sets these variables and reads the others:
# shellcheck disable=SC2154,SC2034

# The Python of render, sweep, table, report and figure: a virtual environment of pinned libraries.  It lies
# below the user's cache under a hash of its pins and its Python, so that all checkouts share it; .venv is a
# link to it.  `requirements.txt` is written into it last: an environment without it is unfinished.

# kept_venv: path of this machine's environment with these pins, whether it exists or not
kept_venv() {
  hash=$({ cat "$pins" && python3 -c 'import sys, sysconfig
print(sys.version, sys.base_prefix, sysconfig.get_platform())'; } | sha256sum | cut -c 1-16)
  printf '%s/venv-%s\n' "${LOOM_VENV_DIR:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/loom}" "$hash"
}

# venv_fits DIR: the environment is finished, has these pins, its Python starts, all its packages are
# there; with check_files=1 each of their files, too.
venv_fits() {
  cmp -s "$pins" "$1/requirements.txt" &&
    "$1/bin/python" -I "$root/framework/cmake/check_venv.py" "$pins" ${check_files:+--files} 2>/dev/null
}

# Of two processes that make it at once, the second waits and finds it finished.
make_venv() {
  ! command -v flock >/dev/null 2>&1 || flock 9
  venv_fits "$1" && return 0
  rm -f "$1/requirements.txt"
  python3 -m venv --clear "$1" &&
    "$1/bin/python" -m pip install --disable-pip-version-check --no-input -r "$pins" &&
    cp "$pins" "$1/requirements.new" && mv "$1/requirements.new" "$1/requirements.txt"
}

link_venv() {
  [ -L "$venv" ] || [ ! -e "$venv" ] || [ -f "$venv/pyvenv.cfg" ] ||
    die "$venv is no Python environment; move it away"
  [ -L "$venv" ] || rm -rf -- "$venv" # an environment inside the checkout, from older versions
  { ln -s "$1" "$venv.$$" && mv -T -- "$venv.$$" "$venv"; } || die "cannot make the link $venv"
}

need_venv() {
  pins=$root/experiments/tools/requirements.txt
  venv=$root/.venv
  venv_fits "$venv" && return 0
  mkdir -p "$build" || die "cannot write $build; set LOOM_BUILD_DIR to another place"
  need_packages python "for pictures and figures"
  command -v python3 >/dev/null 2>&1 || die "python3 was not found; pictures and figures need it"
  kept=$(kept_venv)
  { mkdir -p "$kept" && [ -w "$kept" ]; } 2>/dev/null ||
    die "cannot write $kept; set LOOM_VENV_DIR to a folder for Python environments"
  venv_fits "$kept" || {
    say "making $kept (VTK, h5py, pandas, matplotlib: 1.7 GB, once for all checkouts; may be removed)"
    for other in "${kept%/*}"/venv-*/; do
      [ "${other%/}" = "$kept" ] || [ ! -d "$other" ] ||
        say "${other%/} is of other pins or another Python; remove it if no checkout needs it"
    done
    (make_venv "$kept") 9>"$kept.lock" >"$build/venv.log" 2>&1 </dev/null || {
      tail -n 15 "$build/venv.log" >&2
      die "making the Python environment failed (all of it: $build/venv.log)"
    }
  }
  link_venv "$kept"
}
