#!/bin/sh
# `./loom bundle` and gpu-check.  The bundle runs on a system with glibc only: it lists plugins, drapes the
# NDB scene and says that there is no device.  gpu-check without a device fails each part with one line;
# on the simulated one every part passes that can run there.
set -eu
command -v patchelf >/dev/null || { echo "SKIP: bundle: there is no patchelf"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_PLUGIN_PATH LOOM_BIN || true
fail() { echo "FAILED: $*"; exit 1; }
code() { rc=0; "$@" >"$work/out" 2>"$work/err" || rc=$?; echo $rc; }
parts=$("$LOOM_SOURCE_DIR/loom" gpu-check --list | cut -d ' ' -f 1)

# ---- made here, run in an empty root ----
LOOM_BUILD_DIR=$LOOM_BINARY_DIR LOOM_NO_INSTALL=1 "$LOOM_SOURCE_DIR/loom" bundle "$work/root/loom" ||
  fail "./loom bundle"
device=$(sed -n 's/^device //p' "$work/root/loom/BUNDLE")
! command -v nvcc >/dev/null || [ "${LOOM_CUDA:-AUTO}" = OFF ] || [ "$device" = real ] ||
  fail "nvcc is here, but the bundle's device is $device"
[ "$(code "$LOOM_SOURCE_DIR/framework/bundle/make.sh" "$LOOM_BINARY_DIR" "$work")" = 1 ] ||
  fail "a folder with something else in it is taken"

glibc=$(ldd "$work/root/loom/bin/loom" | grep -oE '/[^ ]*/(ld-linux[^ ]*|lib(c|m|dl|pthread|rt|resolv|mvec)\.so[^ ]*)' | sort -u)
for file in $glibc; do
  mkdir -p "$work/root${file%/*}"
  cp -L "$file" "$work/root$file"
done
for name in dl pthread rt mvec; do # libraries that plugins need beside the binary's
  for file in /lib/*-linux-gnu/lib"$name".so.?; do
    [ ! -e "$file" ] || { mkdir -p "$work/root${file%/*}" && cp -L "$file" "$work/root$file"; }
  done
done
mkdir -p "$work/root/proc" "$work/root/tmp"
inside() { # a command there
  # shellcheck disable=SC2016  # expanded by that shell
  unshare -rmpf sh -c 'mount -t proc proc "$1/proc" && cd "$1" && shift && exec env -i "$@"' sh \
    "$work/root" "$(command -v chroot)" . "$@"
}
if [ "$(code inside /loom/bin/loom --version)" = 0 ]; then
  [ "$(code inside /loom/bin/loom list)" = 0 ] || fail "list: $(cat "$work/err")"
  for name in ndb_pd ndb patch_bvh cholmod_newton pd_bfgs; do
    grep -q "^  $name " "$work/out" || fail "no plugin $name there: $(cat "$work/out")"
  done
  [ "$(code inside /loom/bin/loom run /loom/configs/drape_self_ndb.ini -n 2 -o /tmp/drape.h5)" = 0 ] ||
    fail "the drape: $(cat "$work/err")"
  grep -q 'intersections found by the audit: 0' "$work/out" || fail "the drape: $(cat "$work/out")"
  if [ ! -e /proc/driver/nvidia/version ]; then
    [ "$(code inside /loom/bin/loom run /loom/configs/drape_self_ndb.ini --device cuda -n 2 -o /tmp/cuda.h5)" = 1 ] ||
      fail "it runs without a device"
    grep -q '^loom: there is no CUDA device: .*; or run with backend cpu' "$work/err" ||
      fail "not said politely: $(cat "$work/err")"
  fi
else
  echo "the empty root was left out: $(cat "$work/err")"
fi

# ---- gpu-check without a device: one line for each part ----
if [ ! -e /proc/driver/nvidia/version ]; then
  [ "$(code env OUT="$work/none" "$work/root/loom/loom" gpu-check)" = 1 ] || fail "gpu-check passes without a device"
  for part in $parts; do
    [ "$(grep -cE "^$part(_[0-9]+)? +FAILED +there is no CUDA device: " "$work/out")" -ge 1 ] ||
      fail "part $part: $(cat "$work/out")"
  done
  [ "$(grep -vcE '^[a-z_0-9]+ +FAILED +there is no CUDA device: |^[0-9]+ s in all$' "$work/out")" = 0 ] ||
    fail "more than a line for a part: $(cat "$work/out")"
fi
[ "$(code "$work/root/loom/loom" gpu-check dreap)" = 2 ] || fail "a part that there is not"

# ---- on the simulated device ----
simulated=$LOOM_BINARY_DIR/simulated
[ -x "$simulated/tests/test_kernels_cuda" ] || { echo "the simulated device was left out: no $simulated"; exit 0; }
"$LOOM_SOURCE_DIR/framework/bundle/make.sh" "$simulated" "$work/simulated" || fail "no simulated bundle"
[ "$(code env OUT="$work/report" LIMIT=5000 "$work/simulated/loom" gpu-check)" = 0 ] ||
  fail "gpu-check on the simulated device: $(cat "$work/out")"
cat "$work/out"
for part in $parts; do
  case $part in
    probe | objects | sanitizer | counters) want='not run +the device is simulated' ;;
    profile) want='(ok |not run +there is no python3 with h5py)' ;;
    *) want='ok ' ;;
  esac
  grep -qE "^$part(_[0-9]+)? +$want" "$work/out" || fail "part $part"
done
