#!/bin/sh
# No files of framework/ call each other in a circle, and no headers include each other.
. "${0%/*}/common.sh"
need python3
need nm
objects=$LOOM_BINARY_DIR/framework/CMakeFiles/loom_core.dir
[ -d "$objects" ] || skip "loom_core is not built"
python3 tests/style/circles.py framework "$objects"
