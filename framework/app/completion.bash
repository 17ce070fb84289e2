# shellcheck shell=bash
# Completion for bash: `source framework/app/completion.bash`; then ./loom and loom complete commands, options, names of
# plugins and figures, configurations and logs.  It asks the command itself, and builds nothing.

# The folder of the sources, where the command is the launcher in it; else nothing.
_loom_sources() {
  local folder=${1%/*}
  [ "$folder" != "$1" ] && [ -d "$folder/plugins" ] && printf '%s' "$folder"
}

# Options of a command, as its help names them.
_loom_options() {
  local folder
  folder=$(_loom_sources "$1")
  case $2 in
    render | sweep | table | report | archive | watch | fabric | convert | peer | figure | docs) ;; # need no build
    *) [ -z "$folder" ] || [ -x "${LOOM_BUILD_DIR:-$folder/build}/bin/loom" ] || return ;;
  esac
  "$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# Plugins or figures that the sources hold.
_loom_names() {
  local folder path
  folder=$(_loom_sources "$1") || return
  case $2 in
    describe | contract)
      for path in "$folder"/plugins/{solvers,collision,contact}/*/; do basename "$path"; done
      ;;
    figure) sed -n 's/^    "\([a-z0-9-]*\)": (.*/\1/p' "$folder"/experiments/*/figure.py ;;
  esac
}

_loom_files() { # ENDING PREFIX
  compgen -f -X "!*.$1" -- "$2"
  compgen -d -S / -- "$2"
}

_loom() {
  local loom=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    words=$("$loom" help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  fi
  case $word in
    -*) words=$(_loom_options "$loom" "$command") ;;
    *) words=$(_loom_names "$loom" "$command") ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [ ${#COMPREPLY[@]} = 0 ] || return
  case $command in
    run | check | list | sweep | archive | ssdf-data) mapfile -t COMPREPLY < <(_loom_files ini "$word") ;;
    cite) mapfile -t COMPREPLY < <(_loom_files ini "$word"; _loom_files h5 "$word") ;;
    convert) mapfile -t COMPREPLY < <(for e in usd usda usdc usdz; do _loom_files "$e" "$word"; done | sort -u) ;;
    fabric) mapfile -t COMPREPLY < <(_loom_files csv "$word") ;;
    info | verify | compare | export | render | table | report | watch)
      mapfile -t COMPREPLY < <(_loom_files h5 "$word")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
  case ${COMPREPLY[0]-} in */) compopt -o nospace 2>/dev/null ;; esac
}

complete -F _loom loom ./loom
