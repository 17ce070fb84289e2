#!/bin/sh
# versions.sh: versions of the packages that build loom on this system, a line each: NAME VERSION.
set -u

# package NAME PACKAGE: the upstream version of an installed Debian package.
package() {
  version=$(dpkg-query -W -f '${Version}' "$2" 2>/dev/null) || return 0
  printf '%s %s\n' "$1" "$(printf '%s' "$version" | sed 's/^[0-9]*://; s/-[^-]*$//; s/[+~].*//')"
}

# said NAME COMMAND...: the first version number that the command prints.
said() {
  name=$1
  shift
  command -v "$1" >/dev/null || return 0
  printf '%s %s\n' "$name" "$("$@" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)"
}

# shellcheck disable=SC1091
printf 'system %s\n' "$(. /etc/os-release && printf '%s' "$PRETTY_NAME")"
case $(cat /etc/debian_version) in [0-9]*) printf 'release %s\n' "$(cat /etc/debian_version)" ;; esac
said gcc gcc -dumpfullversion
said CMake cmake --version
package libc libc6
package HDF5 libhdf5-dev
package SuiteSparse libsuitesparse-dev
package OpenBLAS libopenblas0-serial
package Assimp libassimp-dev
package Gmsh libgmsh-dev
package iniparser libiniparser-dev
package ARPACK libarpack2-dev
package Criterion libcriterion-dev
said clang-format clang-format --version
said clang-tidy clang-tidy --version
said cppcheck cppcheck --version
said Python python3 --version
