"""The strip of pictures at the head of README.md: a knot, a T-shirt, trousers that walk and a knitted scarf."""

from pathlib import Path

from loomcloth.experiment import FigureError
from PIL import Image

RESULTS = Path(__file__).resolve().parents[1] / "results"
HEIGHT, WIDTH = 360, 360  # pixels of a panel
# picture, box (left, top, right, bottom) in shares of its width and height: the panel and no label
PANELS = (
    ("scenes.png", (0.842, 0.532, 0.976, 0.739)),  # the end of the knot
    ("tshirt.png", (0.757, 0.0, 0.952, 1.0)),
    ("trousers_walk.png", (0.630, 0.12, 0.740, 0.88)),
    ("acl-scarf-still.png", (0.08, 0.15, 0.90, 1.0)),
)


def fitted(image, cut_below):
    """Scaled into a panel, on the colour of the picture's own corner; cut_below: the picture ends at the panel's edge."""
    scale = min(WIDTH / image.width, HEIGHT / image.height)
    small = image.resize((round(scale * image.width), round(scale * image.height)), Image.Resampling.LANCZOS)
    panel = Image.new("RGB", (WIDTH, HEIGHT), image.getpixel((2, 2)))
    top = (HEIGHT - small.height) // (1 if cut_below else 2)
    panel.paste(small, ((WIDTH - small.width) // 2, top))
    return panel


def draw(experiment):
    strip = Image.new("RGB", (WIDTH * len(PANELS), HEIGHT))
    for i, (name, box) in enumerate(PANELS):
        if not (RESULTS / name).exists():
            raise FigureError(f"{RESULTS / name} is missing; the figure that makes it stands in made.csv")
        with Image.open(RESULTS / name) as image:
            left, top, right, bottom = box
            edges = (left * image.width, top * image.height, right * image.width, bottom * image.height)
            strip.paste(fitted(image.convert("RGB").crop(tuple(map(round, edges))), name.startswith("acl")), (i * WIDTH, 0))
    experiment.keep_image(strip, "hero")


FIGURES = {"hero": ("the strip of pictures at the head of README.md, from results of other figures", draw)}
