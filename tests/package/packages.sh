#!/bin/sh
# The launcher and the system's packages, with an apt-get and a dpkg-query of our own: of names that stand for one
# another it takes the one that the system has, it waits for the locks, and it configures afresh for another compiler.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fresh=$work/loom
mkdir -p "$fresh/framework/cmake" "$work/bin"
cp "$LOOM_SOURCE_DIR/loom" "$fresh/"
cp "$LOOM_SOURCE_DIR/CMakeLists.txt" "$fresh/"
cp "$LOOM_SOURCE_DIR/framework/cmake/venv.sh" "$fresh/framework/cmake/"
fail() { echo "FAILED: $*"; exit 1; }

# ---- a system: files that name the installed packages and the packages of its lists ----
: >"$work/installed"
: >"$work/known"
cat >"$work/bin/dpkg-query" <<END
#!/bin/sh
for name; do :; done
grep -qx "\$name" "$work/installed" && printf 'ii '
END
cat >"$work/bin/apt-cache" <<END
#!/bin/sh
if grep -qx "\$2" "$work/known"; then echo "\$2:"; echo "  Candidate: 1.2-3"; else printf '%s:\n  Candidate: (none)\n' "\$2"; fi
END
# update fails as often as "busy" says, as apt-get does while another one holds the lists, then learns all names.
cat >"$work/bin/apt-get" <<END
#!/bin/sh
echo "\$*" >>"$work/calls"
case " \$* " in
  *' update '*)
    left=\$(cat "$work/busy" 2>/dev/null || echo 0)
    if [ "\$left" -gt 0 ]; then
      echo \$((left - 1)) >"$work/busy"
      echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)'
      exit 100
    fi
    cat "$work/learns" >"$work/known"
    ;;
  *' install '*)
    for name; do
      case \$name in -* | install | DPkg::*) continue ;; esac
      grep -qx "\$name" "$work/known" || { echo "E: Unable to locate package \$name"; exit 100; }
      echo "\$name" >>"$work/installed"
    done
    ;;
esac
END
cat >"$work/bin/id" <<'END'
#!/bin/sh
echo 0
END
# cmake notes its arguments and makes the files that the launcher looks for; ninja has no work.
cat >"$work/bin/cmake" <<END
#!/bin/sh
echo "CC=\${CC:-} \$*" >>"$work/configured"
mkdir -p "$fresh/build/bin"
: >"$fresh/build/build.ninja"
printf '#!/bin/sh\necho ran\n' >"$fresh/build/bin/loom"
chmod +x "$fresh/build/bin/loom"
END
printf '#!/bin/sh\necho "ninja: no work to do."\n' >"$work/bin/ninja"
chmod +x "$work"/bin/*
cat >"$fresh/framework/cmake/packages.txt" <<'END'
# GROUP PACKAGE WHY
build  compiler     compiles
build  old|new      draws
test   more         tests
END
cd "$fresh"
unset LOOM_NO_INSTALL LOOM_CMAKE_ARGS LOOM_BUILD_DIR CC CFLAGS || true
export LOOM_CUDA=OFF PATH="$work/bin:$PATH"
reset() { # KNOWN-TO-THE-SYSTEM...
  rm -rf build "$work/calls" "$work/configured" "$work/busy"
  : >"$work/installed"
  : >"$work/known"
  printf '%s\n' "$@" >"$work/learns"
}
run() { # VARIABLE=VALUE...
  rc=0
  env "$@" ./loom list >"$work/out" 2>"$work/err" </dev/null || rc=$?
}

# ---- one of several ----
reset compiler old new
run
[ "$rc" = 0 ] || fail "both are there: $(cat "$work/err")"
grep -q 'install.* compiler old$' "$work/calls" || fail "not the first one: $(cat "$work/calls")"
reset compiler new
run
[ "$rc" = 0 ] || fail "the first is unknown here: $(cat "$work/err")"
grep -q 'install.* compiler new$' "$work/calls" || fail "not the one that is known: $(cat "$work/calls")"
for there in old new; do
  reset compiler old new
  printf '%s\n' compiler $there >"$work/installed"
  run
  [ "$rc" = 0 ] || fail "$there is there: $(cat "$work/err")"
  [ ! -e "$work/calls" ] || fail "$there is there: $(cat "$work/calls")"
done
reset compiler
run
[ "$rc" = 1 ] || fail "none is known, and nothing is said"
grep -q 'Unable to locate package old' "$work/err" || fail "not said: $(cat "$work/err")"
reset compiler new
cp "$work/learns" "$work/known"
run LOOM_NO_INSTALL=1
[ "$rc" = 1 ] || fail "LOOM_NO_INSTALL"
grep -q 'as root: apt-get install compiler new$' "$work/err" || fail "another command: $(cat "$work/err")"
[ ! -e "$work/calls" ] || fail "LOOM_NO_INSTALL installs: $(cat "$work/calls")"

# ---- locks ----
reset compiler old
run
[ "$(grep -c 'DPkg::Lock::Timeout=[1-9]' "$work/calls")" = 2 ] || fail "no time for locks: $(cat "$work/calls")"
reset compiler old
echo 1 >"$work/busy"
run
[ "$rc" = 0 ] || fail "the lists were busy for a moment: $(cat "$work/err")"
grep -q 'waiting for it' "$work/err" || fail "it waits without a word"
[ "$(grep -c update "$work/calls")" = 2 ] || fail "$(cat "$work/calls")"

# ---- another compiler ----
reset compiler old
run
run CC=''
[ "$(grep -c . "$work/configured")" = 1 ] || fail "configured twice: $(cat "$work/configured")"
run CC=clang
tail -n 1 "$work/configured" | grep -q '^CC=clang .*--fresh' || fail "clang: $(cat "$work/configured")"
run CC=clang
[ "$(grep -c . "$work/configured")" = 2 ] || fail "configured again: $(cat "$work/configured")"
run
tail -n 1 "$work/configured" | grep -q '^CC= .*--fresh' || fail "the usual one: $(cat "$work/configured")"
run CFLAGS=-g HDF5_ROOT=/opt/hdf5
[ "$(grep -c -e --fresh "$work/configured")" = 3 ] || fail "CFLAGS: $(cat "$work/configured")"
run LOOM_CMAKE_ARGS='-DA=1 '
run LOOM_CMAKE_ARGS='-DA=1 '
[ "$(grep -c . "$work/configured")" = 5 ] || fail "a blank at the end: $(cat "$work/configured")"
