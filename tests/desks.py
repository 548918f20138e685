"""What tests of a desk share: a caller that numbers its calls, and the road to a finished run."""

from typing import Any

from researchdesk.state import events as ev
from researchdesk.state.ids import CallId
from researchdesk.tools.door import Session, ToolResult
from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.scripted import ScriptedSource

SKY = "The sky is blue because of Rayleigh scattering. Shorter waves scatter more, by the fourth power.\n"
SECTION = 'It is scattering: "blue because of Rayleigh scattering" [s_001].'
CHECKLIST = ("project_entrypoints", "core_flow", "boundaries", "verification_evidence")
SECTIONS = (
    "conclusion",
    "source_evidence",
    "borrow_diverge_risk_gate",
    "implementation_recommendations",
    "verification",
)
HANDOFF = {
    "implementation_tasks": ["measure the spectrum"],
    "recommended_issues": ["a sunset is red"],
    "verification_commands": ["look up"],
}

STEP: dict[str, Any] = {
    "kind": "web_research",
    "status": "stopped",
    "objective": "o",
    "summary": "s",
    "keywords": ["k"],
    "stopping_condition": "c",
    "expected_evidence": "e",
}
"""What `deep_research_record_step` takes at the least."""


class Caller:
    """Makes calls in one session under ids ``c1``, ``c2``, …; ``last`` is the id of the newest."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.count = 0

    @property
    def last(self) -> str:
        return f"c{self.count}"

    def __call__(self, tool: str, /, **arguments: Any) -> ToolResult:
        self.count += 1
        return self.session.call(tool, arguments, tool_call_id=self.last)

    def ok(self, tool: str, /, **arguments: Any) -> ToolResult:
        """A call that has to work."""
        result = self(tool, **arguments)
        assert result.status == "success", result.text
        return result

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """The code of a call that has to be refused."""
        result = self(tool, **arguments)
        assert result.status == "error", result.text
        return str(result.data["code"])

    # -- the road to a finished run -----------------------------------------------------------------------------

    def start(self, objective: str = "Why is the sky blue?", **more: Any) -> ToolResult:
        return self.ok("deep_research_start", **{"objective": objective, "scope_level": "quick", **more})

    def source(self, content: str = SKY, *, locator: str = "https://sky.org/blue", name: str = "Sky") -> str:
        saved = self.ok(
            "deep_research_save_artifact", role="source", name=name, content=content, locator=locator
        )
        return str(saved.data["artifact_id"])

    def save(self, role: str, content: str, *, name: str = "N", **more: Any) -> str:
        saved = self.ok("deep_research_save_artifact", role=role, name=name, content=content, **more)
        return str(saved.data["artifact_id"])

    def checkpoint(self, round: int = 1, stage: str = "knowledge_base", **more: Any) -> ToolResult:
        arguments = {"round": round, "stage": stage, "status": "active", "summary": "so far", **more}
        return self.ok("deep_research_checkpoint", **arguments)

    def settle_checklist(self, evidence: str) -> None:
        for item in CHECKLIST:
            self.ok(
                "deep_research_update_checklist",
                item_id=item,
                status="completed",
                evidence_artifact_ids=[evidence],
            )

    def section(self, key: str, content: str = "", status: str = "completed") -> str:
        body = content or f"About {key}. {SECTION}"
        return self.save("report_section", body, report_section_key=key, report_section_status=status)

    def write_all(self) -> tuple[str, str]:
        """From a started run to one that only has to be completed; gives report and handoff."""
        note = self.save("evidence_note", SECTION) if self.session.run and self.session.run.sources else ""
        if not note:
            self.source()
            note = self.save("evidence_note", SECTION)
        self.checkpoint(stage="report_writing")
        self.settle_checklist(note)
        for key in SECTIONS:
            self.section(key)
        return self.save("report", ""), self.save("handoff", f"Go on. {SECTION}")

    def complete(self, report: str, handoff: str) -> ToolResult:
        return self.ok(
            "deep_research_complete", report_artifact_id=report, handoff_artifact_id=handoff, **HANDOFF
        )

    def finish(self) -> tuple[str, str]:
        """A run from start to completion."""
        self.start()
        report, handoff = self.write_all()
        self.complete(report, handoff)
        return report, handoff


def scripted_source() -> ScriptedSource:
    """A world of one page about the sky, found by searching for "sky"."""
    page = "https://b.org/"
    hit = Hit(
        locator=page, title="B", snippet=SKY, start=0, score=1.0, origin="b.org", media_type="text/plain"
    )
    return ScriptedSource(pages={page: SKY}, searches={"sky": (hit,)})


def opened(session_id: str = "s1", **more: Any) -> ev.SessionOpened:
    """A research session's first event."""
    return ev.SessionOpened(session_id=session_id, labels=("mode:deep_research",), **more)


def call(session: str = "s1", call: str = "c1", turn: str = "") -> CallId:
    """An identity."""
    return CallId(session=session, turn=turn, call=call)
