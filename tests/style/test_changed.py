#!/usr/bin/env python3
"""changed.py names the sources that have to be checked anew: in a repository of two, built by ninja."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
FILES = {
    "CMakeLists.txt": "",
    "framework/CMakeLists.txt": "",
    "framework/cmake/flags.cmake": "",
    "framework/a.c": '#include "a.h"\n#include "made/list.inc"\n',
    "framework/a.h": "",
    "plugins/one/CMakeLists.txt": "",
    "plugins/one/b.c": "",
    "tests/style/options": "",
    "tests/other.c": "",
    "build/framework/made/list.inc": "",
    "build/build.ninja": "\n".join(
        ("rule cc", "  command = cc -Iframework -I{root} -c $in -o $out -MD -MF $out.d", "  deps = gcc", "  depfile = $out.d",
         "build a.o: cc {top}/framework/a.c", "build b.o: cc {top}/plugins/one/b.c", "")),
}
SOURCES = ["framework/a.c", "plugins/one/b.c"]
ALONE = "framework/not_built.c"


class Changed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            self.put(name, text.format(top=self.top, root=self.top / "build/framework") if "ninja" in name else text)
        shutil.copy(HERE / "changed.py", self.top / "tests/style")
        self.put(".gitignore", "build\n")
        self.do("git", "init", "-q")
        self.do("git", "add", ".")
        self.do("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "all")
        self.put("tests/style/clean.txt", f"# words\n{self.do('git', 'rev-parse', 'HEAD').strip()} tool 1.2\n")
        self.do("ninja", "-C", "build")

    def put(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def do(self, *words, text=None, **more):
        return subprocess.run(words, cwd=self.top, input=text, capture_output=True, text=True, check=True,
                              env={**os.environ, **more}).stdout

    def asked(self, sources=SOURCES, version="1.2", **more):
        return self.do(sys.executable, "tests/style/changed.py", "build", "tool", version, "tests/style/options",
                       text="\n".join(sources), **more).split()

    def test_nothing_has_changed(self):
        self.put("tests/other.c", "int x;")
        self.assertEqual(self.asked(), [])
        self.assertEqual(self.asked(version="1"), [], "of the version so many parts")

    def test_what_has_changed(self):
        for name, expected in {"framework/a.c": SOURCES[:1], "framework/a.h": SOURCES[:1], "plugins/one/b.c": SOURCES[1:],
                               "framework/CMakeLists.txt": SOURCES[:1], "plugins/one/CMakeLists.txt": SOURCES[1:],
                               "CMakeLists.txt": SOURCES, "framework/cmake/flags.cmake": SOURCES,
                               "tests/style/options": SOURCES}.items():
            with self.subTest(name):
                self.put(name, FILES[name] + "\nint x;\n")
                self.assertEqual(self.asked(), expected)
                self.put(name, FILES[name])

    def test_comments(self):
        text = FILES["framework/a.c"]
        for more, expected in {"/* of two\n * lines */\n\n": [], "// one \\\n more": [], "\t \n": [],
                               "int x; /* a */": SOURCES[:1], "#define A\nint x;": SOURCES[:1],
                               "// NOLINT": SOURCES[:1], "/* cppcheck-suppress all */": SOURCES[:1], "/* name= */": SOURCES[:1],
                               'char *x = "/* text */";': SOURCES[:1]}.items():
            with self.subTest(more):
                self.put("framework/a.c", text + more)
                self.assertEqual(self.asked(), expected)
        self.put("framework/a.c", text + 'char *x = "/* a */";')
        self.do("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "more")
        self.put("tests/style/clean.txt", f"{self.do('git', 'rev-parse', 'HEAD').strip()} tool 1.2\n")
        self.assertEqual(self.asked(), [])
        self.put("framework/a.c", text + 'char *x = "/* b */";')
        self.assertEqual(self.asked(), SOURCES[:1], "a comment in a text is no comment")

    def test_what_a_generated_file_is_made_from(self):
        self.put("framework/made/CMakeLists.txt", "")
        self.assertEqual(self.asked(), SOURCES[:1])

    def test_committed_since(self):
        self.put("framework/a.h", "int x;\n")
        self.do("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "more")
        self.assertEqual(self.asked(), SOURCES[:1])

    def test_what_is_not_built(self):
        self.assertEqual(self.asked([*SOURCES, ALONE]), [ALONE])

    def test_without_git_all_are(self):
        self.put("ninja/ninja", f'#!/bin/sh\nexec {shutil.which("ninja")} "$@"\n')
        (self.top / "ninja/ninja").chmod(0o755)
        self.assertEqual(self.asked(PATH=str(self.top / "ninja")), SOURCES)

    def test_where_nothing_is_known_all_are(self):
        self.assertEqual(self.asked(version="1.3"), SOURCES)
        self.assertEqual(self.asked(version="1.20"), SOURCES)
        self.assertEqual(self.asked(LOOM_LINT_ALL="1"), SOURCES)
        self.put("tests/style/clean.txt", f"{'0' * 40} tool 1.2\n")
        self.assertEqual(self.asked(), SOURCES)


if __name__ == "__main__":
    for program in ("git", "ninja", "cc"):
        if shutil.which(program) is None:
            print(f"SKIP: test_changed: there is no {program}")
            sys.exit(77)
    unittest.main()
