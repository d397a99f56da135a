"""The report and the notebooks in a real browser, from a file, with nothing fetched."""

import json
import re
import shutil
import time
from urllib.parse import urlsplit

import pytest
from selenium import webdriver

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no chromium and chromedriver on this machine"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
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


def requested(browser) -> set[str]:
    """Hosts that the page asked since the last time."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    urls = [urlsplit(parameters["request"]["url"]) for parameters in sent]
    own = ("file", "data", "blob", "chrome")  # the last: the browser's page of a new tab
    return {url.netloc or url.path for url in urls if url.scheme not in own}


def complaints(browser) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the page did not show it in time"
        time.sleep(0.1)


STATE = "return [location.href, document.readyState]"

FORMULAS = "return [...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().width)"

IMAGES = "return [...document.images].map(i => [i.complete, i.naturalWidth, i.id])"


def opened(browser, page):
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(page.as_uri())
    # On a busy machine the driver may come back before the page is there.
    wait_until(lambda: browser.execute_script(STATE) == [page.as_uri(), "complete"])


def test_the_report_opens_with_each_claim_and_every_number(browser, report):
    opened(browser, report)
    wait_until(lambda: "what shows it" in browser.find_element("tag name", "body").text)
    text = browser.find_element("css selector", ".prose").text
    for words in (
        "System Message",  # how docutils says that something is wrong
        "{{", "{%",
    ):  # fmt: skip
        assert words not in text
    for words in (
        "Habernal (ACL 2022)", "Gerolimetto Fabrello et al. (2026)", "synthpriv",
        "bernoulli_exp1 is the earliest faulty layer", "printed numbers", "snakemake",
        '"seed": 20220522',
    ):  # fmt: skip
        assert words in text
    verdicts = browser.find_elements("css selector", ".landing td.verdict")
    assert sorted({verdict.text for verdict in verdicts}) == [
        "does not stand",
        "not decided",
        "not promised",
        "stands",
    ]
    assert len(verdicts) == 26
    wait_until(lambda: [True, 1575, "comparison"] in browser.execute_script(IMAGES))
    assert (
        browser.execute_script("return arguments[0].getBoundingClientRect().top", verdicts[0]) > 0
    )
    browser.find_element("link text", "layers.html").click()
    wait_until(lambda: browser.execute_script(PLACE) == "results/opendp/layers.html")
    assert requested(browser) == set()
    assert complaints(browser) == []


def test_every_figure_table_and_notebook_of_the_report_shows(browser, report):
    opened(browser, report)
    wait_until(lambda: browser.execute_script("return typeof app") == "object")
    categories = sorted(browser.execute_script("return Object.keys(categories)"))
    assert [name.split(". ")[1] for name in categories] == [
        "Published against ours", "DPText", "OpenDP", "DPEcdf", "Audits of any noise", "Notebooks",
    ]  # fmt: skip
    figures, pages = 0, 0
    for category in categories:
        browser.find_element("css selector", "nav ol a").click()  # home, as a reader would go
        wait_until(lambda: shown(browser) == 0)
        browser.find_element("xpath", f"//nav//a[contains(., '{category}')]").click()
        rows = f"return Object.values(categories[{json.dumps(category)}]).flat()"
        wait_until(lambda rows=rows: shown(browser) == len(browser.execute_script(rows)))
        for place in range(shown(browser)):
            browser.find_elements("css selector", "nav tbody tr")[place].find_element(
                "css selector", "a[type=button]"
            ).click()
            if browser.find_elements("css selector", "iframe"):
                read_page(browser)
                pages += 1
            else:
                wait_until(lambda: largest_image(browser) > 500)
                assert browser.execute_script(TOP) >= 0
                figures += 1
    assert (figures, pages) == (28, 11)
    assert requested(browser) == set()
    assert complaints(browser) == []


LINKS = """return Object.fromEntries(Object.entries(results).map(([path, result]) => {
    const caption = new DOMParser().parseFromString(result.caption, "text/html");
    return [path, [...caption.links].map(link => link.getAttribute("href"))];
}))"""


def test_figures_tables_and_notebooks_of_the_report_lead_to_each_other(browser, report):
    opened(browser, report)
    wait_until(lambda: browser.execute_script("return typeof app") == "object")
    links = browser.execute_script(LINKS)
    assert len(links) == 28 + 11
    lead = {
        path: {re.fullmatch(r"javascript:app\.showResultInfo\('(.*)'\)", url)[1] for url in urls}
        for path, urls in links.items()
    }
    assert set().union(*lead.values()) <= set(lead)
    for path, others in lead.items():
        pages = {name for name in others if name.endswith(".html")} - {path}
        assert pages or path in ("results/comparison.html", "results/audits/verdicts.html"), path
        assert path.endswith(".png") or {name for name in others if name.endswith(".png")}, path
    # As a reader goes: the picture, its table, the table's notebook, and back to the picture.
    browser.execute_script("app.showResultInfo('figures/opendp/artifacts.png')")
    for name in ("releases.html", "opendp.html", "artifacts.png"):
        wait_until(lambda name=name: browser.find_elements("link text", name))
        browser.find_element("link text", name).click()
        wait_until(lambda name=name: browser.execute_script(PLACE).endswith(name))
        browser.find_element("css selector", "nav table a[type=button]").click()
        if name.endswith(".html"):
            read_page(browser)
        else:
            wait_until(lambda: largest_image(browser) > 500)
    assert requested(browser) == set()
    assert complaints(browser) == []


PLACE = "return app.state.resultPath"

TOP = """const image = document.querySelector('.p-3 > img');
image.closest('.h-screen').scrollTop = 0;
return image.getBoundingClientRect().top"""
"""Of a picture, once the page is scrolled up: none begins above what can be reached."""


def shown(browser) -> int:
    return len(browser.find_elements("css selector", "nav tbody tr"))


def largest_image(browser) -> int:
    main = "return [...document.querySelectorAll('.p-3 > img')].map(i => i.naturalWidth)"
    return max(browser.execute_script(main), default=0)


def read_page(browser) -> None:
    """A table or a notebook in its frame: with rows, and all pictures drawn."""
    browser.switch_to.frame(browser.find_element("css selector", "iframe"))
    wait_until(lambda: browser.find_elements("css selector", "table tbody tr"))
    assert all(done and width for done, width, _ in browser.execute_script(IMAGES))
    browser.switch_to.default_content()


@pytest.mark.parametrize("name", ["dptext", "opendp", "realised_privacy", "dpecdf"])
def test_a_notebook_opens_alone_with_its_formulas(browser, finished, name):
    opened(browser, finished.folder / f"results/notebooks/{name}.html")
    wait_until(lambda: len(browser.execute_script(FORMULAS)) >= 3)
    assert min(browser.execute_script(FORMULAS)) > 4
    text = browser.find_element("tag name", "body").text
    assert "$" not in text
    assert "stands" in text
    wait_until(lambda: all(done and width for done, width, _ in browser.execute_script(IMAGES)))
    assert requested(browser) == set()
    assert complaints(browser) == []


def test_a_table_can_be_sorted_filtered_and_searched(browser, finished):
    opened(browser, finished.folder / "results/comparison.html")
    total = len(visible(browser))
    assert total > 250
    heads = browser.find_elements("css selector", "th button")
    names = [head.text for head in heads]
    place = names.index("ours")
    for order in (sorted, lambda values: sorted(values, reverse=True)):
        heads[place].click()
        column = [row[place] for row in visible(browser)]
        numbers = [float(cell) for cell in column if cell]
        assert numbers == order(numbers)
        assert column[len(numbers) :] == [""] * (total - len(numbers))
    browser.find_element("id", "search").send_keys("geometric_fast mean_z")
    assert {row[names.index("quantity")] for row in visible(browser)} == {
        "geometric_fast mean_z, faulty cascade"
    }
    browser.find_element("id", "search").clear()
    browser.find_element("id", "search").send_keys(" ")
    browser.find_element("xpath", "//select/option[. = 'dpecdf']").click()
    assert len(visible(browser)) == 4
    assert requested(browser) == set()
    assert complaints(browser) == []


def visible(browser) -> list[list[str]]:
    """The cells of the rows that are shown, from the top."""
    rows = "[...document.querySelectorAll('tbody tr')].filter(row => !row.hidden)"
    return browser.execute_script(
        f"return {rows}.map(row => [...row.cells].map(cell => cell.textContent))"
    )
