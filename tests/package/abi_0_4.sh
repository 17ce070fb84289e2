#!/bin/sh
# Plugins of ABI 0.4, from the last commit of it, build against today's installation without an edit and pass the contract:
# a solver, a collision plugin and a contact model that use no member which 0.5 changed (changelog.md has the changes).
set -eu
commit=91dcb0dcf7726799f817628530842e2661df4741
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LOOM_PLUGIN_PATH
fail() { echo "FAILED: $*"; exit 1; }

cd "$LOOM_SOURCE_DIR"
git cat-file -e "$commit^{commit}" 2>/dev/null || { echo "SKIP: the history of the sources is not here"; exit 77; }
mkdir "$work/src"
for source in framework/doc/example_plugin/heavy_ball.c framework/doc/example_plugin/heavy_ball.kern.c \
  framework/doc/example_plugin/heavy_ball.kern.h tests/plugins/fx_touch.c tests/plugins/fx_wrong_contact.c; do
  git show "$commit:$source" >"$work/src/${source##*/}"
done
git show "$commit:framework/include/loom/types.h" | grep -q 'LOOM_ABI_MINOR 4' || fail "$commit is not of ABI 0.4"
cat >"$work/src/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(abi_0_4 VERSION 0.1.0 LANGUAGES C)
find_package(loom 0.2 REQUIRED)
loom_add_plugin(heavy_ball SOURCES heavy_ball.c KERNELS heavy_ball.kern.c)
loom_add_plugin(fx_touch SOURCES fx_touch.c)
loom_add_plugin(fx_wrong_contact SOURCES fx_wrong_contact.c)
END
"$CMAKE" --install "$LOOM_BINARY_DIR" --prefix "$work/prefix" >"$work/install.log"
"$CMAKE" -S "$work/src" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DLOOM_WERROR=ON \
  -DLOOM_CUDA=OFF >"$work/configure.log"
"$CMAKE" --build "$work/build"
for plugin in heavy_ball fx_touch fx_wrong_contact; do
  "$work/prefix/bin/loom" contract "$plugin" --plugin-path "$work/build/plugins" >"$work/$plugin" ||
    fail "$plugin: $(cat "$work/$plugin")"
  echo "$plugin: $(grep -c '^PASS' "$work/$plugin") checks pass"
done
