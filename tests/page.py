"""`make test_page`: the report in a real browser. Says so, and is fine, where it cannot be done.

Chromium is the distribution's; as root on Debian it is installed. Playwright and axe-core come into
a folder of their own, since nothing else needs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PLACE = CHECKOUT / ".venv" / "page"
PACKAGES = ("playwright>=1.49,<2", "axe-playwright-python>=0.1.4,<1")
NAMES = ("chromium", "chromium-browser")


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


def main() -> int:
    if not has_chromium():
        install_chromium()
    if not has_chromium():
        return skipped("there is no Chromium here, and it could not be installed")
    try:
        if not packages():
            return skipped("Playwright could not be installed")
    except (OSError, subprocess.CalledProcessError) as error:
        return skipped(f"Playwright could not be installed: {error}")
    tests = [str(CHECKOUT / "tests" / "history" / "test_page.py")]
    python = str(CHECKOUT / ".venv" / "bin" / "python")
    environment = {**os.environ, "PYTHONPATH": str(PLACE)}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-n0", *tests], cwd=CHECKOUT, env=environment, check=False
    )
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
