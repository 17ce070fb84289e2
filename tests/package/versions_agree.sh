#!/bin/bash
# The version is the same in CMakeLists.txt and in each other file that names it.
set -eu
cd "$LOOM_SOURCE_DIR"
wanted=$(sed -n 's/^project(loom VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$wanted" ] || { echo "FAILED: CMakeLists.txt names no version"; exit 1; }
code=0
agree() { # FILE FOUND [WANTED]
  [ "$2" = "${3:-$wanted}" ] || { echo "FAILED: $1 names '$2', CMakeLists.txt $wanted"; code=1; }
}
agree CITATION.cff "$(sed -n 's/^version: \(.*\)/\1/p' CITATION.cff)"
agree codemeta.json "$(python3 -c 'import json; print(json.load(open("codemeta.json"))["version"])')"
agree experiments/tools/pyproject.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' experiments/tools/pyproject.toml)"
agree README.md "$(sed -n 's/^  version = {\(.*\)},/\1/p' README.md)"
agree framework/doc/loom.1 "$(sed -n 's/^\.TH .*"loom \([0-9.]*\)".*/\1/p' framework/doc/loom.1)"
agree framework/packaging/package.py "$(sed -n 's/^    version("\(.*\)")/\1/p' framework/packaging/package.py)"
agree framework/packaging/Containerfile \
  "$(sed -n 's/.*image\.version="\([0-9.]*\)".*/\1/p' framework/packaging/Containerfile)"
# places with MAJOR.MINOR alone, the part that two compatible versions share
agree framework/doc/plugin-guide.md "$(sed -n 's/.*include\/loom-\([0-9.]*\)`.*/\1/p' framework/doc/plugin-guide.md)" "${wanted%.*}"
for file in framework/doc/example_plugin/CMakeLists.txt tests/package/*.sh; do
  while read -r found; do
    agree "$file" "$found" "${wanted%.*}"
  done < <(sed -n 's/.*find_package(loom \([0-9][0-9.]*\) .*/\1/p' "$file")
done
exit $code
