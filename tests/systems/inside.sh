#!/bin/bash
# inside.sh: in the new system, as run.sh has it: the commands of README.md one after the other.  In /results:
# NAME.out, NAME.err, NAME.rc (exit code), NAME.time (seconds: real, user, sys); files that the tests wrote; versions.
cd /root/loom || exit 1

step() {
  local name=$1
  shift
  echo "inside.sh: $*"
  echo "$*" >"/results/$name.command"
  { time -p "$@" >"/results/$name.out" 2>"/results/$name.err" </dev/null; } 2>"/results/$name.time"
  local rc=$?
  echo "$rc" >"/results/$name.rc"
  echo "inside.sh: $* ended with $rc after $(sed -n 's/^real //p' "/results/$name.time") s"
}

step run ./loom run configs/drape.ini
[ ! -f out/drape.h5 ] || cp out/drape.h5 /results/drape.h5
step render ./loom render out/drape.h5 -o drape.png
[ ! -f drape.png ] || cp drape.png /results/drape.png
case $TESTS in
  none) ;;
  all) step test ./loom test ;;
  *) read -ra arguments <<<"$TESTS" && step test ./loom test "${arguments[@]}" ;;
esac
for log in packages.log venv.log configure.log asan/configure.log test.log Testing/Temporary/LastTest.log; do
  [ ! -f "build/$log" ] || cp "build/$log" "/results/$(echo "$log" | tr / -)"
done
sh /results/versions.sh >/results/versions
