"""The report's page: what stands where, in which words, and that it fits a telephone."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dolfinx_impact.benchmark import drawings
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.claims import CLAIMS, FIGURES
from dolfinx_impact.benchmark.report import html as page
from dolfinx_impact.benchmark.report.build import as_row
from dolfinx_impact.benchmark.report.properties import PROPERTIES
from dolfinx_impact.benchmark.report.wording import KINDS, asked, faster, title
from dolfinx_impact.benchmark.verdict import Verdict

FINDINGS = (
    Verdict.equal("it is so", 2.0, 2.0, 0.1),
    Verdict.below("small", -0.01, 0.02),
    Verdict.above("large", 0.3, 0.1),
    Verdict.above("not large", 0.0, 0.1),
    Verdict.undecided("it takes runs with carpenter, which was left out"),
    Verdict.undecided("nothing that runs <can> decide it"),
    Verdict("a run failed", None, None, None, False),
)
PICTURES = Path(drawings.__file__).parent
VOID = {"meta", "img", "br"}
RESULTS = {"balance_residual": 1e-15, "rest_time": None, "heights": [1.0] * 9, "sticks": True}
RUN = {"results": RESULTS, "steps": 500, "seconds": 0.5, "balance": True}


class Tree(HTMLParser):
    """Elements with their ancestors; complains about what is not closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.found, self.rows = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        assert len(at) == len(attributes), "an attribute twice"
        self.found.append((tag, at, [(each, a.get("class")) for each, a in self.open]))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append((tag, at))

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if any(tag in ("td", "th") for tag, _ in self.open):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("figures")
    for figure in FIGURES:
        (place / f"{figure.id}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return place


@pytest.fixture(scope="module")
def html(folder):
    """The page of a report on all cases, its findings invented."""
    claims = [
        {
            "id": c.id,
            "paper": c.paper,
            "where": c.where,
            "claim": c.claim,
            "kind": "validated" if i % 3 == 2 else "verified",
            **as_row(FINDINGS[i % len(FINDINGS)]),
        }
        for i, c in enumerate(CLAIMS)
    ]
    failed = {"failed": "ValueError: <no>"}
    runs = {"cd-lagrange": RUN, "moreau-jean": {**RUN, "results": {}}, "mine:Odd": failed}
    found = {"cd-lagrange": FINDINGS[0], "moreau-jean": FINDINGS[3], "mine:Odd": FINDINGS[4]}
    schemes = {
        scheme: [
            {
                "id": p.id,
                "name": p.name,
                "unit": p.unit,
                "case": p.case,
                "criterion": p.criterion,
                "bound": p.bound,
                **as_row(finding),
            }
            for p in PROPERTIES
        ]
        for scheme, finding in found.items()
    }
    report = {
        "versions": {"package": "0.1"},
        "cases": {case: runs for case in CASES},
        "claims": claims,
        "schemes": schemes,
    }
    drawn = [(f, "it takes runs" if i % 5 == 4 else None) for i, f in enumerate(FIGURES)]
    return page.html(report, drawn, folder, {c.id: c.case for c in CLAIMS})


@pytest.fixture(scope="module")
def tree(html):
    return Tree(html)


def section(html, name):
    """The part of the page about a case."""
    return html.split(f'<section id="{name}">')[1].split("</section>")[0]


def test_it_is_well_formed_and_refers_to_nothing_outside(html, tree):
    ids = [at["id"] for _, at, _ in tree.found if "id" in at]
    assert len(set(ids)) == len(ids)
    for _, at, _ in tree.found:
        assert at.get("href", "#")[0] == "#" and at.get("href", "#versions")[1:] in ids
        assert at.get("src", "data:").startswith("data:")
    assert "<script" not in html and "ValueError: &lt;no&gt;" in html


@pytest.mark.parametrize("case", CASES)
def test_case_first_sentence_and_drawing_then_figures_then_claims(case, html):
    part = section(html, case)
    places = [part.index(f"<h2>{title(case)}</h2>"), part.index("<svg "), part.index('class="about"')]
    drawn = sum(f.case == case for f in FIGURES)
    if "<figure>" in part:
        places += [part.index("<figure>"), part.rindex("</figure>")]
    places += [part.index("<h3>Claims</h3>"), part.index("<h3>Runs")]
    assert places == sorted(places)
    assert part.count("<figure>") + part.count(": not drawn, ") == drawn
    assert CASES[case].about.split(".")[0] in unescape(part)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_grouped_by_kind_and_paper_and_folded(kind, case, html):
    whole = unescape(section(html, case)).split("<h3>Claims</h3>")[1].split("<h3>Runs")[0]
    claims = [c for i, c in enumerate(CLAIMS) if c.case == case and (i % 3 == 2) == (kind == "validated")]
    head = f"<h4>{kind.capitalize()}, {KINDS[kind]}</h4>"
    assert whole.count(head) == bool(claims)
    part = whole.partition(head)[2].partition("<h4>")[0]
    kinds = {c.id: FINDINGS[CLAIMS.index(c) % len(FINDINGS)].reproduced for c in claims}
    papers = list(dict.fromkeys(c.paper for c in claims if kinds[c.id] is not None))
    assert re.findall(r"<details><summary><b>(.*?)</b>", part) == papers
    assert "<details open" not in part
    assert all(part.count(f">{c.id}</code>") == 1 for c in claims)
    decided, _, folded = part.partition("<summary>Not decidable: ")
    for paper, group in zip(papers, decided.split("<details><summary><b>")[1:]):
        found = [kinds[c.id] for c in claims if c.paper == paper]
        for kind, words in ((True, "reproduced"), (False, "not reproduced")):
            badge = f">{found.count(kind)} {words}</span>"
            assert (badge in group.split("</summary>")[0]) == (found.count(kind) > 0)
    left = [name for name, kind in kinds.items() if kind is None]
    assert folded.partition("<")[0] == (str(len(left)) if left else "")
    assert all(f"<code>{name}</code>" in folded for name in left)


def test_kinds_are_counted_apart(html):
    head = html.split("</header>")[0]
    for kind, words in KINDS.items():
        found = [
            FINDINGS[i % len(FINDINGS)] for i in range(len(CLAIMS)) if (i % 3 == 2) == (kind == "validated")
        ]
        reproduced = sum(each.reproduced is True for each in found)
        badge = f'<span class="v true">{reproduced} reproduced</span>'
        assert (
            f"<b>{kind.capitalize()}</b> {words}: " in head and badge in head.split(words)[1].split("</p>")[0]
        )
    assert re.search(r'<span class="small">\d+ of \d+ validated', html)


def test_what_cannot_be_decided_stands_by_reason(html):
    part = section(html, "bouncing-ball")
    assert part.count("it takes runs with carpenter, which was left out:") <= len({c.paper for c in CLAIMS})
    assert "nothing that runs &lt;can&gt; decide it:" in part


def test_schemes_that_did_not_run_have_no_row(tree, html):
    names = [row[0] for row in tree.rows]
    assert names.count("cd-lagrange") == names.count("moreau-jean") == len(CASES) + 1
    assert "mine:Odd" not in names and "mine:Never" not in names
    assert html.count("<b>mine:Odd</b> failed: ValueError") == len(CASES)  # but the reason is told
    # Empty results of one scheme leave its columns, with dashes.
    heads = [len(row) for row in tree.rows if row[0] == "scheme"]
    assert {len(row) for row in tree.rows} == set(heads)


def test_numbers_and_their_heads_stand_on_the_same_side(html):
    for block in re.findall(r"<table>(.*?)</table>", html, re.S):
        head, *rows = re.findall(r"<tr>(.*?)</tr>", block, re.S)
        sides = ["class" in cell for cell in re.findall(r"<th[^>]*>", head)]
        assert all(["class" in cell for cell in re.findall(r"<td[^>]*>", row)] == sides for row in rows)
        assert "steps" not in head or '<th class="n">steps</th>' in head


@pytest.mark.parametrize(
    "finding, words",
    [
        (FINDINGS[0], "asked for 2 ± 0.1"),
        (FINDINGS[1], "asked for ≤ 0.02 in magnitude"),
        (FINDINGS[2], "asked for > 0.1"),
        (FINDINGS[2].only_if(False), "asked for > 0.1"),
        (Verdict("", 1.95, 2.0, 0.1, True, ">="), "asked for ≥ 1.9"),
        (Verdict("", 1.5, 1.0, 1.0, True, "<="), "asked for ≤ 2"),
        (Verdict("it is above", 0.5, 0.1, 0.0, True), "beside 0.1"),
        (FINDINGS[4], ""),
        (FINDINGS[6], ""),
    ],
)
def test_the_relation_is_said(finding, words):
    assert asked(as_row(finding)) == words


def test_the_relation_of_a_lower_bound_is_on_the_page(html):
    assert "<p>measured <b>0.3</b>, asked for &gt; 0.1</p>" in html
    assert "<p>measured <b>-0.01</b>, asked for ≤ 0.02 in magnitude</p>" in html
    assert "measured <b>-</b>" not in html  # a failed run measured nothing


# -- it fits


def test_nothing_is_wider_than_a_telephone_unless_it_scrolls(tree):
    pixels = {"px": 1.0, "rem": 16.0, "em": 16.0}
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", page.STYLE):
        for value, unit in re.findall(r"(?<![\w-])(?:min-)?width:\s*([\d.]+)(px|rem|em)", body):
            assert float(value) * pixels[unit] <= 400 or ".scroll" in selector, selector
        for value, unit in re.findall(r"minmax\(([\d.]+)(px|rem|em)", body):
            assert float(value) * pixels[unit] <= 180, selector
    for tag, at, ancestors in tree.found:
        assert tag not in ("table", "img") or ("div", "scroll") in ancestors
        assert not {"width", "height"} & set(at) or tag == "rect"
        assert re.fullmatch(r"(width:[\d.]+%)?", at.get("style", ""))
    (viewport,) = (at["content"] for tag, at, _ in tree.found if at.get("name") == "viewport")
    assert viewport == "width=device-width, initial-scale=1"


def test_dark_on_light():
    colors = dict(re.findall(r"--(\w+): #(\w{6})", page.STYLE))
    bright = {name: sum(int(value[i : i + 2], 16) for i in (0, 2, 4)) / 3 for name, value in colors.items()}
    assert all(bright[name] < 130 for name in ("ink", "soft", "yes", "no", "open"))
    assert "color-scheme: light" in page.STYLE and "background: #fff" in page.STYLE


# -- drawings


@pytest.mark.parametrize("name, case", CASES.items())
def test_every_case_has_a_sentence_and_a_drawing_within_its_frame(name, case):
    assert case.about.endswith(".") and 50 < len(case.about) < 260
    svg = ElementTree.fromstring(page._drawing(name))
    _, _, width, height = map(float, svg.get("viewBox").split())
    assert svg.get("aria-label") == f"The set-up of {title(name)}" and "width" not in svg.keys()
    ways = [each.get("points", "") + each.get("d", "") for each in svg]
    assert all(set(way) <= set("ML.,- 0123456789") for way in ways)
    points = [point.split(",") for way in ways for point in way.replace("M", " ").split()]
    points += [(each.get(f"{c}x"), each.get(f"{c}y")) for c in ("c", "") for each in svg if each.get(f"{c}x")]
    points += [(each.get("x"), each.get("y")) for each in svg if each.get("x")]
    assert len(points) > 10
    assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points)
    assert any(each.tag.endswith("text") and each.text for each in svg)


def test_no_two_cases_have_the_same_drawing():
    pictures = {path.stem: path.read_text() for path in PICTURES.glob("*.svg")}
    assert pictures.keys() == CASES.keys() and len(set(pictures.values())) == len(CASES)


@pytest.mark.parametrize(
    "name, heading",
    [("van-der-pol", "Van der Pol"), ("ring-in-cylinder", "Ring in Cylinder"), ("two-bars", "Two Bars")],
)
def test_headings(name, heading):
    assert title(name) == heading


# -- how a speed compares


@pytest.mark.parametrize(
    "ratio, words",
    [
        (220.4, "220 times faster"),
        (1221.7, "1222 times faster"),
        (1.22, "1.22 times faster"),
        (0.2778, "3.6 times slower"),
        (0.02, "50 times slower"),
        (1.0, "as fast"),
        (0.99999, "as fast"),
    ],
)
def test_a_ratio_below_one_is_slower(ratio, words):
    assert faster(ratio) == words
