"""Pictures of runs: every question, claim and call has its mark, whatever their texts and however many they are."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lxml import etree

import researchdesk as rd
from researchdesk.evals import plots
from researchdesk.graph.words import CLAIM_WORDS, QUESTION_WORDS
from researchdesk.state.investigation_views import checked

from .worlds import EVIL, WORDS, Size, made

ALL: dict[str, Callable[[Any], plots.Plot]] = {
    "frontier": plots.plot_frontier,
    "claims": plots.plot_claims,
    "timeline": plots.plot_timeline,
    "sources": plots.plot_sources,
    "coverage": plots.plot_coverage,
    "cost": plots.plot_cost,
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[rd.Desk]:
    """A desk with a run of each size: nothing yet, a few of everything, and very much of it."""
    with rd.open_desk(tmp_path_factory.mktemp("plots") / "home") as opened:
        opened.session("chat", labels=(), profile="desk")
        made(opened, Size(), session_id="nothing")
        made(opened, Size(questions=9, sources=6, publishers=3, claims=11, calls=12), session_id="small")
        made(
            opened,
            Size(questions=300, sources=40, publishers=12, claims=2_000, calls=3_000),
            session_id="big",
        )
        yield opened


def shown(plot: plots.Plot) -> ElementTree.Element:
    """The picture, which is well formed and neither runs nor loads anything."""
    svg = plot.svg()
    root = ElementTree.fromstring(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "path", "text", "rect", "line", "title", "defs", "clipPath", "tspan"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any("href" in name or name.startswith("on") for name in names)
    return root


def titles(root: ElementTree.Element) -> list[str]:
    """What the marks say of themselves."""
    return [str(element.text) for element in root.iter(f"{SVG}title")]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("size", ["chat", "nothing", "small", "big"])
def test_every_plot_is_drawn_of_every_size_and_says_what_it_counts(
    desk: rd.Desk, name: str, size: str
) -> None:
    plot = ALL[name](desk.existing(size))
    root = shown(plot)
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert plot.caption.splitlines()[0] in texts
    assert (
        root.get("width") and float(root.get("width", "0")) < 1_600 and float(root.get("height", "0")) < 2_400
    )
    if size in ("chat", "nothing") and not plot.rows:
        assert any(text.endswith(("yet.", "holds a claim.")) for text in texts)


def test_each_question_has_a_mark_with_its_status_and_its_place_in_the_tree(desk: rd.Desk) -> None:
    session = desk.existing("small")
    plot = plots.plot_frontier(session)
    frontier = session.frontier
    assert {(row["id"], row["status"], row["depth"]) for row in plot.rows} == {
        (question.id, QUESTION_WORDS[question.status], question.depth) for question in frontier
    }
    told = titles(shown(plot))
    assert all(any(title.startswith(f"{question.id}, ") for title in told) for question in frontier)
    assert (
        "9 questions: 1 not begun, 1 in work, 5 answered, 1 could not be answered, 1 dropped." in plot.caption
    )
    assert plot.rows[0]["aside"].endswith(
        f"{checked(session.investigation).total} claims: {checked(session.investigation).challenged} challenged, "
        f"{checked(session.investigation).verified} verified"
    )


def test_a_tree_that_is_too_large_is_cut_at_a_level_and_what_is_below_is_counted(desk: rd.Desk) -> None:
    session = desk.existing("big")
    plot = plots.plot_frontier(session)
    assert len(plot.rows) == 50 and {row["depth"] for row in plot.rows} == {0, 1, 2}
    below = [int(found[1]) for row in plot.rows if (found := re.search(r"(\d+) below", row["aside"]))]
    assert sum(below) == 250 and "250 of them are only counted" in plot.caption
    few = plots.plot_frontier(session, rows=5)
    assert [row["text"] for row in few.rows][-1] == "and 4 more questions" and len(few.rows) == 5


def test_the_last_counts_of_claims_are_those_of_the_run(desk: rd.Desk) -> None:
    for name in ("small", "big"):
        session = desk.existing(name)
        plot = plots.plot_claims(session, by="events")
        end = max(row["x"] for row in plot.rows)
        last = {row["status"]: row["claims"] for row in plot.rows if row["x"] == end}
        counted = Counter(claim.status for claim in session.claims)
        assert last == {
            **{word: counted[status] for status, word in CLAIM_WORDS.items()},
            "challenged": checked(session.investigation).challenged,
        }
        assert len(plot.rows) <= 5 * (plots.claims.POINTS + 2)


def test_a_run_of_the_past_is_drawn_as_it_stood(desk: rd.Desk) -> None:
    session = desk.existing("small")
    past = session.at(len(session.events()) - 30)
    for name in ("claims", "timeline", "sources", "coverage"):
        assert ALL[name](past).rows != ALL[name](session).rows, name
    assert max(row["x"] for row in plots.plot_claims(past, by="events").rows) <= past.seq


def test_each_call_has_a_mark_by_tool_and_by_question(desk: rd.Desk) -> None:
    plot = plots.plot_timeline(desk.existing("small"), by="events")
    assert Counter(row["outcome"] for row in plot.rows) == {"done": 15, "refused": 3}
    assert "18 calls: 15 done, 3 refused" in plot.caption
    told = [title for title in titles(shown(plot)) if title.startswith(("tool_", "archive_source"))]
    # Those of sources came before the first question.
    assert len(told) == 18 + 12 and "tool_3: refused (wrong_status), for q_001" in told


def test_too_many_calls_are_counted_in_bins_that_hold_all_of_them(desk: rd.Desk) -> None:
    plot = plots.plot_timeline(desk.existing("big"), by="events")
    assert "too many calls to show each" in plot.caption
    told = [re.fullmatch(r"(\d+) calls (done|refused): tool_\d", title) for title in titles(shown(plot))]
    assert sum(int(found[1]) for found in told if found) == 3_000


def test_each_quotation_is_a_line_of_its_stance_between_its_source_and_claim(desk: rd.Desk) -> None:
    session = desk.existing("small")
    plot = plots.plot_sources(session)
    lines = {(row["from"], row["to"], row["stance"]) for row in plot.rows if "from" in row}
    assert lines == {
        (link.source_id, claim.id, link.stance) for claim in session.claims for link in claim.links
    }
    assert {row["publisher"] for row in plot.rows if "publisher" in row} == {
        source.origin for source in session.notes.sources.values()
    }
    assert {(row["id"], row["status"]) for row in plot.rows if "status" in row} == {
        (claim.id, CLAIM_WORDS[claim.status]) for claim in session.claims
    }


def test_too_many_claims_are_counted_by_publisher_and_question_without_loss(desk: rd.Desk) -> None:
    session = desk.existing("big")
    plot = plots.plot_sources(session)
    links = [link for claim in session.claims for link in claim.links]
    assert sum(row["quotations"] for row in plot.rows) == len(links)
    counted = Counter(link.stance for link in links)
    assert {
        stance: sum(row["quotations"] for row in plot.rows if row["stance"] == stance) for stance in counted
    } == counted
    assert "too many to draw each" in plot.caption


def test_each_run_with_claims_is_a_mark_of_coverage_and_rate(desk: rd.Desk) -> None:
    plot = plots.plot_coverage(desk)
    assert [row["session"] for row in plot.rows] == ["small", "big"]
    for row in plot.rows:
        found = checked(desk.existing(row["session"]).investigation)
        assert (row["coverage"], row["rate"]) == (
            round(found.challenged / found.total, 4),
            round(found.verified / found.total, 4),
        )
        assert row["rate"] <= row["coverage"]
    assert "1 without claims are not shown" in plot.caption


def test_nothing_from_a_page_acts_in_svg_or_html(desk: rd.Desk) -> None:
    for name, draw in ALL.items():
        page = draw(desk.existing("small")).html()
        assert "<script" not in page and "\u202e" not in page and "\x1b" not in page, name
        assert "default-src 'none'" in page
        assert re.findall(r"(?:src|href)=|url\((?!#)", page) == []
        assert set(re.findall(r"https?://[^\"' ]+", page)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
        }
    assert (
        etree.HTML(plots.plot_frontier(desk.existing("small")).html()).findtext(".//title")
        == "Questions · small"
    )


def test_texts_of_every_script_stand_in_the_picture(desk: rd.Desk) -> None:
    svg = plots.plot_frontier(desk.existing("small")).svg()
    assert "東京都の条例は自転車の駐輪について" in svg and "كم يبلغ طول الجسر؟" in svg
    assert EVIL not in svg and "&lt;script&gt;alert(1)" in svg
    assert len(WORDS) == 5


def test_letters_and_emoji_that_are_joined_stay_so_and_what_only_hides_is_seen(tmp_path: Path) -> None:
    joined = ("چرا می\u200cخواهم؟", "क्\u200dष क्या है?", "Who 👩\u200d👩\u200d👧 goes? ❤\ufe0f it")
    hiding = ("a\u200db\u200c c", "\u200d\u200dد\u200c\u200c", "x\ufe0f\ufe0f y\u2060z", "\ufe0f1 \u200fz")
    with rd.open_desk(tmp_path) as own:
        session = made(own, Size(questions=8, claims=7), texts=(*joined, *hiding))
        for draw in (plots.plot_frontier, plots.plot_sources):
            texts = " ".join(shown(draw(session)).itertext())
            assert all(text in texts for text in joined)
            for text in hiding:
                assert text not in texts
        seen = " ".join(shown(plots.plot_frontier(session)).itertext())
        assert "a�b� c" in seen and "��د��" in seen and "x\ufe0f� y�z" in seen and "�1 �z" in seen


def test_a_notebook_gets_svg_and_a_caption_and_a_file_what_its_name_says(
    desk: rd.Desk, tmp_path: Path
) -> None:
    plot = plots.plot_coverage(desk)
    bundle = plot._repr_mimebundle_()
    assert bundle == {"image/svg+xml": plot.svg(), "text/plain": plot.caption}
    assert plot.save(tmp_path / "deep" / "x.svg").read_text() == plot.svg()
    assert plot.save(tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert plot.save(str(tmp_path / "x.HTML")).read_text() == plot.html()
    with pytest.raises(rd.UsageError, match=r"ends with \.svg, \.html, \.png; got '.*x\.pdf'"):
        plot.save(tmp_path / "x.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "x.HTML", "x.png"]
    with pytest.raises(rd.UsageError, match="by 'time' or by 'events'"):
        plots.plot_claims(desk.existing("small"), by="mood")  # type: ignore[arg-type]


def test_a_desk_stands_for_the_run_that_was_started_last(desk: rd.Desk) -> None:
    assert plots.plot_frontier(desk).rows == plots.plot_frontier(desk.existing(desk.latest())).rows


def test_an_empty_desk_has_no_run_to_compare_and_none_to_show(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as empty:
        assert "There is no run yet." in plots.plot_coverage(empty).svg()
        assert "No model has been asked yet." in plots.plot_cost(empty).svg()
        with pytest.raises(rd.NotFound, match="no session"):
            plots.plot_frontier(empty)


def test_a_desk_on_a_server_is_drawn_like_one_in_a_folder(postgres: str, tmp_path: Path) -> None:
    size = Size(questions=9, sources=6, publishers=3, claims=11, calls=12)
    with rd.open_desk(postgres) as server, rd.open_desk(tmp_path / "home") as folder:
        one, other = made(server, size), made(folder, size)
        for draw in (
            plots.plot_frontier,
            plots.plot_sources,
            plots.plot_coverage,
            lambda session: plots.plot_claims(session, by="events"),
            lambda session: plots.plot_timeline(session, by="events"),
        ):
            assert draw(one).svg() == draw(other).svg()
