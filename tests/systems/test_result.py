"""The results of result.py and page.py from the files of a system."""

import tempfile
import unittest
from pathlib import Path

import page
import result

TEST_LOG = """\
Test project /root/loom/build
      Start  1: test_aabb
 1/5 Test  #1: test_aabb ........................   Passed    0.05 sec
 2/5 Test #12: format ...........................***Skipped   0.01 sec
 3/5 Test #13: fuzz_ini .........................***Failed    1.20 sec
 4/5 Test #14: launcher .........................***Timeout 300.24 sec
 5/5 Test #15: asan.test_log ....................Subprocess aborted***Exception:   0.31 sec

50% tests passed, 3 tests failed out of 5
The following tests FAILED:
\t 13 - fuzz_ini (Failed)
\t 14 - launcher (Timeout)
\t 15 - asan.test_log (Subprocess aborted)
\t 16 - test_gone (Not Run)
"""
LAST_LOG = """\
1/5 Testing: test_aabb
1/5 Test: test_aabb
passed
2/5 Testing: format
2/5 Test: format
SKIP: format: only clang-format 14 decides
"""
BUILD = """\
loom: building in /root/loom/build
loom: building [10/529]
a.c:295:13: warning: comparison of integer expressions [-Wsign-compare]
a.c:295:13: warning: comparison of integer expressions [-Wsign-compare]
loom: building in /root/loom/build/asan
b.c:1:1: warning: may be used uninitialized
"""


class Results(unittest.TestCase):
    def test_outcomes_of_tests(self):
        t = result.tests_of(TEST_LOG, LAST_LOG)
        self.assertEqual(t["passed"], 1)
        self.assertEqual(t["skipped"], {"format": "only clang-format 14 decides"})
        self.assertEqual(set(t["failed"]), {"fuzz_ini", "launcher", "asan.test_log", "test_gone"})

    def test_warnings_count_once_and_by_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "test.err").write_text(BUILD)
            Path(folder, "configure.log").write_text("-- fine\nCMake Deprecation Warning at x:1\n")
            found = result.warnings_of(Path(folder))
        self.assertEqual([tree for tree, _ in found], ["", "asan", ""])

    def test_each_bar_has_a_fault(self):
        good = {"commands": [{"command": "./loom run", "exit_code": 0}, {"command": "./loom test", "exit_code": 0}],
                "warnings": [], "warnings_sanitized": [], "picture": [640, 480],
                "drape": {"largest_m": 1e-12}, "tests": {"passed": 1, "failed": {}, "skipped": {}}}
        self.assertEqual(result.faults(good), [])
        bad = [{"warnings": ["w"]}, {"warnings_sanitized": ["w"]}, {"picture": None}, {"drape": {"largest_m": 2e-9}},
               {"drape": {"largest_m": float("nan")}}, {"drape": {"largest_m": None, "shape": "other"}}, {"drape": None},
               {"tests": None}, {"tests": {"passed": 0, "failed": {}, "skipped": {}}}, {"limit_s": 1}, {"commands": []},
               {"tests": {"passed": 1, "failed": {"a": "Failed"}, "skipped": {}}},
               {"commands": [{"command": "./loom run", "exit_code": 1}]},
               {"commands": [{"command": "./loom run", "exit_code": None}]}]
        for change in bad:
            self.assertEqual(len(result.faults(good | change)), 1, change)

    def test_positions(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        with tempfile.TemporaryDirectory() as folder:
            names = [Path(folder, n) for n in "abcd"]
            for name, x, commit in zip(names, (0.0, 0.0, 3e-10, 0.0), "1112"):
                with h5py.File(name, "w") as log:
                    log.attrs["git_commit"] = commit
                    log["frames/x"] = [[[1.0, x, 4 / 3 * x]], [[0.0, 0.0, 0.0]]]
            a, b, c, d = names
            self.assertEqual(result.compare(a, b), {"frames": 2, "vertices": 1, "largest_m": 0.0, "same_bits": True})
            moved = result.compare(a, c)
            self.assertAlmostEqual(moved["largest_m"], 5e-10, delta=1e-20)
            self.assertFalse(moved["same_bits"])
            self.assertRaises(SystemExit, result.compare, a, d)

    def test_titles(self):
        for system, name in (("Debian GNU/Linux 13 (trixie)", "Debian 13 (trixie)"), ("Ubuntu 26.04 LTS", "Ubuntu 26.04"),
                             ("Debian GNU/Linux forky/sid", "Debian testing (forky)")):
            self.assertEqual(page.title({"system": system}), name)

    def test_page(self):
        r = {"versions": {"system": "Debian GNU/Linux 13 (trixie)", "release": "13.8", "gcc": "14.2.0"}, "commit": 40 * "a",
             "host": {"system": "Debian GNU/Linux 12 (bookworm)", "gcc": "12.2.0"}, "date": "2026-11-26", "packages_before": 80, "made_new": False,
             "commands": [{"command": "./loom run configs/drape.ini", "exit_code": 0, "cpu_s": 205},
                          {"command": "./loom test -R log", "exit_code": 1, "cpu_s": 300}], "warnings": [],
             "warnings_sanitized": ["w"], "drape": {"same_bits": False, "largest_m": 1.04e-12, "frames": 201},
             "tests": {"passed": 7, "failed": {}, "skipped": {"format": "only clang-format 14 decides"}}, "faults": ["a|b"]}
        text = page.page([r])
        for line in ("|  | Debian 12 (bookworm), compared with | Debian 13 (trixie) |", "| gcc | 12.2.0 | 14.2.0 |",
                     "| made for this run |  | no, kept from an earlier one |",
                     "| `./loom run configs/drape.ini` |  | exit 0, 205 s |", "| `./loom render out/drape.h5 -o drape.png` |  | not run |", "| `./loom test` |  | only `-R log`: exit 1, 300 s |",
                     "| positions of the drape |  | at most 1.0e-12 m apart, 201 frames |",
                     "| tests |  | 7 passed, 0 failed, 1 skipped |", "- `format`: only clang-format 14 decides", "- a\\|b"):
            self.assertIn(line + "\n", text)
        self.assertIn("No result", page.page([]))


if __name__ == "__main__":
    unittest.main()
