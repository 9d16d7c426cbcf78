"""Opens report pages in a real browser and uses them as a person would.

Usage: check.py CHROMIUM PAGE.html... [--ranking PAGE.html...] [--screenshots FOLDER]
                [--hostile PAGE.html --spreadsheet-safe PAGE.html]

For every page, in light and dark, at desktop and phone width: all sections are there, nothing is written to
the console, nothing is fetched, the page does not scroll sideways, and an accessibility checker (axe-core) has
no serious finding. Then sorting, searching, filtering, paging, the keyboard, the details of a worker and the
downloads are tried. A hostile page (ids and texts that try to be scripts) must stay inert, and the same page made with
--spreadsheet-safe downloads no formula.
"""

import argparse
import csv
import io
import pathlib
import sys
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import sync_playwright

SECTIONS = ["tasks", "workers", "classes", "confidence", "majority", "agreement", "coverage", "plan", "convergence"]
RANKING_SECTIONS = ["leaderboard", "wins", "judges", "next"]
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


def within_seconds(page, condition):
    """Whether the condition comes true: a browser follows a link some time after the key, never at once."""
    try:
        page.wait_for_function(condition, timeout=10000)
        return True
    except PlaywrightTimeout:
        return False


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
    check(within_seconds(page, "location.hash === '#tasks'"), f"{name}: the links to the sections work")
    check(within_seconds(page, "document.querySelector('#tasks').getBoundingClientRect().top < window.innerHeight"),
          f"{name}: a link brings its section into view")
    check(not page.messages, f"{name}: console after use {page.messages}")


def use_plan(page, path):
    """The tables of the plan: next labels, labels that let workers be compared, tasks that need no more."""
    name = path.stem
    for table, column in (("plan", "worker"), ("dispatch", "worker"), ("retired", "label")):
        box = page.locator(f"[data-table={table}]")
        if box.count() == 0:
            continue
        told = int(box.locator("[role=status]").inner_text().split(", ", 1)[1].split(" ")[0].replace(",", ""))
        with page.expect_download() as waiting:
            box.locator("button", has_text="Download").click()
        rows = list(csv.reader(io.StringIO(pathlib.Path(waiting.value.path()).read_text())))
        check(rows[0][:2] == ["task", column] and len(rows) == told + 1 > 1, f"{name}: download of {table}")
        first = cells(page, table, 1)[0]
        box.locator("input").fill(first)
        check(first in cells(page, table, 1), f"{name}: search in {table} finds {first!r}")
        box.locator("input").fill("")
    rule = page.locator("#plan table.facts")
    check("Error now" in rule.inner_text() and "Labels until the error is" in rule.inner_text(), f"{name}: when to stop")
    check(" and " in rule.locator("tbody tr").last.locator("xpath=preceding-sibling::tr[1]").inner_text(),
          f"{name}: the labels to a target have an interval")


def use_small_tables(page, path):
    """Every table has a download; that of the classes holds what is shown."""
    name = path.stem
    tables = page.locator("main .scroll > table").count()
    buttons = page.get_by_role("button", name="Download as CSV").count()
    check(buttons == tables, f"{name}: {buttons} downloads for {tables} tables")
    shown = page.locator("#classes tbody tr").count()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV: Classes").click()
    rows = list(csv.reader(io.StringIO(pathlib.Path(waiting.value.path()).read_text())))
    check(rows[0][:3] == ["Class", "Tasks", "Share"] and len(rows) == shown + 1, f"{name}: download of the classes {rows[:1]}")
    check(waiting.value.suggested_filename == "classes.csv", f"{name}: {waiting.value.suggested_filename}")


def rank(browser, path, screenshots):
    """A page of comparisons: every width and colour scheme, sorting, search and download, and without a script."""
    for scheme in ("light", "dark"):
        for width in (1200, 360):
            page = open_page(browser, path, scheme, width)
            look(page, path, scheme, width, RANKING_SECTIONS)
            check(page.evaluate("window.hacked === undefined"), f"{path.stem}: a script ran")
            if screenshots:
                page.screenshot(path=screenshots / f"{path.stem}-{scheme}-{width}.png", full_page=width == 1200)
            if (scheme, width) == ("light", 1200):
                scores = [float(score) for score in cells(page, "leaderboard", 4)]
                check(scores == sorted(scores, reverse=True), f"{path.stem}: the best item is first")
                page.locator("[data-table=leaderboard] thead button", has_text="Score").click()
                scores = [float(score) for score in cells(page, "leaderboard", 4)]
                check(scores == sorted(scores), f"{path.stem}: sorted by the score")
                last = cells(page, "leaderboard", 1)[0]
                page.locator("[data-table=leaderboard] input").fill(last)
                check(last in cells(page, "leaderboard", 1), f"{path.stem}: search finds {last!r}")
                for table, head in (("judges", "judge"), ("next", "left")):
                    with page.expect_download() as waiting:
                        page.locator(f"[data-table={table}]").get_by_role("button", name="Download as CSV").click()
                    rows = list(csv.reader(io.StringIO(pathlib.Path(waiting.value.path()).read_text())))
                    check(rows[0][0] == head and len(rows) > 1, f"{path.stem}: download of {table} {rows[:1]}")
                marks = page.locator("svg.figure circle").count()
                check(marks > 1, f"{path.stem}: {marks} items are drawn")
                check(not page.messages, f"{path.stem}: console after use {page.messages}")
            page.context.close()
    plain = open_page(browser, path, "light", 1200, scripts=False)
    check(plain.locator("[data-table=leaderboard] tbody tr").count() > 0, f"{path.stem}: rows without a script")
    plain.context.close()


def be_hostile(browser, path):
    """Ids and texts that try to be scripts, to hide, to turn the page around, or to fill it."""
    for scheme, width in (("light", 1200), ("dark", 360)):
        page = open_page(browser, path, scheme, width)
        page.wait_for_timeout(500)
        check(page.evaluate("window.hacked === undefined"), "hostile: a script ran")
        check(page.locator("img, iframe, object, embed").count() == 0, "hostile: foreign elements")
        texts = page.locator("[data-table=tasks] .text").all_inner_texts()
        check(len(texts) == 9 and any("<img src=x" in text for text in texts), f"hostile: {len(texts)} texts are shown")
        longest = max(len(text) for text in texts)
        check(2000 <= longest < 20000, f"hostile: of texts of 1 MB {longest} characters are shown")
        check(not any(mark in page.locator("body").inner_text() for mark in "\u202e\x1b"), "hostile: hidden characters")
        page.locator("[data-table=tasks] input").fill("onerror=window.hacked")
        check(page.locator("[data-table=tasks] .text").count() >= 1, "hostile: search finds a text")
        links = page.locator("[data-table=tasks] tbody a").evaluate_all("all => all.map((one) => one.href)")
        check(all(link.startswith("https://labels.invalid/") for link in links), f"hostile: links {links}")
        look(page, path, scheme, width, ["tasks", "workers"])
        page.context.close()


def formulas(browser, path):
    """Cells of all downloads of a page that a spreadsheet would run, and all cells that have an apostrophe before one."""
    page = open_page(browser, path, "light", 1200)
    run, held = [], []
    for button in page.get_by_role("button", name="Download as CSV").all():
        with page.expect_download() as waiting:
            button.click()
        cells = [cell for row in csv.reader(io.StringIO(pathlib.Path(waiting.value.path()).read_text())) for cell in row]
        run += [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]
        held += [cell for cell in cells if cell.startswith(("'=", "'@"))]
    page.context.close()
    return run, held


def be_spreadsheet_safe(browser, plain, safe):
    """The same formulas in the downloads of both pages, with an apostrophe in one of them."""
    run, held = formulas(browser, plain)
    check('=HYPERLINK("x")' in run and "@SUM(1,2)" in run and not held, f"downloads as they are: {run} {held}")
    still, safe_cells = formulas(browser, safe)
    check(not still, f"spreadsheet-safe: cells that would be run {still}")
    check(safe_cells == ["'" + cell for cell in run], f"spreadsheet-safe: {safe_cells}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chromium")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--ranking", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--hostile", type=pathlib.Path)
    parser.add_argument("--spreadsheet-safe", type=pathlib.Path)
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
                        use_plan(page, path)
                        use_small_tables(page, path)
                        if args.screenshots:
                            page.pdf(path=args.screenshots / f"{path.stem}.pdf")
                    page.context.close()
            plain = open_page(browser, path, "light", 1200, scripts=False)
            check(plain.locator("[data-table=tasks] tbody tr").count() > 0, f"{path.stem}: rows without a script")
            plain.context.close()
        for path in args.ranking:
            rank(browser, path.resolve(), args.screenshots)
        if args.hostile:
            be_hostile(browser, args.hostile.resolve())
            be_spreadsheet_safe(browser, args.hostile.resolve(), args.spreadsheet_safe.resolve())
        browser.close()
    print(f"report: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
