"""Random histories of a desk: everything that can happen to its streams, in any order."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from researchdesk.state import events as ev
from researchdesk.state.errors import NotFound, Refusal, UsageError
from researchdesk.state.ids import content_hash, session_stream
from researchdesk.state.prices import Price
from researchdesk.state.workspace import IllegalTransition
from researchdesk.stores.codec import Refs
from researchdesk.stores.replay import extend, nothing_yet
from researchdesk.tools.workspace import Desk

from ...desks import SECTION, SKY, STEP, Caller
from ...state.investigations import TEXTS, happened

TS = "2026-01-01T00:00:{:02d}.000000+00:00"
PERSON = "human:ann"
PATHS = ("a.md", "A.md", "b.csv", "sub/c.md", "e.md")
WORDS = ("", "one\n", "two\n", "a,b\n1,2\n")


class Play:
    """A desk at which something happens with every `step`."""

    def __init__(self, desk: Desk, seed: int, *, name: str = "") -> None:
        self.desk = desk
        self.dice = Random(seed)
        self.name = name or f"p{seed}"
        self.count = 0
        self.parts: list[Callable[[], None]] = [*([self.investigation()] * 3), *([self.step_of_run] * 4)]
        self.parts += [self.step_of_chat, self.step_of_chat, self.model_at_desk, self.model_at_desk]
        self.parts += [self.model_at_desk, self.person_at_desk, self.person_at_desk]
        self.run = Caller(desk.session(f"{self.name}-run"))
        self.chat = desk.session(f"{self.name}-chat", labels=())
        self.model = Caller(desk.session(f"{self.name}-desk", labels=(), profile="desk"))

    def step(self) -> None:
        """One thing more, whatever it is; what is refused is refused."""
        self.count += 1
        with contextlib.suppress(Refusal, NotFound, IllegalTransition):
            self.dice.choice(self.parts)()

    # -- an investigation, by its events ------------------------------------------------------------------------

    def investigation(self) -> Callable[[], None]:
        name = f"{self.name}-inquiry"
        opened, *events = happened(self.dice.randrange(10_000), 90)
        assert isinstance(opened, ev.SessionOpened)
        left: Iterator[ev.Event] = iter([replace(opened, session_id=name), *events])
        projection = nothing_yet(session_stream(name))
        bodies = {content_hash(text.encode()): text.encode() for text in TEXTS.values()}

        def write() -> None:
            nonlocal projection
            some = list(islice(left, self.dice.randint(1, 40)))
            if not some:
                return
            ts = TS.format(self.count % 60)
            extension = extend(projection, some, stream=session_stream(name), ts=ts, refs=Refs())
            self.desk.ledger.append(replace(extension.append, bodies=bodies))
            projection = extension.projection

        return write

    # -- a run, by its tools ------------------------------------------------------------------------------------

    def step_of_run(self) -> None:
        call, number = self.run, self.dice.randrange(4)
        if call.session.run is None:
            call("deep_research_start", objective="Why is the sky blue?", scope_level="quick")
            return
        source = {
            "role": "source",
            "name": "S",
            "locator": f"https://s{number}.org/",
            "content": SKY * (number + 1),
        }
        section = {
            "role": "report_section",
            "name": "C",
            "content": SECTION,
            "report_section_status": "drafted",
        }
        checkpoint = {"round": number, "stage": "knowledge_base", "status": "active", "summary": "s"}
        steps: list[Callable[[], object]] = [
            lambda: call("deep_research_save_artifact", **source),
            lambda: call("deep_research_save_artifact", role="evidence_note", name="N", content=SECTION),
            lambda: call("deep_research_save_artifact", **section, report_section_key="conclusion"),
            lambda: call("deep_research_record_step", **STEP),
            lambda: call("deep_research_checkpoint", **checkpoint),
            lambda: call("deep_research_update_checklist", item_id="core_flow", status="in_progress"),
            lambda: self.desk.purge(call.session.id, actor=PERSON, reason="law"),
            self.finish,
            lambda: self.desk.rebuild(call.session.id),
        ]
        self.dice.choice(steps)()

    def finish(self) -> None:
        """The road to the end of the run, as far as it can be gone now."""
        if self.dice.random() < 0.3:
            with contextlib.suppress(AssertionError, UsageError):
                self.run.complete(*self.run.write_all())
                self.desk.handoff(self.run.session.id)

    # -- requests to a model ------------------------------------------------------------------------------------

    def step_of_chat(self) -> None:
        workspace = self.chat.workspace
        self.chat.record(self.dice.choice([self.asked, self.ended, self.ended, self.said])(workspace))

    def asked(self, workspace: Any) -> list[ev.Event]:
        price = Price(input="1.25", output="10") if self.dice.random() < 0.7 else None
        configured = ev.RunConfigured(model="some:model", price=price)
        request = ev.ModelCalled(
            ordinal=workspace.called + 1,
            model="some:model",
            stage="chat",
            request_digest="d",
            input_tokens=100,
        )
        return [*([configured] if self.dice.random() < 0.5 else []), request]

    def ended(self, workspace: Any) -> list[ev.Event]:
        ordinal = workspace.called
        if self.dice.random() < 0.3:
            return [
                ev.ModelFailed(ordinal=ordinal, code="rate", detail="wait", charged=self.dice.random() < 0.5)
            ]
        asked = (
            ev.AskedCall(
                id=f"call{ordinal}", name="desk_list_files", arguments=ev.Stowed(inline="{}"), chars=2
            ),
        )
        answer = ev.ModelAnswered(
            ordinal=workspace.answered + 1,
            turn_id=f"t_{ordinal}",
            message_id=f"m{ordinal}",
            text=ev.Stowed(inline="So", chars=2),
            calls=asked if self.dice.random() < 0.5 else (),
            request_digest="d",
            input_tokens=self.dice.randrange(1, 5_000),
            output_tokens=self.dice.randrange(300),
            usage_reported=True,
            cached_tokens=self.dice.randrange(90),
        )
        return [answer, *([_record(answer)] if answer.calls else [])]

    def said(self, workspace: Any) -> list[ev.Event]:
        return [ev.MessageReceived(message_id=f"said{self.count}", text=ev.Stowed(inline="Well?", chars=5))]

    # -- the desk -----------------------------------------------------------------------------------------------

    def version(self, path: str) -> str:
        found = self.desk.records.desk().desk.at_path(path)
        return found.content_hash if found else "0" * 12

    def model_at_desk(self) -> None:
        path, text = self.dice.choice(PATHS), self.dice.choice(WORDS)
        file = {"file": path, "base_version": self.version(path)}
        kind = "spreadsheet" if path.endswith("csv") else "markdown"
        tool, arguments = self.dice.choice(
            [
                ("desk_create_file", {"path": path, "kind": kind, "content": text}),
                ("desk_update_file", {**file, "mode": "replace", "content": text}),
                ("desk_rename_file", {**file, "new_path": self.dice.choice(PATHS)}),
                ("desk_delete_file", file),
                ("desk_manage_panel", {"op": self.dice.choice(["open", "close", "focus"]), "target": path}),
            ]
        )
        self.model(tool, **arguments)

    def person_at_desk(self) -> None:
        path = self.dice.choice(PATHS)
        waiting = self.desk.proposals(status="pending")
        if waiting and self.dice.random() < 0.7:
            one = self.dice.choice(waiting)
            choice: Any = self.dice.choice(["approve", "approve", "reject"])
            self.desk.decide(one.id, choice, actor=PERSON, proposal_hash=one.hash, reason="so")
        else:
            self.desk.files.put(path, self.dice.choice(WORDS), actor=PERSON, if_match=self.version(path))


def _record(answer: ev.ModelAnswered) -> ev.CallRecorded:
    (asked,) = answer.calls
    return ev.CallRecorded(
        turn_id=answer.turn_id,
        tool_call_id=asked.id,
        name=asked.name,
        input_digest="d",
        arguments=asked.arguments,
        status="success",
        code="",
        text=ev.Stowed(inline="nothing", chars=7),
        data="{}",
    )
