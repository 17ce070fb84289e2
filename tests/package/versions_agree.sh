#!/bin/bash
# The version is the same in CMakeLists.txt, CITATION.cff, codemeta.json, the package of Python and the README.
set -eu
cd "$LOOM_SOURCE_DIR"
wanted=$(sed -n 's/^project(loom VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$wanted" ] || { echo "FAILED: CMakeLists.txt names no version"; exit 1; }
code=0
agree() { # FILE FOUND
  [ "$2" = "$wanted" ] || { echo "FAILED: $1 names '$2', CMakeLists.txt $wanted"; code=1; }
}
agree CITATION.cff "$(sed -n 's/^version: \(.*\)/\1/p' CITATION.cff)"
agree codemeta.json "$(python3 -c 'import json; print(json.load(open("codemeta.json"))["version"])')"
agree experiments/tools/pyproject.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' experiments/tools/pyproject.toml)"
agree README.md "$(sed -n 's/^  version = {\(.*\)},/\1/p' README.md)"
exit $code
