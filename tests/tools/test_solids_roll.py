"""experiments/ndb-solids: a ball of 6,146 vertices rolls and slips as it has to."""

import unittest

import test_solids


class Roll(test_solids.Solids):
    GROUPS = ("roll",)
    CONTROLS = ("roll", "slip")


if __name__ == "__main__":
    unittest.main()
