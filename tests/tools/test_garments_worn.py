"""experiments/garments-worn: public garments are worn on public bodies; without threads they are not."""

import os
import unittest

from logs import SOURCE

from loomcloth.experiment import Experiment, load_figures

FOLDER = SOURCE / "experiments/garments-worn"
figures = load_figures(FOLDER)


class Worn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # LOOM_WORN=kept takes logs of the same inputs that are there, of whichever build
        cls.experiment = Experiment(FOLDER, fresh=os.environ.get("LOOM_WORN") != "kept")

    def need(self, name):
        why = figures.missing(name)
        if why:
            self.skipTest(why)

    def hold(self, name):
        self.need(name)
        bars = figures.judge(figures.wear(self.experiment, name), name)
        for bar in bars:
            print(bar)
        self.assertTrue(all(bar.passed for bar in bars))

    def test_shirt(self):
        self.hold("shirt")

    def test_hoody(self):
        self.hold("hoody")

    def test_dress(self):
        self.hold("dress")

    def test_jumpsuit(self):
        self.hold("jumpsuit")

    def test_jacket(self):
        self.hold("jacket")

    def test_walk(self):
        if figures.makehuman() is None or figures.assets() is None:
            self.skipTest("LOOM_MAKEHUMAN or LOOM_GARMENTCODE does not name its folder")
        bars = figures.judge_walk(figures.walk(self.experiment))
        for bar in bars:
            print(bar)
        self.assertTrue(all(bar.passed for bar in bars))

    def test_without_threads(self):
        """The control: pieces that are not sewn fall, and a sleeve leaves its arm."""
        self.need("shirt")
        path = figures.loose(self.experiment)
        share = figures.measure(path, "shirt")[1]
        print(f"not sewn: {share:.2f} of the vertices of the worst piece over their segments")
        self.assertLess(share, 0.8)

    def test_gravity_from_the_start(self):
        """The control: the shirt that falls while threads draw is worn as a skirt."""
        self.need("shirt")
        share = figures.measure(figures.fallen(self.experiment), "shirt")[1]
        print(f"gravity from the start: {share:.2f}")
        self.assertLess(share, 0.5)


if __name__ == "__main__":
    unittest.main()
