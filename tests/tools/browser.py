"""A headless Chromium that is told never to use the network."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromedriver")


def missing() -> str:
    """Why there is none, "" if there is one."""
    lacking = [p for p in PROGRAMS if shutil.which(p) is None]
    return f"{', '.join(lacking)} not found (Debian: chromium chromium-driver)" if lacking else ""


class Browser:
    def __init__(self, width: int = 1280, height: int = 860) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        options.binary_location = str(shutil.which("chromium"))
        for word in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            f"--window-size={width},{height}",
            "--enable-unsafe-swiftshader",
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--allow-file-access-from-files",
        ):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver: Any = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(120)

    def open(self, page: Path) -> None:
        self.driver.get(page.as_uri())

    def js(self, text: str, *arguments: object) -> Any:
        return self.driver.execute_script(text, *arguments)

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def wait(self, condition: str, seconds: float = 120.0) -> None:
        end = time.monotonic() + seconds
        while not self.js(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never: {condition}\n{self.errors()}"
            time.sleep(0.1)

    def errors(self) -> list[str]:
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def picture(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))

    def close(self) -> None:
        self.driver.quit()
