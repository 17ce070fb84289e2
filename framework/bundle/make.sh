#!/usr/bin/env bash
# make.sh - stages a build as a bundle: a folder that runs on any Linux machine with an equal or newer glibc and
# contains every other library.  `./loom bundle DIR` builds and calls it.
#
#   make.sh BUILD OUT      BUILD: a finished build of these sources; OUT: a folder that does not exist yet,
#                          or an older bundle, which is replaced
#   LOOM_BUNDLE_MESHERS=1  takes along the modules that triangulate sewing patterns (Gmsh: 90 libraries)
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
build=$(realpath "${1:?a build}")
out=${2:?a folder for the bundle}
export LC_ALL=C

fail() { printf 'loom: bundle: %s\n' "$*" >&2; exit 1; }
command -v patchelf >/dev/null || fail "patchelf was not found (Debian: patchelf)"
[ -x "$build/bin/loom" ] || fail "$build holds no loom; ./loom bundle DIR builds one"
[ ! -e "$out" ] || [ -f "$out/BUNDLE" ] || fail "$out is there and no bundle; name another folder"
rm -rf "$out"
mkdir -p "$out"/{bin,plugins,lib,tests}
out=$(realpath "$out")
echo unfinished >"$out/BUNDLE"

# ---- the parts of loom ----
cp "$build/bin/loom" "$out/bin/"
cp "$build"/plugins/*.so "$out/plugins/"
find "$build/plugins" \( -name '*.missing' -o -name '*.bib' \) -exec cp {} "$out/plugins/" \;
if [ -n "${LOOM_BUNDLE_MESHERS:-}" ] && [ -d "$build/meshers" ]; then
  cp -r "$build/meshers" "$out/"
fi
for program in test_exec test_buf test_kernels_cuda test_matrix; do
  [ ! -x "$build/tests/$program" ] || cp "$build/tests/$program" "$out/tests/"
done
cp -r "$source/configs" "$out/"
# input of test_matrix: the folders of plugins, and the table of fitting combinations
(cd "$source" && find plugins/{solvers,collision,contact} -mindepth 1 -maxdepth 1 -type d) |
  while read -r folder; do mkdir -p "$out/source/$folder"; done
mkdir -p "$out/source/tests/matrix"
cp "$source/tests/matrix/expected.txt" "$out/source/tests/matrix/"
cp "$source"/framework/bundle/{scenes.sh,probe.cu,objects_part.cu,objects_main.cu,profile.py,kernels.py} "$out/source/"
cp "$source/framework/bundle/gpu_check.sh" "$out/gpu-check"
cat >"$out/loom" <<'SH'
#!/bin/sh
# loom - `./loom gpu-check` or any command of the bundle's binary.
here=$(dirname -- "$(readlink -f -- "$0")")
case ${1:-} in
  gpu-check) shift && exec "$here/gpu-check" "$@" ;;
  *) exec "$here/bin/loom" "$@" ;;
esac
SH
chmod +x "$out/loom" "$out/gpu-check"

# ---- libraries: all but glibc, which must be of one piece with the loader, and the driver ----
glibc='^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil|libanl|libnsl|libmvec|libthread_db)\.so'
objects() { find "$out" -path "$out/configs" -prune -o -type f \
  \( -name '*.so*' -o -path "$out/bin/*" -o -path "$out/tests/*" \) -print0; }
objects | xargs -0 ldd | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 } /not found/ { print $1, "-" }' |
  sort -u | while read -r name path; do
    [ "$path" != - ] || fail "the library $name was not found"
    [[ $name =~ $glibc || $name == libcuda.so* ]] || cp -L "$path" "$out/lib/$name"
  done
chmod -R u+w "$out/lib"
objects | while IFS= read -r -d '' f; do
  strip --strip-unneeded "$f"
  case $f in
    "$out"/lib/*) patchelf --force-rpath --set-rpath "\$ORIGIN" "$f" ;;
    *) patchelf --force-rpath --set-rpath "\$ORIGIN/../lib" "$f" ;;
  esac
done

# ---- does it stand alone? ----
outside=$(objects | xargs -0 env -i ldd | awk -v out="$out/" '/not found/ { print $1 " (not found)" }
  $2 == "=>" && $3 ~ /^\// && index($3, out) != 1 { print $1 }' | grep -vE "$glibc" | sort -u || true)
[ -z "$outside" ] || fail "it needs libraries from outside: ${outside//$'\n'/ }"
env -i "$out/bin/loom" list >/dev/null || fail "$out/bin/loom list fails"
newest=$(objects | xargs -0 objdump -T 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
device=none
if [ "$(cache LOOM_CUDA)" = SIMULATED ]; then
  device=simulated
elif grep -q '^CMAKE_CUDA_COMPILER:' "$build/CMakeCache.txt"; then
  device=real
fi
{
  "$out/bin/loom" --version
  echo "device $device"
  [ $device != real ] || echo "architectures $(cache CMAKE_CUDA_ARCHITECTURES)$(cache LOOM_CUDA_ARCHITECTURES)"
  echo "needs glibc ${newest#GLIBC_}"
} >"$out/BUNDLE"
