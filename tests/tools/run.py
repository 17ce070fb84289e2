"""run.py MODULE: its tests; a line "SKIP: ..." for each that is skipped, exit code 77 if all are."""

import sys
import unittest

name = sys.argv[1]
suite = unittest.defaultTestLoader.loadTestsFromName(name)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
for test, reason in result.skipped:
    print(f"SKIP: {test.id().removeprefix(name + '.')}: {reason}")
if not result.wasSuccessful():
    sys.exit(1)
# a module or class that is skipped as a whole counts no test
sys.exit(77 if result.skipped and result.testsRun <= len(result.skipped) else 0)
