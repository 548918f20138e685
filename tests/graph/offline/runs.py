"""A small corpus, researched by the offline model in the real graph, and what the run left."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import researchdesk as rd
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Claim
from researchdesk.state.investigation import Investigation
from researchdesk.state.questions import Question
from researchdesk.tools.iolog import LoggedCall


@dataclass(frozen=True)
class Run:
    """A run as it ended.

    Args:
        calls: each call of the model in order.
        drafts: the body of each report section, by key.
    """

    status: str
    blocked_reason: str
    investigation: Investigation
    report: str
    drafts: Mapping[str, str]
    calls: tuple[LoggedCall, ...]
    answers: int

    @property
    def claims(self) -> list[Claim]:
        return list(self.investigation.notes.all_claims)

    @property
    def challenges(self) -> list[Challenge]:
        return list(self.investigation.challenges)

    @property
    def questions(self) -> list[Question]:
        return list(self.investigation.frontier)

    @property
    def refused(self) -> Counter[str]:
        """How many calls of each tool were refused or failed."""
        return Counter(call.tool for call in self.calls if call.status == "error")

    def claim(self, words: str) -> Claim:
        """The one claim that holds these words."""
        (found,) = [claim for claim in self.claims if words in claim.text]
        return found


def investigate(
    folder: Path,
    texts: Mapping[str, str],
    question: str,
    *,
    origins: Mapping[str, str] | None = None,
    scope: str = "quick",
    template: str = "general",
    max_steps: int = 0,
) -> Run:
    """Research the question in the texts; ``origins`` names the publisher of each folder."""
    corpus = folder / "corpus"
    write(corpus, texts, origins or {})
    with rd.open_desk(folder / "home") as desk:
        ended = rd.run_research(
            desk,
            question,
            corpus=[corpus],
            scope=scope,  # type: ignore[arg-type]
            template=template,
            session_id="s",
            max_steps=max_steps,
        )
        return run_of(desk, ended.status, ended.blocked_reason or "")


def write(corpus: Path, texts: Mapping[str, str], origins: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    listed = "".join(f'"{folder}" = "{origin}"\n' for folder, origin in origins.items())
    (corpus / "corpus.toml").write_text(f"[origins]\n{listed}")


def run_of(desk: rd.Desk, status: str, blocked_reason: str) -> Run:
    session = desk.existing("s")
    run = session.run
    assert run is not None
    read = desk.records.text
    report = run.artifacts.get(run.report_artifact_id)
    calls = [call for message in desk.log("s") for call in message.calls]
    return Run(
        status=status,
        blocked_reason=blocked_reason,
        investigation=session.investigation,
        report=read(report.content_hash) if report else "",
        drafts={
            one.key: read(run.artifacts[one.artifact_id].content_hash)
            for one in run.sections
            if one.artifact_id
        },
        calls=tuple(calls),
        answers=session.workspace.answered,
    )
