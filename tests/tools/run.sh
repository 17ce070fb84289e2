#!/bin/sh
# run.sh MODULE: one module of tests here, with the libraries that `./loom table` uses.
set -eu
python=$LOOM_SOURCE_DIR/.venv/bin/python
[ -x "$python" ] || {
  echo "SKIP: $1: there is no .venv; \`LOOM_TEST_VENV=1 ./loom test\` makes it (1.9 GB), and so do nightly tests"
  exit 77
}
cmp -s "$LOOM_SOURCE_DIR/experiments/tools/requirements.txt" "$LOOM_SOURCE_DIR/.venv/requirements.txt" || {
  echo "SKIP: $1: .venv has not all requirements; \`LOOM_TEST_VENV=1 ./loom test\` adds them, and so do nightly tests"
  exit 77
}
cd "$(dirname "$0")"
export PYTHONPATH="$LOOM_SOURCE_DIR/experiments/tools" PYTHONDONTWRITEBYTECODE=1 LOOM_ROOT="$LOOM_SOURCE_DIR"
export PYTHON="$python" # as the launcher would call it
exec "$python" run.py "$1"
