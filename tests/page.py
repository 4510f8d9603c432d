"""`make test_page`: the report in a real browser. Says so, and is fine, where it cannot be done.

`make picture` takes the pictures of README.md with it: the report of `make demo`, light and dark.

Chromium is the distribution's; as root on Debian it is installed. Playwright and axe-core come into
a folder of their own, since nothing else needs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PLACE = CHECKOUT / ".venv" / "page"
PACKAGES = ("playwright>=1.49,<2", "axe-playwright-python>=0.1.4,<1")
NAMES = ("chromium", "chromium-browser")
SIZE = {"width": 960, "height": 840}  # of the pictures, in pixels


def skipped(why: str) -> int:
    sys.stderr.write(f"test_page: skipped: {why}\n")
    return 0


def has_chromium() -> bool:
    return any(map(shutil.which, NAMES))


def install_chromium() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)


def packages() -> bool:
    """Whether Playwright is in its folder, by now."""
    if (PLACE / "playwright").is_dir():
        return True
    maker = PLACE.with_name("page-pip")
    subprocess.run([sys.executable, "-m", "venv", str(maker)], check=True)
    pip = [str(maker / "bin" / "python"), "-m", "pip", "install", "-q", "--target", str(PLACE)]
    return subprocess.run([*pip, *PACKAGES], check=False).returncode == 0


def main(wanted: str) -> int:
    if not has_chromium():
        install_chromium()
    if not has_chromium():
        return skipped("there is no Chromium here, and it could not be installed")
    try:
        if not packages():
            return skipped("Playwright could not be installed")
    except (OSError, subprocess.CalledProcessError) as error:
        return skipped(f"Playwright could not be installed: {error}")
    if wanted == "picture":
        sys.path.append(str(PLACE))
        with tempfile.TemporaryDirectory() as scratch:
            take_pictures(demo(Path(scratch)))
        return 0
    tests = [str(CHECKOUT / "tests" / "history" / "test_page.py")]
    python = str(CHECKOUT / ".venv" / "bin" / "python")
    environment = {**os.environ, "PYTHONPATH": str(PLACE)}
    environment |= {"GOLDEN": "accept"} if wanted == "accept" else {}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-n0", *tests], cwd=CHECKOUT, env=environment, check=False
    )
    return done.returncode


def demo(scratch: Path) -> Path:
    """The report that `make demo` leaves in `scratch`."""
    environment = {**os.environ, "TMPDIR": str(scratch)}
    command = ["make", "-s", "demo", "keep=1"]
    subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return next(scratch.glob("*/.contextkit/report.html"))


def take_pictures(report: Path) -> None:
    """manuals/report-light.png and report-dark.png: the top of a report in a real browser."""
    from importlib import import_module

    api = import_module("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)))
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(report.as_uri())
            # the folder of the demo has a name that no reader should wonder about
            page.evaluate(
                "made.textContent = made.textContent.replace(/^contextkit-demo\\.\\w+/, 'demo')"
            )
            path = CHECKOUT / "manuals" / f"report-{scheme}.png"
            page.screenshot(path=path)
            print(path.relative_to(CHECKOUT))
        browser.close()


if __name__ == "__main__":
    raise SystemExit(main("".join(sys.argv[1:])))
