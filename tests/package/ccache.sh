#!/bin/sh
# The next checkout takes objects that one checkout has compiled from ccache; the user's settings for ccache stand.
set -eu
command -v ccache >/dev/null || { echo "SKIP: ccache: it is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CCACHE_BASEDIR CCACHE_HASHDIR CCACHE_NOHASHDIR CCACHE_CONFIGPATH CCACHE_DISABLE CCACHE_PREFIX || true
export CCACHE_DIR="$work/cache" CMAKE_GENERATOR=Ninja

fail() { echo "FAILED: $*"; exit 1; }

# checkout NAME: a small project with the module, a header by its absolute path and debug lines
checkout() {
  mkdir -p "$work/$1/include"
  cat >"$work/$1/CMakeLists.txt" <<EOP
cmake_minimum_required(VERSION 3.25)
project(part LANGUAGES C)
include($LOOM_SOURCE_DIR/framework/cmake/LoomCcache.cmake)
add_library(part STATIC part.c)
target_compile_options(part PRIVATE -g1)
target_include_directories(part PRIVATE \${PROJECT_SOURCE_DIR}/include)
EOP
  echo '#include "part.h"' >"$work/$1/part.c"
  echo 'int part(void);' >"$work/$1/include/part.h"
  echo 'int part(void) { return 1; }' >>"$work/$1/part.c"
}

# hits_of NAME: how many objects came from the cache when this checkout was built
hits_of() {
  ccache --zero-stats >/dev/null
  cmake -S "$work/$1" -B "$work/$1/build" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  cmake --build "$work/$1/build" >>"$work/log" 2>&1 || fail "$(cat "$work/log")"
  ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ { n += $2 } END { print n + 0 }'
}

for name in one two three four five; do checkout $name; done
[ "$(hits_of one)" = 0 ] || fail "a hit in an empty cache"
[ "$(hits_of two)" = 1 ] || fail "another checkout compiles anew: $(ccache --show-stats -v)"
[ "$(CCACHE_HASHDIR=1 hits_of three)" = 0 ] || fail "CCACHE_HASHDIR of the user does not count"
[ "$(CCACHE_BASEDIR='' hits_of four)" = 0 ] || fail "an empty CCACHE_BASEDIR of the user does not count"
echo 'hash_dir = true' >"$CCACHE_DIR/ccache.conf"
[ "$(hits_of five)" = 0 ] || fail "hash_dir in the user's ccache.conf does not count"
