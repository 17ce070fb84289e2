#!/bin/sh
# cppcheck finds nothing in the framework and the plugins.
. "${0%/*}/common.sh"
need cppcheck
files 'framework/*.c' 'plugins/*.c' | grep -v '^framework/doc/' >"$LOOM_BINARY_DIR/cppcheck.files"
cppcheck --quiet --std=c11 --language=c -j "$jobs" --error-exitcode=1 --inline-suppr \
  --enable=warning,portability,performance --suppress=missingInclude --suppress=unknownMacro \
  --suppress=normalCheckLevelMaxBranches --suppress=unmatchedSuppression \
  -Iframework -Iframework/include --file-list="$LOOM_BINARY_DIR/cppcheck.files"
