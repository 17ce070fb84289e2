#!/bin/sh
# run.sh MODULE: one module of unittest here, with the libraries that `./loom table` uses.
set -eu
python=$LOOM_SOURCE_DIR/.venv/bin/python
[ -x "$python" ] || {
  echo "SKIP: $1: there is no .venv yet; the first \`./loom table\` makes it (about 2 GB)"
  exit 77
}
cd "$(dirname "$0")"
export PYTHONPATH="$LOOM_SOURCE_DIR/experiments/tools" PYTHONDONTWRITEBYTECODE=1 LOOM_ROOT="$LOOM_SOURCE_DIR"
export PYTHON="$python" # what the launcher would call
exec "$python" -m unittest -v "$1"
