"""Whatever a model and people do to a desk in whatever order, it stays whole and a path names one file."""

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from researchdesk.state.desk.judging import Choice
from researchdesk.state.desk.paths import path_key
from researchdesk.state.desk.policies import Policies
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.errors import NotFound, Refusal
from researchdesk.tools.workspace import open_desk

from .conftest import ANN, BOB, Clock, Model

PATHS = st.sampled_from(["a.md", "A.md", "b.csv", "sub", "sub/c.md", "sub/caf\u00e9", "Sub/cafe\u0301", "e"])
TEXTS = st.sampled_from(["", "one\n", "two", "a,b\n1,2\n", "=A1,x\n"])
NUMBERS = st.integers(0, 5)


class People(RuleBasedStateMachine):
    """A model in two sessions and two persons, at one desk."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.desk = open_desk(self.folder.name, clock=self.clock)
        trusting = Policies(auto_approve={"desk_update_file": "small"}, expires_days=1)
        self.models = [Model(self.desk, "s1"), Model(self.desk, "s2", trusting)]
        self.calls: list[tuple[Model, int, str, dict[str, Any]]] = []

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        model = self.models[number % 2]
        model(tool, **arguments)
        self.calls.append((model, model.count, tool, arguments))

    def decide(self, made: list[Proposal], number: int, choice: Choice, actor: str) -> None:
        if made:
            one = made[number % len(made)]
            decision = partial(self.desk.decide, one.id, choice, actor=actor, proposal_hash=one.hash)
            self.person(lambda: decision(reason="it is good as it is"))

    def person(self, act: Callable[[], object]) -> None:
        with contextlib.suppress(Refusal, NotFound):
            act()

    def version(self, path: str) -> str:
        found = self.desk.records.desk().desk.at_path(path)
        return found.content_hash if found else "0" * 12

    @rule(
        number=NUMBERS, path=PATHS, kind=st.sampled_from(["markdown", "spreadsheet", "folder"]), content=TEXTS
    )
    def create(self, number: int, path: str, kind: str, content: str) -> None:
        self.call(number, "desk_create_file", path=path, kind=kind, content=content)

    @rule(number=NUMBERS, path=PATHS, mode=st.sampled_from(["replace", "append", "set_cells"]), content=TEXTS)
    def change(self, number: int, path: str, mode: str, content: str) -> None:
        cells = [{"ref": "B2", "value": content}] if mode == "set_cells" else []
        used = {"cells": cells} if cells else {"content": content}
        self.call(number, "desk_update_file", file=path, base_version=self.version(path), mode=mode, **used)

    @rule(number=NUMBERS, path=PATHS, to=PATHS)
    def move(self, number: int, path: str, to: str) -> None:
        self.call(number, "desk_rename_file", file=path, base_version=self.version(path), new_path=to)

    @rule(number=NUMBERS, path=PATHS)
    def delete(self, number: int, path: str) -> None:
        self.call(number, "desk_delete_file", file=path, base_version=self.version(path))

    @rule(number=NUMBERS, path=PATHS, op=st.sampled_from(["open", "focus", "close"]))
    def show(self, number: int, path: str, op: str) -> None:
        self.call(number, "desk_manage_panel", op=op, target=path)
        self.call(number, "desk_list_files", depth=1)

    @rule(number=NUMBERS)
    def repeat(self, number: int) -> None:
        if self.calls:
            model, count, tool, arguments = self.calls[-1 - number % len(self.calls)]
            assert model.again(count, tool, **arguments).replayed

    @rule(number=NUMBERS)
    def approve(self, number: int) -> None:
        self.decide(self.desk.proposals(status="pending"), number, "approve", ANN)

    @rule(number=NUMBERS)
    def reject(self, number: int) -> None:
        self.decide(self.desk.proposals(status="pending"), number, "reject", ANN)

    @rule(number=NUMBERS, actor=st.sampled_from([ANN, BOB]))
    def approve_again(self, number: int, actor: str) -> None:
        self.decide(self.desk.proposals(), number, "approve", actor)

    @rule(number=NUMBERS, content=TEXTS, to=PATHS)
    def approve_something_else(self, number: int, content: str, to: str) -> None:
        waiting = self.desk.proposals(status="pending")
        if not waiting:
            return
        made = waiting[number % len(waiting)]
        wanted: dict[str, Any] = {"file": made.file_id, "base_version": made.base_hash}
        if made.tool == "desk_update_file":
            wanted |= {"mode": "replace", "content": content}
        elif made.tool == "desk_rename_file":
            wanted |= {"new_path": to}

        def decide() -> None:
            shown = self.desk.preview(made.id, wanted).proposal_hash
            self.desk.decide(made.id, "approve", actor=ANN, proposal_hash=shown, edited_args=wanted)

        self.person(decide)

    @rule(hours=st.sampled_from([0.001, 30]))
    def time_passes(self, hours: float) -> None:
        self.clock.forward(hours=hours)

    @rule(path=PATHS, content=TEXTS, actor=st.sampled_from([ANN, BOB]))
    def save(self, path: str, content: str, actor: str) -> None:
        self.person(lambda: self.desk.files.put(path, content, actor=actor, if_match=self.version(path)))

    @rule(path=PATHS, to=PATHS)
    def move_by_hand(self, path: str, to: str) -> None:
        self.person(lambda: self.desk.files.rename(path, to, actor=ANN))

    @rule(path=PATHS)
    def delete_by_hand(self, path: str) -> None:
        self.person(lambda: self.desk.files.remove(path, actor=ANN))

    @rule(number=NUMBERS)
    def restore(self, number: int) -> None:
        kept = sorted(self.desk.records.desk().desk.revisions.values(), key=lambda one: one.seq)
        if kept:
            self.person(lambda: self.desk.files.restore(kept[-1 - number % len(kept)].id, actor=BOB))

    @invariant()
    def a_path_names_one_file(self) -> None:
        files = self.desk.files.listed()
        keys = [path_key(file.path) for file in files]
        assert len(set(keys)) == len(keys)
        documents = {key for key, file in zip(keys, files, strict=True) if file.kind != "folder"}
        assert not any(key.startswith(f"{document}/") for key in keys for document in documents)
        above = Counter(key[:at] for key in keys for at, sign in enumerate(key) if sign == "/")
        assert dict(self.desk.records.desk().desk.folders) == above
        rows = self.desk.ledger.query("SELECT path FROM desk_files WHERE deleted = 0")
        assert [file.path for file in files] == sorted(str(row["path"]) for row in rows)

    def teardown(self) -> None:
        waiting = {made.cause.tool_call_id for made in self.desk.proposals(status="pending")}
        rows = self.desk.ledger.query("SELECT id FROM tool_calls WHERE status = 'pending'")
        assert {row["id"] for row in rows} == waiting
        executed = Counter(made.id for made in self.desk.proposals(status="executed"))
        own = (
            "SELECT r.proposal_id FROM file_revisions r JOIN proposals p "
            "ON p.id = r.proposal_id AND p.file_id = r.file_id"
        )
        assert Counter(row["proposal_id"] for row in self.desk.ledger.query(own)) == executed
        indexed = self.desk.ledger.query("SELECT file_id, path, content_hash FROM desk_texts")
        assert {tuple(row.values()) for row in indexed} == {
            (file.id, file.path, file.content_hash)
            for file in self.desk.files.listed()
            if file.kind != "folder"
        }
        assert self.desk.verify().problems == ()
        self.desk.close()
        self.folder.cleanup()


People.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_a_desk_stays_whole_whatever_is_done_to_it = People.TestCase
