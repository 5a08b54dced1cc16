"""Makes ``docs/report.png``: a session as the report shows it, photographed in Chromium.

Run as ``python docs/report_picture.py`` where playwright and Chromium are installed.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SESSION = "mediocre:late_for_dinner_low_battery-base-s0-t0"


def main() -> None:
    """Play one session that goes half right, report on it, and take the picture."""
    sys.path.insert(0, str(ROOT))
    from playwright.sync_api import sync_playwright

    from sandbox_mcp.app.report.index import Index
    from sandbox_mcp.app.report.report_file import report
    from sandbox_mcp.app.report.run_sources import find_runs
    from tests.report.sessions import Mediocre, a_run, find

    with TemporaryDirectory() as place:
        index = Index(None, find)
        list(index.add(find_runs([a_run(Path(place) / "mediocre", Mediocre())])))
        (Path(place) / "report.html").write_text(report(index, "A run"), encoding="utf-8")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 800})
            page.goto(f"{(Path(place) / 'report.html').as_uri()}#/s/{SESSION}")
            page.wait_for_selector("html[data-ready]")
            page.screenshot(path=ROOT / "docs" / "report.png")
            browser.close()


if __name__ == "__main__":
    main()
