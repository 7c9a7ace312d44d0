# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user sees and does in the page of run.json."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
from browser import Page  # noqa: E402


def same(value, expected):
    if value != expected:
        raise AssertionError(f"{value!r} is not {expected!r}")


def has(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def text(page, selector):
    return page.run(f"document.querySelector('{selector}').innerText")


def texts(page, selector):
    """Of all elements that are visible."""
    return page.run(f"[...document.querySelectorAll('{selector}')]"
                    ".filter((e) => e.checkVisibility()).map((e) => e.innerText)")


def choice(page, name, value):
    page.run(f"""(() => {{
      const select = document.getElementById('filter-{name}');
      select.value = [...select.options].find((o) => o.text === '{value}').value;
      select.dispatchEvent(new Event('input', {{bubbles: true}}));
    }})()""")


def type_words(page, words):
    page.press("/")
    page.run("document.activeElement.select()")
    for letter in words:
        page.press(letter)
    page.press("Escape")


def check_findings(page):
    has(text(page, "#verdict"), "Data races 4 data races (2 races within a block,")
    same(texts(page, "#list h3"),
         ["histogram(int const*, int, int*)", "reduce(float const*, float*)"])
    same(texts(page, "#list h4"), ["src/histogram.cu", "src/bins.cuh", "src/reduce.cu"])
    same(texts(page, "#list .where"), ["line 15", "line 15", "line 5", "line 7"])
    # The most frequent finding is shown at once, with both sides.
    has(text(page, "#detail h2"), "race between blocks, 4 bytes in global memory")
    has(text(page, ".callout"), "Make line 15 an atomic update")
    same(texts(page, ".side h3"), ["Later access", "Earlier access"])
    same(texts(page, ".line.here code"), ["    Counts[Bin] += Part[Bin];"] * 2)
    same(texts(page, "mark"), ["Counts[Bin]", "Counts[Bin]"])
    same(texts(page, ".side:first-child .number"), ["11", "12", "13", "14", "15", "16"])
    has(text(page, "dl"), "8 of 8 runs (seeds 0-7)")
    has(text(page, "dl"), "crsan run --seed=0 ./statistics values.bin")


def check_heat(page):
    same(page.run("[...document.querySelectorAll('.cells')].map((e) => e.children.length)"),
         [24, 32, 8])
    same(texts(page, "figcaption"),
         ["Records by block: block (3,0,0): 1, block (4,0,0): 1, block (8,0,0): 1, "
          "block (9,0,0): 1, block (13,0,0): 1, block (14,0,0): 1, ...",
          "Records by lane of the warp: lane 0: 1, lane 3: 1, lane 5: 1, lane 10: 1, "
          "lane 15: 1, lane 20: 1, ...",
          "Runs that show it: seeds 0-7"])


def check_keys(page):
    page.press("j")
    has(text(page, "#detail h2"), "race with an operation of a stream")
    same(page.run("location.hash"), "#finding-4")
    page.press("j")
    has(text(page, "#detail h2"), "race within a block")
    same(page.run("document.activeElement.getAttribute('aria-current')"), "true")
    # The stack of an inlined access: the callee's line is open, the caller's opens.
    same(texts(page, ".side:first-child summary"),
         ["#0 countInto(int*, int) at src/bins.cuh:5:3",
          "#1 inlined in histogram(int const*, int, int*) at src/histogram.cu:12:5"])
    same(texts(page, ".side:first-child .line.here code"), ["  atomicAdd(&Part[Bin], 1);"])
    page.run("document.querySelectorAll('.side summary')[1].click();"
             "new Promise((done) => setTimeout(done, 50))")
    same(texts(page, ".side:first-child mark"), ["atomicAdd(&Part[Bin], 1)",
                                                 "countInto(Part, Values[I] % Bins)"])
    page.press("k")
    page.press("k")
    page.press("k")  # There is none before the first one.
    same(page.run("location.hash"), "#finding-1")
    page.press("?")
    same(page.run("document.getElementById('help').open"), True)
    page.press("j")  # Is not for the page behind.
    same(page.run("location.hash"), "#finding-1")
    page.run("document.getElementById('help').close()")


def check_filters(page):
    choice(page, "space", "shared")
    same(text(page, "#shown"), "2 of 4 findings")
    same(texts(page, "#list .where"), ["line 5", "line 7"])
    has(text(page, "#detail h2"), "race within a block")  # The first one that is left.
    choice(page, "kernel", "reduce(float const*, float*)")
    same(texts(page, "#list h3"), ["reduce(float const*, float*)"])
    choice(page, "file", "src/bins.cuh")
    same(text(page, "#shown"), "0 of 4 findings")
    same(text(page, "#detail"), "No finding passes the filters.")
    for name in ["space", "kernel", "file"]:
        choice(page, name, "all")
    choice(page, "kind", "race between blocks")
    same(text(page, "#shown"), "1 of 4 findings")
    choice(page, "kind", "all")
    same(text(page, "#shown"), "4 of 4 findings")


def check_search(page):
    type_words(page, "COUNTINTO bins.cuh")
    same(text(page, "#shown"), "1 of 4 findings")
    same(texts(page, "#list .where"), ["line 5"])
    type_words(page, "cudamemcpy")
    same(texts(page, "#list .kind"), ["race with an operation of a stream"])
    type_words(page, "nowhere")
    same(text(page, "#shown"), "0 of 4 findings")
    page.run("document.getElementById('search').value = '';"
             "document.getElementById('search').dispatchEvent(new Event('input', {bubbles: true}))")
    same(text(page, "#shown"), "4 of 4 findings")


def check_coverage(page):
    page.run("document.querySelector('a[href=\"#coverage\"]').click()")
    same(page.run("document.getElementById('findings-page').hidden"), True)
    page_text = text(page, "#coverage-page")
    has(page_text, "checked 48 kernel launches: 96 sites in 41 windows of 2 modules")
    has(page_text, "2 accesses of the source are not checked; run with crsan run --coverage")
    has(page_text, "8 launches of kernels that are not instrumented were not checked")
    has(page_text, "a kernel of the library loader.so runs unchecked")
    has(page_text, "kernels launched\t48")
    has(page_text, "windows checked\t81,920")
    has(page_text, "src/reduce.cu:7\t1\t1,564")
    has(page_text, "5\t./statistics values.bin\texit code 3\t2\tcrsan run --seed=5")
    has(page_text, "reduce(int*): 1 of 2 accesses checked")
    has(page_text, "read\teach execution; 2,100 executions by warps")
    has(page_text, "write\tnot executed")
    has(page_text, "not checked: it is <in> inline PTX")
    page.run("document.getElementById('only-unchecked').click()")
    page_text = text(page, "#coverage-page")
    same("2,100 executions" in page_text, False)
    has(page_text, "write\tnot executed")
    page.press("j")
    same(page.run("document.getElementById('coverage-page').hidden"), True)


def check_colours(page, is_dark):
    colours = page.run("[getComputedStyle(document.body).backgroundColor,"
                       " getComputedStyle(document.body).color]")
    same(colours == ["rgb(20, 23, 27)", "rgb(228, 231, 235)"], is_dark)


# The contrast that WCAG 2 (AA) asks of text, for each element that has some.
CONTRAST = """(() => {
  const light = (c) => c.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    const colour = e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
    return colour === 'rgba(0, 0, 0, 0)' ? behind(e.parentElement) : colour;
  };
  return [...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility()
      && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((e) => [light(getComputedStyle(e).color), light(behind(e)), e.outerHTML])
    .filter(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
    .map(([, , html]) => html.slice(0, 80));
})()"""


# Fields have labels, headings leave out no level, and names are said of regions.
LABELS = """[...document.querySelectorAll('select, input, button')]
  .filter((e) => !e.labels?.length && !e.textContent.trim()).map((e) => e.outerHTML)"""
LEVELS = """[...document.querySelectorAll('h1, h2, h3, h4')].filter((e) => e.checkVisibility())
  .map((e) => Number(e.tagName[1])).filter((level, i, all) => i && level > all[i - 1] + 1)"""


for dark in (False, True):
    with Page(sys.argv[1], dark=dark) as the_page:
        check_colours(the_page, dark)
        same(the_page.run(CONTRAST), [])
        same(the_page.run(LABELS), [])
        same(the_page.run(LEVELS), [])
        if not dark:
            check_findings(the_page)
            check_heat(the_page)
            check_keys(the_page)
            check_filters(the_page)
            check_search(the_page)
            check_coverage(the_page)
        same(the_page.problems(), [])
