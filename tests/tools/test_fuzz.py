"""A tenth of the mutated inputs of fuzz_tools.py, by a new seed, which is printed."""

import unittest

import fuzz_tools


class Fuzz(unittest.TestCase):
    def test_no_traceback_nothing_slow_nothing_touched(self):
        self.assertEqual(fuzz_tools.main([]), 0)


if __name__ == "__main__":
    unittest.main()
