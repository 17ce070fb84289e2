#!/bin/sh
# The suites with another BLAS than the one that is linked: OpenBLAS with threads, taken from the
# folder LOOM_OPENBLAS or from Debian's packages libopenblas0-pthread or -openmp, for these runs
# alone.  Without installing it:
#   apt-get download libopenblas0-pthread && dpkg -x libopenblas0-pthread_*.deb there
#   LOOM_OPENBLAS=there/usr/lib/x86_64-linux-gnu/openblas-pthread ./loom test nightly -R openblas
# Where there is none and OpenBLAS is linked, with the reference BLAS.
set -eu
plugin=$LOOM_BINARY_DIR/plugins/cholmod_newton.so
folder=${LOOM_OPENBLAS:-}
for place in /usr/lib/*/openblas-pthread/ /usr/lib/*/openblas-openmp/; do
  [ -n "$folder" ] || [ ! -e "$place/libopenblas.so.0" ] || folder=$place
done
if [ -n "$folder" ]; then
  export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  ldd "$plugin" | grep "$(readlink -f "$folder")\|$folder" || {
    echo "FAILED: $folder is not what plugins load"
    exit 1
  }
else
  for file in /usr/lib/*/blas/libblas.so.3 /usr/lib/*/lapack/liblapack.so.3; do
    [ ! -e "$file" ] || LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$file"
  done
  { ldd "$plugin" | grep -q libopenblas && [ -n "${LD_PRELOAD:-}" ]; } || {
    echo "SKIP: openblas: there is no other BLAS; install libopenblas0-pthread, or name a folder in LOOM_OPENBLAS"
    exit 77
  }
  export LD_PRELOAD
fi
# A folder of its own: the ctest around this one keeps its logs.  The launcher and out-of-tree builds
# do not use a BLAS.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'subdirs("%s")\n' "$LOOM_BINARY_DIR" >"$work/CTestTestfile.cmake"
ctest --test-dir "$work" -L '^(unit|contract|matrix|regress)$' -E '^(launcher|example_plugin|render)$' \
  ${LOOM_OPENBLAS_TESTS:+-R "$LOOM_OPENBLAS_TESTS"} -j "$(nproc)" --output-on-failure </dev/null
