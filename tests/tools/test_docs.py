"""`loom docs`: the site of all pages has no dead link, all keys, and the lists and tables of the sources."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import markdown
from logs import Bench
from loomcloth import docs
from loomcloth.errors import LogError
from markdown_it import MarkdownIt

ROOT = Path(os.environ["LOOM_SOURCE_DIR"])
MD = ".md"  # pages of the tests alone are no pages of the repository
PARTS = ("h1", "h2", "h3", "table", "tr", "ul", "ol", "li", "pre", "img", "a")


def ask(*words):
    done = subprocess.run([os.environ["LOOM_BIN"], *words], capture_output=True, text=True, check=True)
    return done.stdout


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.said = cls.bench.tool("docs", "-o", "site").stdout
        cls.site = cls.bench.path / "site"

    @classmethod
    def tearDownClass(cls):
        cls.bench.close()

    def text(self, page):
        return (self.site / page).read_text()

    def test_every_plugin_has_a_page_with_its_keys(self):
        plugins = json.loads(ask("list", "--json"))["plugins"]
        self.assertGreater(len(plugins), 25)
        overview = (ROOT / "framework/doc/plugins.md").read_text()
        for name in {p["name"] for p in plugins}:
            for d in json.loads(ask("describe", name, "--json")):
                folder = f"plugins/{docs.KINDS[d['kind']]}/{name}"
                text = self.text(f"{folder}/index.html")
                for key in d["params"]:
                    row = f"<td><code>{key['key']}</code></td>\n<td>{key['type']}</td>\n<td>"
                    self.assertIn(row, text, f"{folder}: {key['key']}")  # the authors' tables have no types
                for column in d["columns"] + d["step_columns"]:
                    self.assertIn(f"<td><code>{column['name']}</code></td>", text, folder)
                self.assertIn(f"](../../{folder})", overview, f"plugins.md lacks {name}")

    def test_keys_and_commands(self):
        text = self.text(docs.KEYS.replace(".md", ".html"))
        for section in ("run", "stop", "cloth", "body"):
            for key in json.loads(ask("describe", section, "--json"))[0]["params"]:
                self.assertIn(f"<td><code>{key['key']}</code></td>", text, f"[{section}] {key['key']}")
        for name in re.findall(r"^  ([a-z-]+) ", ask("help"), re.M):
            self.assertIn("usage", self.text(f"{docs.COMMANDS}/{name}.html"), name)

    def test_search_finds_a_key(self):
        index = json.loads(self.text("search/search_index.json"))["docs"]
        found = [d["location"] for d in index if "growth_base" in d["text"]]
        self.assertIn("plugins/contact/ndb/index.html#all-keys", found)

    def test_only_its_own_folder_is_replaced(self):
        self.bench.tool("docs", "--help")
        other = self.bench.path / "other"
        other.mkdir()
        (other / "thesis.tex").write_text("x")
        said = self.bench.tool("docs", "-o", "other", code=1).stderr
        self.assertIn("was not made by `./loom docs`", said)
        self.assertEqual((other / "thesis.tex").read_text(), "x")


class Pages(unittest.TestCase):
    def make(self, text, nav):
        with tempfile.TemporaryDirectory() as work:
            pages = Path(work) / "pages"
            pages.mkdir()
            (pages / f"index{MD}").write_text("# A page\n\n" + text)
            (pages / f"other{MD}").write_text("# Other\n\n## Part\n")
            (pages / "site.css").write_text("")
            docs.make_site(pages, Path(work) / "site", nav)

    def test_a_dead_link_ends_it(self):
        self.make(f"[good](other{MD}#part)\n", [f"index{MD}", f"other{MD}"])
        with self.assertRaises(LogError) as caught:
            self.make(f"[page](gone{MD}) ![picture](gone.png) [part](other{MD}#none)\n", [f"index{MD}"])
        for words in (f"gone{MD}", "gone.png", "does not contain an anchor '#none'", "not included in the"):
            self.assertIn(words, str(caught.exception))

    def test_lists_and_tables_are_those_of_the_sources(self):
        """Counted by another reader of Markdown, whose form is GitHub's."""
        reader = MarkdownIt("commonmark").enable("table")
        with tempfile.TemporaryDirectory() as work:
            stage = docs.Stage(ROOT, os.environ["LOOM_BIN"], Path(work))
            for page in docs.pages(ROOT):
                wanted = reader.render((ROOT / page).read_text())
                text = "\n".join(stage.text_of(page))
                made = markdown.markdown(text, extensions=["tables", "fenced_code"])
                for part in PARTS:
                    counts = [len(re.findall(f"<{part}[ >]", html)) for html in (wanted, made)]
                    self.assertEqual(*counts, f"{page}: <{part}>")


if __name__ == "__main__":
    unittest.main()
