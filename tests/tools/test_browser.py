"""A report of ten runs of 10,201 vertices in a headless Chromium: every tab, every choice, the replay.

LOOM_SHOTS=FOLDER keeps a picture of each tab.
"""

import os
import resource
import time
import unittest
from pathlib import Path

import loomcloth
import numpy as np
from browser import Browser, missing
from logs import SOURCE, Bench

TABS = ("summary", "convergence", "accuracy", "profile", "replay", "audit", "settings", "provenance")
PLOTS = {"convergence": "curves", "accuracy": "costs", "profile": "profiles"}
DRAPE = f"""\
include = {SOURCE}/configs/drape.ini
[run]
steps = 6
[cloth.sheet]
transform = translate 0.02 0.01 0.665
[log]
audit = off
"""


def used():
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    return total.ru_utime + total.ru_stime


@unittest.skipIf(missing(), missing())
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.close)
        (cls.bench.path / "drape.ini").write_text(DRAPE)
        for i in range(10):
            cls.bench.run(f"ten/iters_{i + 1}", stop__max_iters=i + 1)
        begun = used()
        cls.bench.tool("report", cls.bench.path / "ten", "-o", "ten.html")
        cls.cost = used() - begun
        cls.page = cls.bench.path / "ten.html"
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def pixels(self):
        """Of the replay's canvas, [h][w][3]."""
        import base64
        import io

        from PIL import Image

        shot = self.browser.driver.find_element("css selector", "#stage").screenshot_as_base64
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")).astype(int)

    def plotted(self, plot):
        return self.browser.js(f"return document.querySelectorAll('#{plot} .scatterlayer .trace').length")

    def test_bars(self):
        self.assertLess(self.page.stat().st_size, 15e6)
        self.assertLess(self.cost, 30.0, "processor seconds to make the report")

    def test_every_tab(self):
        b = self.browser
        b.open(self.page)
        b.wait("document.body.dataset.ready")
        ready = b.js("return Number(document.body.dataset.ready)")
        size = self.page.stat().st_size / 1e6
        print(f"ready after {ready} ms of the page's clock; {size:.1f} MB; {self.cost:.1f} s to make")
        self.assertLess(ready, 3000, "milliseconds to load")
        self.assertEqual(
            b.js("return [...document.querySelectorAll('nav button')].map(x => x.dataset.tab)"), list(TABS)
        )
        for tab in TABS:
            b.click(f"nav [data-tab={tab}]")
            shown = b.js("return [...document.querySelectorAll('section.on')].map(x => x.id)")
            self.assertEqual(shown, [tab])
            if tab in PLOTS:
                b.wait(f"document.querySelector('#{PLOTS[tab]} .scatterlayer .trace')")
                for select in b.js(f"return [...document.querySelectorAll('#{tab} select')].map(x => x.id)"):
                    for value in b.js(
                        f"return [...document.getElementById('{select}').options].map(x => x.value)"
                    ):
                        b.js(
                            "const s = $(arguments[0]); s.value = arguments[1]; s.onchange()",
                            select,
                            value,
                        )
                        self.assertEqual(b.errors(), [], f"{select} = {value}")
            if tab == "replay":
                self.replay()
            if "LOOM_SHOTS" in os.environ:
                time.sleep(1.0)
                b.picture(Path(os.environ["LOOM_SHOTS"]) / f"report-{tab}.png")
        self.assertEqual(b.errors(), [])
        self.assertEqual(
            self.browser.js("return performance.getEntriesByType('resource').length"), 0, "it fetched"
        )

    def replay(self):
        b = self.browser
        b.wait("document.body.dataset.replay === 'ready'")
        b.js("setFrame(0)")
        time.sleep(2.0)
        first = self.pixels()
        self.assertGreater((first < 200).any(axis=2).mean(), 0.05, "the stage is empty")
        b.js("setFrame(report.times.length - 1)")
        time.sleep(2.0)
        self.assertGreater(
            (np.abs(self.pixels() - first).sum(axis=2) > 60).mean(), 0.005, "nothing has moved"
        )
        names = b.js("return [...document.querySelectorAll('#stage .name')].map(x => x.textContent)")
        self.assertEqual(names, [f"iters_{i + 1}" for i in range(10)])
        b.js("setFrame(0)")
        b.click("#play")
        b.wait("frame > 0 && playing")
        b.click("#play")
        self.assertEqual(b.js("return playing"), 0)


OBJECTS = """return k3d.getWorld().K3DObjects.children.map(o => {
  o.geometry.computeBoundingBox();
  return [o.matrix.elements, o.geometry.boundingBox.min.toArray(), o.geometry.boundingBox.max.toArray()];
})"""


@unittest.skipIf(missing(), missing())
class Bodies(unittest.TestCase):
    """Bodies that move or bend do so in the replay, as the log says."""

    def test_bodies_move(self):
        bench = Bench()
        self.addCleanup(bench.close)
        logs = [bench.movers(f"movers{k}", stop__max_iters=k) for k in (2, 20)]
        bench.tool("report", *logs, "-o", "movers.html")
        browser = Browser()
        self.addCleanup(browser.close)
        browser.open(bench.path / "movers.html")
        browser.wait("document.body.dataset.ready")
        browser.click("nav [data-tab=replay]")
        browser.wait("document.body.dataset.replay === 'ready'")
        with loomcloth.open(logs[0]) as log:
            leg, plate = (next(b for b in log.obstacles() if b.name == n) for n in ("leg", "plate"))
            boxes = []
            for k in (0, 4, 8):
                browser.js(f"setFrame({k})")
                time.sleep(1.0)
                objects = browser.js(OBJECTS)
                self.assertEqual(len(objects), 8)  # of each run: cloth, ball, leg, plate
                for run in (0, 4):
                    at = np.array(objects[run + 3][0]).reshape(4, 4).T
                    np.testing.assert_allclose(at[:3, :3], plate.matrix(k)[:3, :3], atol=1e-5)
                    x = leg.vertices(k, float(log.times[k]))
                    np.testing.assert_allclose(objects[run + 2][1], x.min(axis=0), atol=2e-3)
                    np.testing.assert_allclose(objects[run + 2][2], x.max(axis=0), atol=2e-3)
                boxes.append(np.append(x.min(axis=0), x.max(axis=0)))
            self.assertGreater(np.abs(boxes[-1] - boxes[0]).max(), 0.05, "the leg did not bend")
            turn = plate.matrix(8)[:3, :3] - plate.matrix(0)[:3, :3]
            self.assertGreater(np.abs(turn).max(), 0.1, "the plate did not turn")
        self.assertEqual(browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
