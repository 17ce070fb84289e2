# stub.sh - sourced: a checkout in which the launcher finds everything built.
# shellcheck shell=sh

# stub_checkout DIR ON|OFF: the launcher, its lists, a build with or without tests in which ninja has no work
stub_checkout() {
  mkdir -p "$1/build/bin" "$1/framework/cmake"
  cp "$LOOM_SOURCE_DIR/loom" "$LOOM_SOURCE_DIR/CMakeLists.txt" "$1"
  cp "$LOOM_SOURCE_DIR/framework/cmake/packages.txt" "$LOOM_SOURCE_DIR/framework/cmake/"*.py "$LOOM_SOURCE_DIR/framework/cmake/venv.sh" "$1/framework/cmake"
  printf 'build runtime: phony\nbuild all: phony\n' >"$1/build/build.ninja"
  printf '%s\n-DLOOM_TESTS=%s\n' "$1" "$2" >"$1/build/.configured"
  for stub_group in build test python; do
    cp "$LOOM_SOURCE_DIR/framework/cmake/packages.txt" "$1/build/.packages-$stub_group"
  done
}
