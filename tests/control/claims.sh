#!/bin/sh
# claims.sh NAME... | --quick: controls of claims.toml (loomcloth.controls), with the Python that `./loom figure` uses.
set -eu
python=$LOOM_SOURCE_DIR/.venv/bin/python
[ -x "$python" ] || {
  echo "SKIP: controls: there is no .venv; \`LOOM_TEST_VENV=1 ./loom test\` makes it (1.9 GB), and so do nightly tests"
  exit 77
}
export PYTHONPATH="$LOOM_SOURCE_DIR/experiments/tools" PYTHONDONTWRITEBYTECODE=1 LOOM_ROOT="$LOOM_SOURCE_DIR"
exec "$python" -m loomcloth.controls "$@"
