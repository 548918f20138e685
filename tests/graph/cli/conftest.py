"""A desk with a finished run that was written by hand, with hostile titles, quotes and lists; and a small corpus."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from researchdesk.tools.door import Session, ToolResult
from researchdesk.tools.workspace import Desk, open_desk

DOCUMENTS = {
    "handbook/limits.md": "# Rate limits\n\nThe gateway allows 100 requests per minute for each client.\n",
    "handbook/guide.md": "# Client guide\n\nClients read the Retry-After header before the next request is sent.\n",
    "project/notes.md": "# Release notes\n\nThe gateway allows 250 requests per minute since the last release.\n",
    "project/window.txt": "The rate limit of the gateway is measured in a sliding window of 60 seconds.\n",
}
HOSTILE = (
    "# Evil <script>alert(1)</script> [click](javascript:alert(1)) `x` *y* \\ | ~~z~~ &lt;b&gt;\n\n"
    "Read ![pixel](https://tracker.example.org/p.png) and </style><b>this</b> sentence of 12 words.\n"
)
SUPPLIED = 'Say {\\input{/etc/passwd}} 100% of_$x # \x9b31m"quoted" </title>'


def say(session: Session, name: str, /, **arguments: Any) -> ToolResult:
    """A call by a person that has to work."""
    done = session.call(name, arguments, tool_call_id=f"c:{session.workspace.seq}")
    assert done.status == "success", done.text
    return done


def written_run(desk: Desk, corpus: Path, session_id: str = "r1") -> Session:
    """A run of the template `general` up to its last section, from two fetched sources and a supplied one."""
    session = desk.session(session_id, sources=desk.corpus_sources([corpus]))
    say(
        session,
        "deep_research_start",
        objective="What *is* the <limit>?",
        scope_level="quick",
        template="general",
    )
    say(session, "search_sources", query="gateway requests", limit=5)
    say(session, "archive_source", locator="file:handbook/limits.md")
    say(session, "archive_source", locator="file:evil.md")
    say(session, "archive_source", locator="file:handbook/guide.md")
    say(
        session,
        "deep_research_save_artifact",
        role="source",
        name=SUPPLIED,
        content="A supplied text.",
        locator="https://docs.python.org/{a}_b?q=1&r=50%25",
    )
    for item in ("scope_and_terms", "primary_sources", "agreement_and_conflict"):
        say(
            session,
            "deep_research_update_checklist",
            item_id=item,
            status="completed",
            evidence_artifact_ids=["s_001"],
        )
    say(
        session,
        "deep_research_update_checklist",
        item_id="gaps",
        status="skipped",
        blocked_reason="- no [time](javascript:1) for <b>it</b>",
    )
    say(
        session,
        "deep_research_checkpoint",
        round=1,
        stage="report_writing",
        status="active",
        summary="read",
    )
    for key, text in SECTIONS.items():
        say(
            session,
            "deep_research_save_artifact",
            role="report_section",
            name=key,
            content=text,
            report_section_key=key,
            report_section_status="completed",
        )
    return session


SECTIONS = {
    "key_takeaways": 'The guide says "Read ![pixel](https://tracker.example.org/p.png) and </style><b>this</b> '
    'sentence of 12 words." [s_002] and "The gateway allows 100 requests per minute for each client." '
    "[s_001, s_002]",
    "background": "Two kinds of sources [s_001][s_004].\n\n[1]: javascript:alert(1)\n\n`code <b>` stays [s_002].",
    "findings": "It is measured [s_001].\n\n```\nan open fence [s_001] <script>",
    "disagreements_and_gaps": "<details open><summary>They agree</summary> [s_001]",
    "recommendations": "<!-- hidden --> Read on [s_001]; see ![](data:image/png;base64,AAAA).",
}


def finish(session: Session) -> None:
    """Complete a written run."""
    report = say(session, "deep_research_save_artifact", role="report", name="Report", content="")
    handoff = say(
        session,
        "deep_research_save_artifact",
        role="handoff",
        name="Handoff",
        content="Go on [s_001].",
        source_artifact_ids=["s_001"],
    )
    say(
        session,
        "deep_research_complete",
        report_artifact_id=report.data["artifact_id"],
        handoff_artifact_id=handoff.data["artifact_id"],
        implementation_tasks=["Raise the limit [s_004], then\nask <script>alert(2)</script>"],
        recommended_issues=["1. Is it *measured*?"],
        verification_commands=["grep -c `limit` docs/*.md", "Compare with [s_001]"],
    )


@pytest.fixture(scope="package")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in {**DOCUMENTS, "evil.md": HOSTILE}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="package")
def desk(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with the finished run `r1`."""
    with open_desk(tmp_path_factory.mktemp("home")) as opened:
        finish(written_run(opened, corpus))
        yield opened
