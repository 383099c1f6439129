#!/usr/bin/env python3
"""Look at every page of a built site in Chromium: what does not fit, does not show, or is not there.

Outside of the image, on a machine with Chromium (Debian: ``apt install chromium chromium-driver
python3-selenium``)::

    docker/run sphinx-build -W --keep-going .docs results/site
    python3 .docs/_site/look.py results/site [--pictures FOLDER] [--search WORD] [PAGE ...]

Every page is opened at 1280 and at 400 pixels, light and dark. Told are pages wider than the window, pictures
and films that do not load, formulas that are not set, text on a ground of its own colour, and errors of the
console; then the pages without a picture. ``--pictures`` stores what is seen. The status is 1 where anything
is wrong.
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

WIDTHS, THEMES = (1280, 400), ("light", "dark")
_OPTIONS = (
    "headless no-sandbox disable-gpu disable-background-networking disable-component-update disable-sync "
    "no-first-run hide-scrollbars"
)
#: Waits for pictures, films and formulas; then what of them is not there, and how many pictures there are.
_LOADED = """
const done = arguments[0], article = document.querySelector('article') || document.body;
const images = [...document.images], films = [...document.querySelectorAll('video')];
images.forEach(each => each.loading = 'eager');
films.forEach(each => { each.autoplay = false; each.pause(); each.preload = 'metadata'; });
const settled = (each, ready, events) => ready() ? null : new Promise(go => {
  events.forEach(name => each.addEventListener(name, go, {once: true, capture: true}));
  setTimeout(go, 15000);
});
const waits = images.map(each => settled(each, () => each.complete, ['load', 'error']));
const known = ['loadedmetadata', 'error'];
waits.push(...films.map(each => settled(each, () => each.readyState || each.error, known)));
if (window.MathJax && MathJax.Hub) waits.push(new Promise(go => MathJax.Hub.Queue(go)));
Promise.all(waits).then(() => {
  const name = each => each.currentSrc || each.src || each.outerHTML.slice(0, 80);
  const formulas = [...document.querySelectorAll('.math')];
  const unset = each => !each.querySelector('.mjx-chtml') || each.querySelector('.mjx-merror, .merror');
  done({
    'picture does not load': images.filter(each => !each.naturalWidth).map(name),
    'film does not load': films.filter(each => !each.videoWidth).map(name),
    'formula is not set': formulas.filter(unset).map(each => each.textContent.trim().slice(0, 60)),
    pictures: article.querySelectorAll('img, svg[role=img], video').length,
    formulas: formulas.length,
  });
});
"""
#: What is wider than the window, and whose fault it is; text that cannot be told from its ground.
_FITS = """
const wide = document.documentElement.clientWidth, found = {};
if (document.documentElement.scrollWidth > wide + 1) {
  const scrolls = each => each && each !== document.body &&
    (getComputedStyle(each).overflowX !== 'visible' || scrolls(each.parentElement));
  const beyond = [...document.querySelectorAll('article *')].filter(each =>
    each.getBoundingClientRect().right > wide + 1 && !scrolls(each.parentElement));
  found['wider than the window'] = [document.documentElement.scrollWidth + ' pixels: ' +
    (beyond.slice(-1).map(each => each.outerHTML.slice(0, 80))[0] || 'something outside of it')];
}
const body = getComputedStyle(document.body);
const light = color => color.match(/[\\d.]+/g).slice(0, 3).reduce((sum, each) => sum + +each, 0) / 765;
const ground = light(body.backgroundColor);
if ((ground < 0.5) !== (arguments[0] === 'dark')) found['ground of the other theme'] = [body.backgroundColor];
const words = 'article p, article li, article td, article text';
const pale = [...document.querySelectorAll(words)].filter(each => {
  const style = getComputedStyle(each);
  return Math.abs(light(each.tagName === 'text' ? style.fill : style.color) - ground) < 0.2;
});
if (pale.length) found['text like its ground'] = pale.map(each => each.textContent.trim().slice(0, 40));
return found;
"""
_FOUND = """
const done = arguments[0], list = () => [...document.querySelectorAll('#search-results li a')];
const look = left => list().length || !left ? setTimeout(() => done(list().map(
  each => each.getAttribute('href').split('?')[0] + ': ' + each.textContent)), 1500)
  : setTimeout(() => look(left - 1), 200);
look(50);
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """No line for each file."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Chromium without a window, with a new profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for option in (*_OPTIONS.split(), f"user-data-dir={profile}"):
            options.add_argument(f"--{option}")
        driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        driver.set_script_timeout(60)
        try:
            yield driver
        finally:
            driver.quit()


def _dress(driver: webdriver.Chrome, width: int, theme: str) -> None:
    """Give the window a width and the reader a theme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def _keep(driver: webdriver.Chrome, path: Path) -> None:
    """Store the whole page as a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


def look(driver: webdriver.Chrome, address: str, page: str, pictures: Path | None) -> tuple[list[str], Any]:
    """Lines on what is wrong with a page, and how many pictures and formulas it has."""
    lines = []
    _dress(driver, WIDTHS[0], THEMES[0])
    driver.get(f"{address}/{page}")
    loaded = driver.execute_async_script(_LOADED)
    counts = {name: loaded.pop(name) for name in ("pictures", "formulas")}
    lines += [f"{page}: {what}: {each}" for what, several in loaded.items() for each in several]
    for width in WIDTHS:
        for theme in THEMES:
            _dress(driver, width, theme)
            for what, several in driver.execute_script(_FITS, theme).items():
                lines.append(f"{page}, {width}, {theme}: {what}: {'; '.join(several[:3])}")
            if pictures:
                _keep(
                    driver, pictures / f"{page.removesuffix('.html').replace('/', '-')}-{width}-{theme}.png"
                )
    errors = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    lines += [f"{page}: console: {entry['message']}" for entry in errors if "favicon" not in entry["message"]]
    return lines, counts


def main(arguments: list[str] | None = None) -> int:
    """Look at a site; the exit status."""
    parser = argparse.ArgumentParser(description="Look at every page of a built site.")
    parser.add_argument("site", type=Path, help="folder of the site")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="of its pages, as a/b.html; default: all")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="store what is seen")
    parser.add_argument("--search", metavar="WORD", help="only tell what a search finds")
    given = parser.parse_intermixed_args(arguments)
    every = sorted(str(path.relative_to(given.site)) for path in given.site.rglob("*.html"))
    pages = given.pages or [page for page in every if not page.startswith("_")]
    wrong, bare, formulas = [], [], 0
    with served(given.site) as address, chromium() as driver:
        if given.search:
            driver.get(f"{address}/search.html?q={given.search}")
            print("\n".join(driver.execute_async_script(_FOUND)))
            return 0
        for page in pages:
            lines, counts = look(driver, address, page, given.pictures)
            print("\n".join(lines), end="\n" if lines else "", flush=True)
            wrong += lines
            formulas += counts["formulas"]
            bare += [] if counts["pictures"] else [page]
    print(f"{len(pages)} pages, {formulas} formulas, {len(wrong)} things wrong")
    print(f"{len(bare)} pages without a picture: {', '.join(bare)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
