"""What every ledger backend promises of streams that are written together, and of the rows of a desk."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from researchdesk.state import events as ev
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.effects import ClosePanel, DeskEffect, OpenPanel
from researchdesk.state.desk.files import Cause
from researchdesk.state.errors import IntegrityError
from researchdesk.state.ids import DESK_STREAM, content_hash
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, Head, HeadMoved, Ledger
from researchdesk.stores.replay import extend, nothing_yet, replay
from researchdesk.stores.verify import rebuild, verify

from ..desks import opened

TS = "2026-01-01T00:00:00.000000+00:00"
CALL = Cause(session_id="s1", turn_id="", tool_call_id="c1")
BODY, OTHER = b"# Plan\n", b"# Another plan\n"


def created(file_id: str = "f_1", path: str = "plan.md", body: bytes = BODY) -> dv.FileCreated:
    return dv.FileCreated(
        file_id=file_id,
        path=path,
        kind="markdown",
        content_hash=content_hash(body),
        chars=len(body),
        actor="agent:s1",
        at=TS,
        cause=replace(CALL, tool_call_id=f"c-{file_id}"),
    )


def edited(revision_id: str = "r_1", body: bytes = OTHER) -> dv.FileChanged:
    return dv.FileChanged(
        file_id="f_1",
        op="human_edit",
        path="plan.md",
        content_hash=content_hash(body),
        chars=len(body),
        deleted=False,
        actor="human:me",
        at=TS,
        revision_id=revision_id,
    )


def proposed() -> dv.ProposalMade:
    return dv.ProposalMade(
        proposal_id="p_1",
        cause=CALL,
        tool="desk_delete_file",
        arguments='{"file":"f_1"}',
        file_id="f_1",
        path="plan.md",
        verb="delete",
        destructive=True,
        guard="file",
        base_hash=content_hash(BODY),
        after_hash="",
        diff="-# Plan\n",
        proposal_hash="sha256:0",
        created_at=TS,
    )


def shown(*effects: DeskEffect) -> dv.EffectsDerived:
    return dv.EffectsDerived(session_id="s1", effects=effects)


def opens(n: int) -> OpenPanel:
    return OpenPanel(
        id=f"e:{n}", tool_call_id="c", panel_type="markdown", panel_id=f"panel_{n}", title=f"{n}"
    )


def closes(n: int) -> ClosePanel:
    return ClosePanel(id=f"x:{n}", tool_call_id="c", panel_id=f"panel_{n}")


class StreamsContract:
    """The promises of the `Ledger` port that concern several streams."""

    @pytest.fixture
    def reopen(self) -> Callable[[], Ledger]:
        """Opens the same store once more, as another process would."""
        raise NotImplementedError

    def of(self, ledger: Ledger, stream: str, events: Sequence[ev.AnyEvent], *bodies: bytes) -> Append:
        projection = replay(nothing_yet(stream), ledger.read(stream))
        append = extend(projection, events, stream=stream, ts=TS, refs=Refs()).append
        return replace(append, bodies={content_hash(body): body for body in bodies})

    def test_two_streams_are_written_together(self, ledger: Ledger, reopen: Callable[[], Ledger]) -> None:
        session = self.of(ledger, "session:s1", [opened()])
        desk = self.of(ledger, DESK_STREAM, [created()], BODY)
        ledger.append(session, desk)
        other = reopen()
        assert [event.stream for event in other.tail()] == ["session:s1", DESK_STREAM]
        assert [event.global_seq for event in other.tail()] == [1, 2]
        assert other.head(DESK_STREAM) == Head(
            count=1, hash=desk.events[-1].hash, rows_digest=desk.rows_digest
        )
        assert other.rows("desk_files", "main")[0][1:4] == ("f_1", "plan.md", "markdown")
        assert verify(other).checked == {"streams": 2, "events": 2, "rows": 3, "bodies": 1}
        other.close()

    @pytest.mark.parametrize("late", [0, 1])
    def test_when_one_of_two_heads_has_moved_nothing_is_written(self, ledger: Ledger, late: int) -> None:
        ledger.append(self.of(ledger, "session:s1", [opened()]))
        ledger.append(self.of(ledger, DESK_STREAM, [created()], BODY))
        first = self.of(ledger, DESK_STREAM, [edited()], OTHER)
        second = self.of(ledger, "session:s1", [ev.RunConfigured()])
        ledger.append((first, second)[late])
        before = ledger.tail()
        again = replace(first, bodies={content_hash(b"lost"): b"lost"})
        with pytest.raises(HeadMoved):
            ledger.append(again, second)
        assert ledger.tail() == before
        assert ledger.body(content_hash(b"lost")) is None
        assert verify(ledger).ok

    def test_when_the_database_refuses_one_of_two_nothing_is_written(self, ledger: Ledger) -> None:
        ledger.append(self.of(ledger, "session:s1", [opened()]))
        good = self.of(ledger, "session:s1", [ev.RunConfigured()])
        desk = self.of(ledger, DESK_STREAM, [created()], BODY)
        poem = [
            replace(change, new=(*change.new[:3], "poem", *change.new[4:]))
            if change.table == "desk_files" and change.new
            else change
            for change in desk.rows
        ]
        with pytest.raises(IntegrityError):
            ledger.append(good, replace(desk, rows=tuple(poem)))
        assert len(ledger.tail()) == 1 and ledger.head(DESK_STREAM) == Head()
        ledger.append(good, desk)
        assert verify(ledger).ok

    def test_rows_that_go_are_gone_whatever_became_of_them_before(self, ledger: Ledger) -> None:
        ledger.append(self.of(ledger, DESK_STREAM, [shown(opens(1), opens(2)), shown(opens(3))]))
        assert [row[2:4] for row in ledger.rows("panels", "main")] == [
            ("panel_1", 0),
            ("panel_2", 1),
            ("panel_3", 2),
        ]
        # One that goes and comes again, one that comes and goes again, and one that goes, all in one transaction.
        reopened = replace(opens(1), id="e:1b")
        events = [shown(closes(1)), shown(opens(9)), shown(closes(9)), shown(reopened), shown(closes(2))]
        ledger.append(self.of(ledger, DESK_STREAM, events))
        assert [row[2:4] for row in ledger.rows("panels", "main")] == [("panel_1", 1), ("panel_3", 0)]
        many = [shown(*(opens(n) for n in range(20, 40)))]
        ledger.append(self.of(ledger, DESK_STREAM, many))
        ledger.append(self.of(ledger, DESK_STREAM, [shown(*(closes(n) for n in range(20, 40)))]))
        assert len(ledger.rows("panels", "main")) == 2
        assert verify(ledger).ok

    def test_the_rows_of_a_desk_are_those_of_its_events_and_can_be_made_anew(self, ledger: Ledger) -> None:
        ledger.append(self.of(ledger, "session:s1", [opened()]))
        yes = dv.ProposalApproved(proposal_id="p_1", actor="human:me", at=TS)
        failed = dv.ProposalFailed(proposal_id="p_1", error="It did not work.")
        ledger.append(
            self.of(
                ledger,
                DESK_STREAM,
                [created(), proposed(), yes, failed, edited(), shown(opens(1))],
                BODY,
                OTHER,
            )
        )
        tables = ("desk_files", "file_revisions", "proposals", "panels", "desk_bodies")
        rows = {table: ledger.rows(table, "main") for table in tables}
        assert {table: len(found) for table, found in rows.items()} == {
            "desk_files": 1,
            "file_revisions": 1,
            "proposals": 1,
            "panels": 1,
            "desk_bodies": 2,
        }
        assert rebuild(ledger, DESK_STREAM) == 6
        assert {table: ledger.rows(table, "main") for table in tables} == rows
        assert verify(ledger).ok

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE proposals SET status = 'executed'",
            "UPDATE proposals SET approved_by = 'agent:s1', approved_at = 'now', status = 'approved', decided_by = 'x'",
            "UPDATE proposals SET decided_by = 'human:me'",
            "UPDATE proposals SET verb = 'sing'",
            "UPDATE desk_files SET kind = 'poem'",
            "UPDATE desk_files SET deleted = 2",
            "INSERT INTO file_revisions SELECT desk_id, 'r_2', 'f_9', 1, path, kind, content_hash, chars, 0, 'update', "
            "'human:me', '', 1, 'now' FROM desk_files",
        ],
    )
    def test_a_row_that_no_desk_can_have_is_refused(
        self, ledger: Ledger, raw: Callable[[str], None], statement: str
    ) -> None:
        ledger.append(self.of(ledger, DESK_STREAM, [created(), proposed()], BODY))
        with pytest.raises(IntegrityError):
            raw(statement)
        assert verify(ledger).ok

    def test_a_purge_of_a_session_leaves_what_the_desk_stands_on(
        self, ledger: Ledger, raw: Callable[[str], None]
    ) -> None:
        ledger.append(self.of(ledger, DESK_STREAM, [created()], BODY))
        ledger.append(self.of(ledger, "session:s1", [opened()]))
        drop = replace(self.of(ledger, "session:s1", [ev.RunConfigured()]), drops=(content_hash(BODY),))
        ledger.append(drop)
        assert ledger.body(content_hash(BODY)) == BODY
        with pytest.raises(IntegrityError):
            raw("DELETE FROM blobs")
