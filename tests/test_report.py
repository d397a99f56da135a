"""The report and the notebooks in a real browser, from a file, with nothing fetched."""

import json
import shutil
from urllib.parse import urlsplit

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no chromium and chromedriver on this machine"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1500,1000",
        f"--user-data-dir={tmp_path_factory.mktemp('browser')}",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(finished, tmp_path_factory):
    page = tmp_path_factory.mktemp("report") / "report.html"
    run = finished.snakemake("--report", str(page))
    assert run.returncode == 0, run.stderr
    return page


def requested(browser) -> set[str]:
    """Hosts that the page asked since the last time."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    urls = [urlsplit(parameters["request"]["url"]) for parameters in sent]
    return {url.netloc or url.path for url in urls if url.scheme not in ("file", "data", "blob")}


def complaints(browser) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
