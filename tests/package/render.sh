#!/bin/sh
# A run becomes a picture: of the asked size, with the cloth and its background in it.
set -eu
export PYTHONPATH="$LOOM_SOURCE_DIR/experiments/tools" PYTHONDONTWRITEBYTECODE=1
fail() { echo "FAILED: $*"; exit 1; }
# help needs none of the libraries: -S hides installed packages
for tool in render figure table sweep report archive watch fabric convert docs export; do
  python3 -S -m "loomcloth.$tool" --help | grep -q "usage: loom $tool" || fail "$tool --help"
done
python=$LOOM_SOURCE_DIR/.venv/bin/python
[ -x "$python" ] || {
  echo "SKIP: render: there is no .venv yet; the first \`./loom render\` makes it (about 2 GB)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$LOOM_BIN" run "$LOOM_SOURCE_DIR/tests/package/sheet.ini" -o "$work/run.h5" --quiet \
  --set solver.plugin=gd
"$python" -m loomcloth.render "$work/run.h5" -o "$work/picture.png" --size 200x150
"$python" - "$work/picture.png" <<'EOF'
import sys
import numpy as np
from PIL import Image

picture = np.asarray(Image.open(sys.argv[1]).convert("RGB")).astype(int)
assert picture.shape == (150, 200, 3), picture.shape
reddish = picture[:, :, 0] - picture[:, :, 2] > 40  # the cloth's colour, on a grey background
assert 0.05 < reddish.mean() < 0.9, f"share of cloth in the picture: {reddish.mean()}"
EOF
if "$python" -m loomcloth.render "$work/run.h5" --frame 99 -o "$work/no.png" 2>"$work/error"; then
  fail "a frame that is not there was drawn"
fi
grep "the log holds 4 frames" "$work/error"
if "$python" -m loomcloth.render "$work/run.h5" -o "$work/no.webm" 2>"$work/error"; then
  fail "a movie of an unknown kind was made"
fi
grep "^loom: render: .*the ending '.webm' is not known; pictures: .png" "$work/error"
# Movies last as long as the motion: players show 60 frames per second, so of 100 every second is taken.
"$python" - <<'EOF'
from loomcloth.render import real_time

for dt, skip, rate in ((0.01, 2, 50), (1 / 60, 1, 60), (1 / 24, 1, 24), (1e-3, 17, 1000 / 17)):
    times = [dt * i for i in range(401)]
    frames, fps = real_time(times, list(range(401)))
    assert frames == list(range(0, 401, skip)), (dt, frames[:3])
    assert abs(fps - rate) < 1e-9, (dt, fps)
    assert abs((len(frames) - 1) / fps - times[frames[-1]]) < 1e-9
EOF
