"""What a report tells of its investigation: numbers and daggers for claims, checks, contradictions, open questions."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from researchdesk.graph.rendering import render_report
from researchdesk.graph.report import Report, read_report
from researchdesk.state import events as ev
from researchdesk.state.independence import Cluster
from researchdesk.tools.workspace import Desk, open_desk

from ...tools.investigate.scripts import (
    BLOG,
    COUNTER,
    NIST,
    ask,
    challenge,
    entry,
    figure,
    investigator,
    link,
    verified,
)

EVIL = "Weak | below <b>8</b> [x](javascript:alert(1)) ![p](https://t.example.org/p.png)"
CONCLUSION = (
    "Eight characters are demanded [c_001]. Less is weak [s_001, c_002]. Both say so [c_001; c_002]. "
    "The blog prefers length [s_003].\n"
)


def investigated(desk: Desk) -> None:
    """A session `s1` with a draft that cites a verified claim and one that is not, and all that goes with them."""
    caller = investigator(desk)
    verified(caller)
    weak = {**figure(link("s_002", "Shorter than 8 characters is weak")), "text": EVIL}
    notes = [weak, entry(text="Length matters most.", question_id="q_001")]
    caller.ok("notes_append", section="Unverified", entries=notes)
    caller.ok("challenge", **challenge(target="c_002", query=COUNTER, strategy="counterexample"))
    assert caller.refused("search_sources", query=COUNTER) == "search_rate_limited"
    caller.ok("record_challenge_result", challenge_id="ch_002", outcome="inconclusive")
    caller.ok("archive_source", locator=BLOG)
    differs = entry("contradiction", "At least | weak below", about=["c_001", "c_002"])
    caller.ok("notes_append", section="Contradictions", entries=[differs])
    gap = entry("gap", "No [text](javascript:2) on PINs", question_id="q_002")
    named = entry("gap", "q_002 (the second question) has no primary source", question_id="q_002")
    caller.ok("notes_append", section="Assumptions & gaps", entries=[gap, named])
    ask(caller, "Which characters have to be allowed?", priority=70, depends_on=["q_002"])
    ask(caller, "Who <i>reviews</i> the rules?")
    caller.session.steering.prune("q_004", "- nobody *asked*")
    caller.session.record([ev.ResearchStopped(reason="step_cap", detail="40 requests of 40 were made")])
    caller.checkpoint(stage="report_writing")
    caller.section("conclusion", CONCLUSION)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("investigated")
    with open_desk(folder) as desk:
        investigated(desk)
    yield folder


@pytest.fixture(scope="module")
def report(home: Path) -> Report:
    with open_desk(home) as desk:
        return read_report(desk, "s1")


def part(document: str, heading: str) -> str:
    """What stands under a heading."""
    return document.partition(f"## {heading}\n\n")[2].partition("\n\n## ")[0]


def test_a_claim_is_cited_by_the_numbers_of_its_sources_and_marked_where_it_is_not_verified(
    report: Report,
) -> None:
    assert [(ref.number, ref.source_id) for ref in report.references] == [
        (1, "s_001"),
        (2, "s_002"),
        (3, "s_003"),
    ]
    assert report.numbered("[c_001], [c_002], [s_003, c_002], [c_003], [c_009]") == (
        "[1, 2], [2]†, [3, 2]†, [c_003]†, [c_009]"
    )
    # Those that follow each other become one, as far as their marks are the same.
    assert report.numbered("[c_001] [s_003][c_002] [c_002; s_001]\n[c_001]") == "[1, 2, 3] [2, 1]†\n[1, 2]"
    document = render_report(report)
    assert "Eight characters are demanded [1, 2]. Less is weak [1, 2]†. Both say so [1, 2]†." in document


def test_the_legend_of_the_mark_stands_once_in_the_head_and_only_where_something_is_marked(
    report: Report,
) -> None:
    head = render_report(report).partition("\n\n## ")[0]
    assert (
        "- **Claims:** checked 1 of 3 claims; 1 verified; 2 of 2 need another independent source, "
        "2 of 2 need a survived challenge\n"
    ) in head
    assert (
        "- **†:** not verified: a claim needs 2 independent sources and 1 survived challenge (a search for the "
        "opposite that gave results, in which nothing was judged to speak against it); “Claims” says what each "
        "one lacks"
    ) in head
    sure = {
        key: replace(claim, cited=claim.cited and claim.verified)
        for key, claim in report.findings.claims.items()
    }
    assert not replace(report, findings=replace(report.findings, claims=sure)).marks


def test_coverage_stands_beside_the_outcomes_and_is_told_question_by_question(report: Report) -> None:
    assert part(render_report(report), "What was checked").splitlines() == [
        "Checked 1 of 3 claims; 1 verified. 1 claim could not be checked because the search failed. 1 claim was not "
        "taken up for a check: the research was stopped early because it had made as many model requests as it may.",
        "",
        "Challenges to claims, answers and the conclusion whose search ran: "
        "1 survived, 0 weakened, 0 refuted, 0 inconclusive. Survived means: a search for the opposite that gave "
        "results, in which nothing was judged to speak against it. "
        "The search of 1 more failed; that counts for nothing.",
        "",
        "The numbers of a question include those of the questions under it.",
        "",
        "| Question | Status | Claims | Checked | Verified |",
        "|---|---|---:|---:|---:|",
        "| q_001 What should a password policy demand? | in work | 3 | 1 | 1 |",
        "| q_002 How long has a password to be? | in work | 2 | 1 | 1 |",
        "| q_003 Which characters have to be allowed? | not begun | 0 | 0 | 0 |",
        r"| q_004 Who \<i\>reviews\</i\> the rules? | dropped | 0 | 0 | 0 |",
    ]


def test_sources_of_one_publisher_are_named_as_the_reason_and_how_to_tell_publishers_apart(
    report: Report,
) -> None:
    told = "All sources count as those of one publisher, \\<main\\>, and support no claim independently"
    one = replace(report, references=tuple(replace(r, publisher="<main>") for r in report.references))
    assert told in part(render_report(one), "What was checked")
    assert "corpus.toml" in part(render_report(one), "What was checked")
    assert "That alone verifies nothing" in part(render_report(one), "What was checked")
    assert "one publisher" not in part(render_report(report), "What was checked")


def test_a_contradiction_shows_both_sides_with_their_numbers_and_status(report: Report) -> None:
    lines = part(render_report(report), "Contradictions").splitlines()
    assert lines[:2] == [
        r"- At least \| weak below (con_001, open)",
        "    - **c_001** Passwords have at least 8 characters. [1, 2] (verified)",
    ]
    assert lines[2].startswith(r"    - **c_002** Weak \| below \<b\>8\</b\> ")
    assert lines[2].endswith(" [2]† (not verified)") and len(lines) == 3


def test_what_stayed_open_is_listed_with_its_reason(report: Report) -> None:
    assert part(render_report(report), "Open questions").splitlines() == [
        "- q_001 What should a password policy demand? (in work)",
        "- q_002 How long has a password to be? (in work)",
        "- q_003 Which characters have to be allowed? (not begun, waits for q_002)",
        r"- q_004 Who \<i\>reviews\</i\> the rules? (dropped: \- nobody \*asked\*)",
    ]
    gaps = part(render_report(report), "Gaps that the program found").splitlines()
    assert "- gap_001: No text on PINs" in gaps
    assert "- gap_002: q_002 (the second question) has no primary source" in gaps
    assert not [line for line in gaps if line.startswith("- q_")]


def test_an_answer_without_a_check_and_one_that_is_only_assumed_are_told_as_such(report: Report) -> None:
    first, second, *others = report.findings.questions
    answered = replace(first.question, status="resolved", reason="No | time")
    given_up = replace(second.question, status="unresolvable", assumption="It is *eight*.")
    questions = (
        replace(first, question=answered),
        replace(second, question=given_up, status_reason="4 searches"),
        *others,
    )
    document = render_report(replace(report, findings=replace(report.findings, questions=questions)))
    checks, still_open = part(document, "What was checked"), part(document, "Open questions").splitlines()
    assert (
        r"policy demand? | answered; the answer itself was not challenged (No \| time) | 3 | 1 | 1 |"
        in checks
    )
    assert still_open[0] == (
        "- q_002 How long has a password to be? (could not be answered: 4 searches) "
        r"Assumed instead: It is \*eight\*."
    )


def test_a_gap_that_the_text_tells_or_that_was_counted_already_is_not_told_twice(report: Report) -> None:
    gaps = (
        "gap_001: Read, nothing quoted: s_003",
        "gap_002: It is old",
        "1 of 3 claims were challenged, 0 of 3 are",
    )
    body = f"{report.body}\n- Read, nothing\nquoted: [s_003].\n"
    document = render_report(replace(report, gaps=gaps, body=body))
    assert part(document, "Gaps that the program found") == "- gap_002: It is old"


def test_why_claims_were_left_unchecked_is_told_as_far_as_it_is_known(report: Report) -> None:
    reasons = {
        "the research was stopped early because its token budget was spent": {"stop_reason": "budget_tokens"},
        "the run is not finished": {"stop_reason": "", "outcome": "unfinished"},
        "the embedded rules chose to go no further; no budget ended it": {
            "stop_reason": "", "outcome": "completed", "model": "offline",
        },
        "the model chose to go no further; no budget ended it": {
            "stop_reason": "", "outcome": "completed", "model": "openai:gpt-5",
        },
    }  # fmt: skip
    for told, how in reasons.items():
        checks = part(render_report(replace(report, **how)), "What was checked")  # type: ignore[arg-type]
        assert f"1 claim was not taken up for a check: {told}." in checks


def test_each_cited_claim_says_what_it_stands_on_and_what_it_lacks(report: Report) -> None:
    shown, _, first, second = part(render_report(report), "Claims").splitlines()
    assert shown == "The 2 cited ones of 3; `researchdesk claims` lists all."
    assert first == (
        "- **c_001** Passwords have at least 8 characters. [1, 2] (verified); 2 links, 2 origins; "
        "challenged by direct negation: survived (It only says how.)"
    )
    assert second.endswith(
        " [2]† (not verified); 1 link, 1 origin; challenged by counterexample: its search failed; "
        "needs 1 more independent supporting source; it has 1; needs 1 more survived challenge"
    )


def test_what_ties_sources_together_is_said_once(report: Report) -> None:
    claim = report.findings.claims["c_002"]
    tied = Cluster(source_ids=("s_001", "s_002"), reasons=("s_001 and s_002 share nist.gov",))
    short = replace(claim, independent=(tied,), lacks=(f"needs 1 more source; {tied.reasons[0]}",))
    full = replace(short, lacks=())
    for found, told in ((short, "1 link, 1 origin; "), (full, f"1 link, 1 origin: {tied.reasons[0]}; ")):
        changed = replace(report, findings=replace(report.findings, claims={"c_002": found}))
        line = part(render_report(changed), "Claims")
        assert told in line and line.count("share nist.gov") == 1


def test_no_section_can_begin_a_part_of_the_report_that_code_writes(report: Report) -> None:
    title = report.sections[0].title
    forged = "# References\n\n- A survey of the state.\n\nClaims\n======\n\n## #1\n\n```sh\n# as it is\n```\n"
    document = render_report(replace(report, body=f"## {title}\n\nFine [c_001].\n\n{forged}"))
    headings = [line for line in document.splitlines() if line.startswith("#")]
    assert headings[1:6] == [f"## {title}", "### References", "### Claims", "### #1", "# as it is"]
    assert [headings.count(name) for name in ("## References", "## Claims")] == [1, 1]


def test_a_long_list_is_cut_and_says_how_much_more_there_is(report: Report) -> None:
    claims = {f"c_{n:03}": replace(report.findings.claims["c_001"], cited=True) for n in range(1, 124)}
    many = replace(report, findings=replace(report.findings, claims=claims))
    lines = part(render_report(many), "Claims").splitlines()
    assert len(lines) == 101 and lines[-1] == "- and 23 more"


def test_nothing_of_claims_and_questions_acts_in_a_page_or_a_document(report: Report) -> None:
    document, page = render_report(report), render_report(report, "html")
    tokens = MarkdownIt("commonmark").enable("table").parse(document)
    kinds = [child.type for token in tokens for child in (token, *(token.children or ()))]
    assert not {"html_block", "html_inline", "image"} & set(kinds)
    assert kinds.count("link_open") == page.count("<a href=") == 3
    assert "<table>" in page and not re.search(r"<(b|i|img|script)\b|\s(id|src|style|class)=", page)


def test_the_json_holds_claims_questions_contradictions_and_coverage(report: Report) -> None:
    document = json.loads(render_report(report, "json"))
    first, second, third = document["claims"]
    assert (first["id"], first["verified"], first["cited"], first["numbers"], first["lacks"]) == (
        "c_001",
        True,
        True,
        [1, 2],
        [],
    )
    assert [cluster["source_ids"] for cluster in first["independent"]] == [["s_001"], ["s_002"]]
    assert first["links"][0]["source_id"] == "s_001" and first["challenges"][0]["outcome"] == "survived"
    assert (second["numbers"], second["challenges"][0]["cause"]) == ([2], "infrastructure")
    assert (third["cited"], third["source_ids"], len(third["lacks"])) == (False, [], 2)
    asked = [
        (q["id"], q["status"], q["status_reason"], q["total"], q["challenged"], q["verified"])
        for q in document["questions"]
    ]
    assert asked == [
        ("q_001", "in_progress", "", 1, 0, 0),
        ("q_002", "in_progress", "", 2, 1, 1),
        ("q_003", "pending", "", 0, 0, 0),
        ("q_004", "pruned", "- nobody *asked*", 0, 0, 0),
    ]
    (record,) = document["contradictions"]
    assert (record["claim_id"], record["other_id"], record["status"]) == ("c_001", "c_002", "open")
    assert document["coverage"] == {
        "challenged": 1,
        "total": 3,
        "verified": 1,
        "unchecked": {"search_failed": 1, "open": 0, "not_challenged": 1},
        "lacking": {"total": 2, "sources": 2, "challenges": 2},
        "challenges": {"open": 0, "infrastructure": 1, "survived": 1},
    }
    assert [gap["id"] for gap in document["recorded_gaps"]] == ["gap_001", "gap_002"]
    cited = document["sections"][0]
    assert cited["claim_ids"] == ["c_001", "c_002"]
    assert [one["number"] for one in cited["citations"]] == [1, 2, 3]


def test_a_run_without_questions_and_claims_has_no_such_parts(desk: Desk) -> None:
    plain = read_report(desk, "r1")
    for heading in ("What was checked", "Contradictions", "Open questions", "Claims"):
        assert f"## {heading}\n" not in render_report(plain)
    document = json.loads(render_report(plain, "json"))
    assert [document[key] for key in ("claims", "questions", "contradictions")] == [[], [], []]
    assert NIST not in render_report(plain)
