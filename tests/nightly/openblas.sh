#!/bin/sh
# The suites with OpenBLAS in place of the BLAS that is linked: it is taken from the folder
# LOOM_OPENBLAS, or from Debian's packages libopenblas0-pthread, -openmp or -serial, for these runs
# alone.  Without installing it:
#   apt-get download libopenblas0-pthread && dpkg -x libopenblas0-pthread_*.deb there
#   LOOM_OPENBLAS=there/usr/lib/x86_64-linux-gnu/openblas-pthread ./loom test nightly -R openblas
set -eu
folder=${LOOM_OPENBLAS:-}
for place in /usr/lib/*/openblas-*/; do
  [ -n "$folder" ] || [ ! -e "$place/libblas.so.3" ] || folder=$place
done
[ -n "$folder" ] || {
  echo "SKIP: openblas: there is no OpenBLAS; install libopenblas0-pthread, or name a folder in LOOM_OPENBLAS"
  exit 77
}
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
ldd "$LOOM_BINARY_DIR/plugins/cholmod_newton.so" | grep "$(readlink -f "$folder")\|openblas" || {
  echo "FAILED: $folder/libblas.so.3 is not what plugins load"
  exit 1
}
# A folder of its own: the ctest around this one keeps its logs.  The launcher and out-of-tree builds
# have nothing to do with a BLAS.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'subdirs("%s")\n' "$LOOM_BINARY_DIR" >"$work/CTestTestfile.cmake"
ctest --test-dir "$work" -L '^(unit|contract|matrix|regress)$' -E '^(launcher|example_plugin|render)$' \
  ${LOOM_OPENBLAS_TESTS:+-R "$LOOM_OPENBLAS_TESTS"} -j "$(nproc)" --output-on-failure </dev/null
