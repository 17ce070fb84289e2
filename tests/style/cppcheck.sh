#!/bin/sh
# cppcheck has no finding in the framework and the plugins.  It goes through a file once for each set of macros
# that conditions name; macros of other compilers and languages, and of another precision, are left alone: the code that
# they choose is compiled by nvcc, by g++ as C++17 and with sanitizers, and single precision changes types alone.
# So are three that headers ask for: LK_CALLED and LOOM_MEM_SIM_H choose the code of sanitizers and devices,
# LOOM_HAVE_BUILD_INFO that of each build.  They would double the time.
# Of newer versions: nullPointerOutOfMemory and nullPointerOutOfResources do not see that a status other than LOOM_OK, or
# a failed assertion, tells of the failed call; uninitvar takes an array that a loop fills for uninitialised, as the loop might
# not run, though the function that reads the array gets the count.  clang's analyzer and gcc look for the same fault.
# LOOM_LINT_ALL: also sources that have not changed since they were seen to be clean (clean.txt, changed.py).
. "${0%/*}/common.sh"
need cppcheck
recorded cppcheck "$(cppcheck --version | sed 's/Cppcheck //')" 2
list=$LOOM_BINARY_DIR/cppcheck.files
files 'framework/*.c' 'plugins/*.c' | grep -v '^framework/doc/' >"$list"
changed "$list" cppcheck "$kept" tests/style/cppcheck.sh
[ -s "$list" ] || exit 0 # cppcheck takes an empty list for an error
case $kept in
  2.10) newer='' ;;
  *) newer='--suppress=nullPointerOutOfResources --suppress=uninitvar' ;;
esac
# shellcheck disable=SC2086
cppcheck --quiet --std=c11 --language=c -j "$jobs" --error-exitcode=1 --inline-suppr \
  --enable=warning,portability,performance --suppress=missingInclude --suppress=unknownMacro \
  --suppress=normalCheckLevelMaxBranches --suppress=unmatchedSuppression \
  --suppress=nullPointerOutOfMemory --suppress=nullPointerArithmeticOutOfMemory $newer \
  -U__CUDACC__ -U__cplusplus -U__SANITIZE_ADDRESS__ -U__clang_analyzer__ -ULOOM_REAL_FLOAT \
  -ULK_CALLED -ULOOM_MEM_SIM_H -ULOOM_HAVE_BUILD_INFO \
  -Iframework -Iframework/include --file-list="$list"
