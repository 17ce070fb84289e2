#!/bin/sh
# A key, or a value of it, that a message or a parameter's text names is one that `describe` knows.
. "${0%/*}/common.sh"
need python3
bin=$LOOM_BINARY_DIR/bin/loom
[ -x "$bin" ] || skip "remedies.sh: $bin is not built"
unset LOOM_PLUGIN_PATH
files 'framework/*.c' 'framework/*.h' | grep -v '^framework/doc/' |
  python3 "${0%/*}/remedies.py" "$bin"
