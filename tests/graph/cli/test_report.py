"""Reports of a run whose titles, quotes and lists try to break out of every format."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.graph.cli.conftest import say, written_run

from researchdesk.graph.plain import inert, markdown_code, markdown_locator, markdown_text, plain
from researchdesk.graph.rendering import render_report
from researchdesk.graph.report import Report, read_report, read_sources
from researchdesk.state.errors import NotFound
from researchdesk.tools.workspace import Desk, open_desk

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="module")
def report(desk: Desk) -> Report:
    return read_report(desk, "r1")


def links_and_tags(document: str) -> list[str]:
    found = []
    for token in PARSER.parse(document):
        for child in (token, *(token.children or ())):
            if child.type in ("html_block", "html_inline", "image"):
                found.append(child.content)
            elif child.type == "link_open":
                found.append(str(child.attrs["href"]))
    return found


def headings(document: str) -> list[str]:
    tokens = PARSER.parse(document)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


def test_citations_are_numbered_in_order_of_first_use_and_the_references_follow_them(desk: Desk) -> None:
    report = read_report(desk, "r1")
    assert [(ref.number, ref.source_id) for ref in report.references] == [
        (1, "s_002"),
        (2, "s_001"),
        (3, "s_004"),
    ]
    assert [ref.source_id for ref in report.uncited] == ["s_003"]
    assert report.numbered("a [s_001, s_004] b [s_002; s_002] c [c_007]") == "a [2, 3] b [1] c [c_007]"
    document = render_report(report)
    assert "Two kinds of sources [2, 3]." in document
    references = document.partition("## References\n\n")[2].partition("\n\n")[0].splitlines()
    assert [line.partition(" ")[0] for line in references] == ["1.", "2.", "3."]
    assert re.fullmatch(
        r"2\. \*\*Rate limits\*\* \(s_001\): `file:handbook/limits\.md`; publisher \S+; read \d{4}-\d\d-\d\d; "
        r"text sha256 [0-9a-f]{12}",
        references[1],
    )


def test_the_head_says_what_was_asked_how_it_ended_and_what_it_rests_on(desk: Desk) -> None:
    head = render_report(read_report(desk, "r1")).partition("## Key takeaways")[0]
    assert head.startswith("# What \\*is\\* the \\<limit\\>?\n")
    for fact in (
        "- **Status:** completed\n",
        "- **Scope:** quick, template general\n",
        "- **Sources:** 3 read, from 1 publisher; 2 behind its quotations and claims; "
        "1 supplied, not read by this program\n",
        "- **Quotations checked against the archived text:** 2\n",
        "- **Session:** r1\n",
    ):
        assert fact in head


def test_nothing_from_a_page_or_a_model_acts_in_the_markdown(desk: Desk) -> None:
    document = render_report(read_report(desk, "r1"))
    assert links_and_tags(document) == ["https://docs.python.org/%7Ba%7D_b?q=1&r=50%25"]
    assert "\x9b" not in document


def test_a_source_that_is_only_named_is_told_apart_from_those_behind_a_quotation(desk: Desk) -> None:
    report = read_report(desk, "r1")
    less = replace(report, quotes=report.quotes[:1])
    assert "; 1 behind its quotations and claims, 1 more named; 1 supplied" in render_report(less)


def test_what_is_handed_on_cites_by_number_and_shows_no_escapes_around_it(desk: Desk) -> None:
    document = render_report(read_report(desk, "r1"))
    assert "- Raise the limit [3], then ask \\<script\\>alert(2)\\</script\\>\n" in document
    assert "- `` grep -c `limit` docs/*.md ``\n- Compare with [2]\n" in document
    shown = read_report(desk, "r1").shown("[s_001](javascript:1) [s_002]: x [s_001] [s_002; s_004] [no](b)")
    assert shown == r"[2]\(javascript:1) [1]\: x [2, 1, 3] \[no\](b)"
    assert links_and_tags(f"- {shown}\n\n{shown}") == []
    quote = read_report(desk, "r1").shown(
        '"At **least 8** of ([NIST](https://nist.gov/a#b)), not 2**3**4 or ** x **." [s_001]'
    )
    assert quote == r'"At **least 8** of (NIST), not 2\*\*3\*\*4 or \*\* x \*\*." [2]'


def test_a_quoted_link_is_shown_by_its_words_and_code_as_it_is() -> None:
    page = 'See [the *guide*](../guide.md#top) and ![a plot](plot.png "Plot") [1](x.md)[^2]{: .big #top}.'
    assert inert(page) == r"See the *guide* and a plot [1]\(x.md)[^2]."
    assert inert("[`run`](api_(v2).html), but `[a](b.c)` {x}") == "`run`, but `[a](b.c)` {x}"


def test_no_section_runs_on_into_what_follows_it(desk: Desk) -> None:
    assert headings(render_report(read_report(desk, "r1")))[1:] == [
        "Key takeaways",
        "Background",
        "Findings",
        "Disagreements and gaps",
        "Recommendations",
        "Gaps that the program found",
        "References",
        "Read, but not cited",
        "Decisions",
        "Follow-up questions",
        "Checks to repeat",
    ]


def test_the_page_holds_no_script_no_id_and_loads_nothing(desk: Desk) -> None:
    page = render_report(read_report(desk, "r1"), "html")
    tags = re.findall(r"<(\w+)((?:\s[^>]*)?)>", page.partition("<body>")[2])
    assert {name for name, _ in tags} <= {
        *("h1", "h2", "h3", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "a")
    }
    assert not re.search(r"<(script|img|link|iframe|object|svg)|\s(id|src|on\w+|style)=", page)
    assert page.count("<style>") == page.count("</style>") == page.count("</title>") == 1
    assert re.findall(r'href="([^"]*)"', page) == ["https://docs.python.org/%7Ba%7D_b?q=1&amp;r=50%25"]
    assert "default-src 'none'" in page


def test_the_json_holds_the_words_that_each_quote_has_in_the_archive(desk: Desk) -> None:
    document = json.loads(render_report(read_report(desk, "r1"), "json"))
    assert document["status"] == "completed"
    assert document["counts"] == {
        "sources": 4,
        "supplied": 1,
        "publishers": 1,
        "cited": 3,
        "behind": 2,
        "quotes_verified": 2,
    }
    assert document["sections"][0]["key"] == "key_takeaways"
    assert document["sections"][1]["citations"] == [
        {"source_id": "s_001", "number": 2},
        {"source_id": "s_004", "number": 3},
        {"source_id": "s_002", "number": 1},
    ]
    quotes = {(q["section"], q["source_id"]): q for q in document["quotes"]}
    limit = quotes["key_takeaways", "s_001"]
    assert limit["text"] == "The gateway allows 100 requests per minute for each client."
    assert limit["end"] - limit["start"] == len(limit["text"])
    assert document["handoff"][0]["items"] == ["Raise the limit [s_004], then\nask <script>alert(2)</script>"]


def test_bibtex_escapes_what_tex_would_act_on(desk: Desk) -> None:
    text = render_report(read_report(desk, "r1"), "bibtex")
    entry = text[text.index("@misc{s_004,") :]
    assert entry.splitlines()[1:3] == [
        r'  title = {{Say \{\textbackslash{}input\{/etc/passwd\}\} 100\% of\_\$x \# 31m"quoted" </title>}},',
        "  url = {https://docs.python.org/%7Ba%7D_b?q=1&r=50%25},",
    ]
    assert text.count("@misc{") == 3


def test_csl_items_are_the_cited_sources(desk: Desk) -> None:
    items = json.loads(render_report(read_report(desk, "r1"), "csl"))
    assert [(item["id"], item["type"]) for item in items] == [
        ("s_002", "document"),
        ("s_001", "document"),
        ("s_004", "webpage"),
    ]


def test_sources_are_listed_with_where_they_come_from(desk: Desk) -> None:
    found = read_sources(desk, "r1")
    assert [(ref.source_id, ref.supplied, ref.purged) for ref in found] == [
        ("s_001", False, False),
        ("s_002", False, False),
        ("s_003", False, False),
        ("s_004", True, False),
    ]


def test_an_unfinished_run_gives_a_draft_and_one_without_sections_says_why_there_is_none(
    corpus: Path, tmp_path: Path
) -> None:
    with open_desk(tmp_path / "home") as desk:
        written_run(desk, corpus, "draft")
        draft = read_report(desk, "draft")
        assert (draft.outcome, draft.artifact_id) == ("unfinished", "")
        assert "not finished: writing the report" in render_report(draft)
        assert headings(render_report(draft))[1:6] == [s.title for s in draft.sections]
        begun = desk.session("begun")
        say(begun, "deep_research_start", objective="Why?", scope_level="quick", template="general")
        with pytest.raises(
            NotFound, match="'begun' has no report yet, nor a section of one: it is not finished: gathering"
        ):
            read_report(desk, "begun")


def test_a_purged_source_is_marked_and_its_quotes_have_no_words(corpus: Path, tmp_path: Path) -> None:
    with open_desk(tmp_path / "home") as desk:
        session = written_run(desk, corpus, "p")
        assert session.run is not None
        desk.purge("p", [session.run.sources["s_001"].artifact_id], actor="human:me", reason="asked")
        report = read_report(desk, "p")
        assert [quote.text for quote in report.quotes if quote.source_id == "s_001"] == [None]
        assert "; purged" in render_report(report)


markdown = st.lists(
    st.sampled_from(
        [
            *"<>[]()!`*_~|\\&#-+1.:=\n \t\x1b\u202e",
            "a",
            "[1]",
            "](",
            "<b>",
            "![",
            "```",
            "~~~",
            "&lt;",
            "- ",
            "> ",
            "    ",
            "http://x",
            "javascript:x",
            "<!--",
            "-->",
            "[1]: ",
        ]
    ),
    max_size=40,
).map("".join)


@given(markdown)
def test_no_body_acts_or_swallows_what_follows(body: str) -> None:
    document = f"{inert(body)}\n\n# After\n"
    assert links_and_tags(document) == []
    assert headings(document)[-1:] == ["After"]


@given(
    st.lists(st.sampled_from(["[s_001]", "[s_002; s_004]", "[c_001]", "**", "(", ":", "x.y", ")"])), markdown
)
def test_no_text_with_citations_acts_in_a_list(report: Report, cited: list[str], words: str) -> None:
    document = f"- {report.shown(''.join(cited) + words + ''.join(cited))}\n\n# After\n"
    assert links_and_tags(document) == []
    assert headings(document) == ["After"]


@given(markdown)
def test_a_text_in_a_document_shows_exactly_its_words(text: str) -> None:
    tokens = PARSER.parse(f"- x {markdown_text(text)}")
    inline = [token for token in tokens if token.type == "inline"]
    assert len(inline) == 1
    children = inline[0].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert (
        "".join(child.content for child in children).rstrip() == f"x {' '.join(plain(text).split())}".rstrip()
    )


@given(markdown)
def test_a_code_span_holds_exactly_its_text(text: str) -> None:
    shown = " ".join(plain(text).split())
    if shown:
        (inline,) = [token for token in PARSER.parse(f"- x {markdown_code(text)}") if token.type == "inline"]
        assert [c.content for c in inline.children or [] if c.type == "code_inline"] == [shown]


def test_only_a_web_address_becomes_a_link() -> None:
    assert markdown_locator("https://a.org/b?c=d") == "<https://a.org/b?c=d>"
    for locator in ("javascript:alert(1)", "https://a.org/><b>", "file:a`b.md", "https://a.org/\u202eb"):
        assert links_and_tags(markdown_locator(locator)) == []
