#!/bin/sh
# Where the compiler has no OpenMP, configuring names the package that brings it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(lacks_openmp C)
list(APPEND CMAKE_MODULE_PATH $ENV{LOOM_SOURCE_DIR}/framework/cmake)
set(CMAKE_DISABLE_FIND_PACKAGE_OpenMP ON)
set(CMAKE_C_COMPILER_ID ${COMPILER})
set(CMAKE_C_COMPILER_VERSION 19.1.7)
include(LoomFlags)
END
for compiler in 'Clang:libomp-19-dev' 'GNU:GNU 19.1.7'; do
  if cmake -S "$work" -B "$work/build" -G Ninja -DCOMPILER="${compiler%%:*}" >"$work/out" 2>&1; then
    echo "FAILED: $compiler: configured without OpenMP"
    exit 1
  fi
  tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q "OpenMP was not found.*${compiler#*:}" ||
    { cat "$work/out"; echo "FAILED: $compiler: another message"; exit 1; }
done
