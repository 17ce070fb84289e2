"""The server of loom tells what loom tells, finds planted faults and keeps its limits.

  test_server.py LOOM SERVER PLANTED [TEST...]

LOOM and SERVER are of one tree with sanitizers; PLANTED is the server of tests/sanitizers/planted.c.
"""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest
from collections import Counter

import bases
import foreign
import fuzz_files
import server

LOOM, SERVER, PLANTED = map(os.path.abspath, sys.argv[1:4])
SEED, EACH = "1", 1
MISSING = [["list"], ["describe", "penalty"], ["check", "missing.ini"], ["run"], ["fly"], [], ["info", "a\nb\x7f"]]


def make_server(program, files=(), cpu_s=fuzz_files.CPU_S, memory_mb=fuzz_files.MEMORY_MB, wall_s=fuzz_files.WALL_S):
    return server.Server(program, files, fuzz_files.environment(), cpu_s, fuzz_files.FILE_BYTES, memory_mb, wall_s)


class Night(unittest.TestCase):
    def test_500_of_each_kind_from_elsewhere(self):
        counts = Counter(kind for kind, _ in fuzz_files.plan(fuzz_files.NIGHT, fuzz_files.NIGHT // 2))
        self.assertEqual(counts.keys(), fuzz_files.MAKERS.keys())
        self.assertLess(6, len(foreign.MAKERS))
        for kind in (*foreign.MAKERS, "journal"):
            self.assertGreaterEqual(counts[kind], 500, kind)


class Same(unittest.TestCase):
    def setUp(self):
        os.environ["LOOM_FUZZ_SERVER"] = SERVER
        self.fuzzer = fuzz_files.Fuzzer(LOOM, "failures", SEED)
        self.addCleanup(self.fuzzer.close)

    def both(self, folder, commands):
        """Answers of the binary and of the server to the same commands in equal folders of one name."""
        kept, found = self.fuzzer.scratch / "kept", []
        folder.rename(kept)
        for run in (lambda a: fuzz_files.execute(LOOM, a, folder, self.fuzzer.env), lambda a: self.fuzzer.run(a, folder)):
            fuzz_files.copy(kept, folder)
            found.append([run(args)[:2] for args in commands])
            found[-1].append(sorted(str(p.relative_to(folder)) for p in folder.rglob("*")))
            shutil.rmtree(folder)
        shutil.rmtree(kept)
        return found

    def test_codes_messages_and_files(self):
        codes = set()
        for kind in sorted(fuzz_files.MAKERS):
            for number in range(EACH):
                with self.subTest(f"{kind}:{number}"):
                    folder, commands = self.fuzzer.input(kind, number)
                    exec_, served = self.both(folder, commands)
                    self.assertEqual(exec_, served)
                    codes |= {code for code, _ in served[:-1]}
        self.assertGreater(len(codes), 1)
        folder = self.fuzzer.scratch / "none"
        folder.mkdir()
        exec_, served = self.both(folder, MISSING)
        self.assertEqual(exec_, served)


class Limits(unittest.TestCase):
    def ask(self, steps, resolution, **limits):
        at = pathlib.Path(tempfile.mkdtemp(prefix="loom_fuzz_limits_"))
        self.addCleanup(shutil.rmtree, at)
        (at / "keys.txt").write_text(bases.KEYS)
        (at / "case.ini").write_text(bases.SCENES["penalty"].replace("6 6", f"{resolution} {resolution}"))
        served = make_server(SERVER, server.plugins_of(SERVER), **limits)
        self.addCleanup(served.close)
        code, text, peak = served.ask(["run", "case.ini", "-n", str(steps), "-o", "a.h5", "--quiet"], at)
        again = served.ask(["--version"], at)[0]  # it goes on
        return code, fuzz_files.fault_of(code, text, peak), peak, again

    def test_processor_time(self):
        code, fault, _, again = self.ask(1000000, 6, cpu_s=1)
        self.assertIn(code, (-signal.SIGXCPU, 128 + signal.SIGXCPU))
        self.assertTrue(fuzz_files.is_limit(fault), fault)
        self.assertEqual(again, 0)

    def test_memory(self):
        code, fault, peak, again = self.ask(1, 700, memory_mb=150)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertTrue(fuzz_files.is_limit(fault), fault)
        self.assertGreater(peak, 150)
        self.assertEqual(again, 0)

    def test_clock(self):
        code, fault, _, again = self.ask(1000000, 6, wall_s=1)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertTrue(fuzz_files.is_limit(fault), fault)
        self.assertEqual(again, 0)


class Planted(unittest.TestCase):
    def test_each_fault_is_found(self):
        served = make_server(PLANTED)
        self.addCleanup(served.close)
        for kind, faulty, fine in (("heap", 8, 7), ("heap_write", -1, 0), ("stack", 8, 7), ("global", 8, 7), ("freed", 0, None),
                                   ("twice", 0, None), ("shift", 40, 3), ("overflow", 1, 0), ("divide", 0, 1)):
            with self.subTest(kind):
                code, text, peak = served.ask([kind, str(faulty)], "/")
                self.assertEqual(code, fuzz_files.SANITIZER_CODE)
                self.assertEqual(fuzz_files.fault_of(code, text, peak), "the sanitizers report an error")
                self.assertRegex(text, r"planted\.c:[0-9]")
                if fine is not None:
                    self.assertIsNone(fuzz_files.fault_of(*served.ask([kind, str(fine)], "/")))


if __name__ == "__main__":
    if not fuzz_files.has_h5py():
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
