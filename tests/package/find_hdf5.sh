#!/bin/sh
# HDF5 is found where h5cc names the library hdf5_serial, as Debian's does since HDF5 2: FindHDF5 alone ends there
# with an error, seen here as the control.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

mkdir "$work/bin" "$work/source"
skip() { echo "SKIP: find_hdf5.sh: $*"; exit 77; }
command -v h5cc >/dev/null || skip "there is no h5cc, which tells where the headers of HDF5 are"
library=$(find /usr/lib -name libhdf5_serial.so -print -quit)
[ -n "$library" ] || skip "there is no libhdf5_serial"
headers=$(h5cc -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
cat >"$work/bin/h5cc" <<END
#!/bin/sh
echo "gcc $headers -L${library%/*} -lhdf5_serial_hl -lhdf5_serial -lm"
END
chmod +x "$work/bin/h5cc"
cat >"$work/source/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(finds_hdf5 C)
if(ALONE)
  find_package(HDF5 COMPONENTS C)
else()
  list(APPEND CMAKE_MODULE_PATH $ENV{LOOM_SOURCE_DIR}/framework/cmake)
  include(LoomHdf5)
endif()
add_executable(main main.c)
target_link_libraries(main hdf5::hdf5)
END
echo '#include <hdf5.h>
int main(void) { return H5open() < 0; }' >"$work/source/main.c"
configure() { cmake -S "$work/source" -B "$work/$1" -G Ninja -DALONE="$2" >"$work/$1.log" 2>&1; }

PATH=$work/bin:$PATH
if configure alone ON; then echo "this FindHDF5 needs no help"; fi
configure named OFF || { cat "$work/named.log"; fail "no HDF5 with h5cc of HDF5 2"; }
cmake --build "$work/named" >"$work/named.log" 2>&1 || { cat "$work/named.log"; fail "it does not link"; }
"$work/named/main" || fail "the program does not run"
grep -q "^HDF5_hdf5_LIBRARY:.*=$library\$" "$work/named/CMakeCache.txt" || fail "another library than h5cc's"
