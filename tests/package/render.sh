#!/bin/sh
# A run becomes a picture: of the asked size, with the cloth and its background in it.
set -eu
python=$LOOM_SOURCE_DIR/.venv/bin/python
[ -x "$python" ] || {
  echo "SKIP: render: there is no .venv yet; the first \`./loom render\` makes it (about 1 GB)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$LOOM_BIN" run "$LOOM_SOURCE_DIR/tests/package/sheet.ini" -o "$work/run.h5" --quiet \
  --set solver.plugin=gd
export PYTHONPATH="$LOOM_SOURCE_DIR/experiments/tools" PYTHONDONTWRITEBYTECODE=1
"$python" -m loompy.render "$work/run.h5" -o "$work/picture.png" --size 200x150
"$python" - "$work/picture.png" <<'EOF'
import sys
import numpy as np
from PIL import Image

picture = np.asarray(Image.open(sys.argv[1]).convert("RGB")).astype(int)
assert picture.shape == (150, 200, 3), picture.shape
reddish = picture[:, :, 0] - picture[:, :, 2] > 40  # the cloth's colour, on a grey background
assert 0.05 < reddish.mean() < 0.9, f"share of cloth in the picture: {reddish.mean()}"
EOF
if "$python" -m loompy.render "$work/run.h5" --frame 99 -o "$work/no.png" 2>"$work/error"; then
  echo "FAILED: a frame that is not there was drawn"
  exit 1
fi
grep "the log holds 4 frames" "$work/error"
