"""Opens report pages in a real browser and uses them as a person would.

Usage: check.py CHROMIUM PAGE.html... [--screenshots FOLDER] [--hostile PAGE.html]

For every page, in light and dark, at desktop and phone width: all sections are there, nothing is written to
the console, nothing is fetched, the page does not scroll sideways, and an accessibility checker (axe-core) has
no serious finding. Then sorting, searching, filtering, paging, the keyboard, the details of a worker and the
downloads are tried. A hostile page (ids and texts that try to be scripts) must stay inert.
"""

import argparse
import csv
import io
import pathlib
import sys
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

SECTIONS = ["tasks", "workers", "classes", "confidence", "majority", "agreement", "coverage", "plan", "convergence"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
passed = failed = 0


def check(good, what):
    """Counts one check and names it where it fails."""
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}", file=sys.stderr)


def open_page(browser, path, scheme, width, scripts=True):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900},
                                  accept_downloads=True, java_script_enabled=scripts)
    page = context.new_page()
    page.messages, page.requests = [], []
    page.on("console", lambda message: page.messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.messages.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (page.messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    start = time.monotonic()
    page.goto(path.as_uri())
    if scripts:
        page.wait_for_selector("body[data-ready=true]", timeout=30000)
    page.seconds = time.monotonic() - start
    return page


def look(page, path, scheme, width, sections):
    name = f"{path.stem}, {scheme}, {width} px"
    for section in sections:
        check(page.locator(f"section#{section}").count() == 1, f"{name}: section {section}")
    check(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"), f"{name}: scrolls sideways")
    found = Axe().run(page).response["violations"]
    grave = [f"{v['id']} ({v['nodes'][0]['target']})" for v in found if v["impact"] in ("serious", "critical")]
    check(not grave, f"{name}: accessibility {grave}")
    check(not page.messages, f"{name}: console {page.messages}")
    fetched = [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))]
    check(not fetched, f"{name}: fetched {fetched}")


def cells(page, table, column):
    return page.locator(f"[data-table={table}] tbody tr:not(.detail) > :nth-child({column})").all_inner_texts()


def use(page, path):
    name = path.stem
    numbers = [float(text.rstrip(" %")) for text in cells(page, "tasks", 3)]
    check(numbers == sorted(numbers), f"{name}: the most doubtful task is first")
    sort = page.locator("[data-table=tasks] thead button", has_text="Confidence")
    sort.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    numbers = [float(text.rstrip(" %")) for text in cells(page, "tasks", 3)]
    check(numbers == sorted(numbers, reverse=True), f"{name}: sorted by the keyboard")
    check(page.locator("[data-table=tasks] th[aria-sort=descending]").count() == 1, f"{name}: says how it is sorted")
    first = cells(page, "tasks", 1)[0]
    page.locator("[data-table=tasks] input").fill(first)
    found = cells(page, "tasks", 1)
    check(first in found and len(found) <= 50, f"{name}: search finds {first!r}")
    page.locator("[data-table=tasks] input").fill("no such thing anywhere")
    check("Nothing found" in page.locator("[data-table=tasks] tbody").inner_text(), f"{name}: an empty search")
    page.locator("[data-table=tasks] input").fill("")
    options = page.locator("[data-table=tasks] option").all_inner_texts()
    check("split votes" in options, f"{name}: reasons {options}")
    page.locator("[data-table=tasks] select").select_option("split-votes")
    why = cells(page, "tasks", page.locator("[data-table=tasks] thead th").count())
    check(all("split" in text or "Nothing" in text for text in why), f"{name}: one reason only")
    page.locator("[data-table=tasks] select").select_option("")
    if page.locator("[data-table=tasks] .pages button", has_text="Next").is_enabled():
        page.locator("[data-table=tasks] .pages button", has_text="Next").click()
        check("Page 2" in page.locator("[data-table=tasks] [role=status]").inner_text(), f"{name}: the next page")
    with page.expect_download() as waiting:
        page.locator("[data-table=tasks] button", has_text="Download").click()
    rows = list(csv.reader(io.StringIO(pathlib.Path(waiting.value.path()).read_text())))
    status = page.locator("[data-table=tasks] [role=status]").inner_text()
    told = int(status.split(", ", 1)[1].split(" ")[0].replace(",", ""))
    check(rows[0][0] == "task" and len(rows) == told + 1, f"{name}: download has {len(rows) - 1} of {told} rows")
    show = page.locator("[data-table=workers] tbody button").first
    show.focus()
    page.keyboard.press("Enter")
    check(page.locator("[data-table=workers] tr.detail table.heat").count() == 1, f"{name}: how a worker errs")
    check(page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true", f"{name}: focus stays")
    page.locator("nav a").first.focus()
    page.keyboard.press("Enter")
    check(page.url.endswith("#tasks"), f"{name}: the links to the sections work")
    check(not page.messages, f"{name}: console after use {page.messages}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chromium")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--hostile", type=pathlib.Path)
    args = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=FLAGS)
        for path in args.pages:
            path = path.resolve()
            for scheme in ("light", "dark"):
                for width in (1200, 360):
                    page = open_page(browser, path, scheme, width)
                    look(page, path, scheme, width, SECTIONS)
                    if args.screenshots:
                        args.screenshots.mkdir(parents=True, exist_ok=True)
                        shot = args.screenshots / f"{path.stem}-{scheme}-{width}.png"
                        page.screenshot(path=shot, full_page=width == 1200)
                    if (scheme, width) == ("light", 1200):
                        print(f"{path.name}: opened in {page.seconds:.2f} s")
                        use(page, path)
                        if args.screenshots:
                            page.pdf(path=args.screenshots / f"{path.stem}.pdf")
                    page.context.close()
            plain = open_page(browser, path, "light", 1200, scripts=False)
            check(plain.locator("[data-table=tasks] tbody tr").count() > 0, f"{path.stem}: rows without a script")
            plain.context.close()
        if args.hostile:
            page = open_page(browser, args.hostile.resolve(), "light", 1200)
            page.wait_for_timeout(500)
            check(page.evaluate("window.hacked === undefined"), "hostile: a script ran")
            check(page.locator("img, iframe, object, embed").count() == 0, "hostile: foreign elements")
            look(page, args.hostile.resolve(), "light", 1200, ["tasks", "workers"])
            page.context.close()
        browser.close()
    print(f"report: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
