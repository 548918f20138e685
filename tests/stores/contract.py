"""What every ledger backend promises; a backend's test class inherits this one and says how to open it."""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.errors import IntegrityError, LeaseLost, LedgerCorrupt, ResearchdeskError, UsageError
from researchdesk.state.ids import content_hash, session_stream
from researchdesk.state.limits import LIMITS
from researchdesk.state.templates import IMPLEMENTATION
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, Head, HeadMoved, Lease, Ledger, Staged
from researchdesk.stores.replay import Extension, Projection, extend, replay
from researchdesk.stores.verify import rebuild, verify

from ..desks import call, opened

TS = "2026-01-01T00:00:00.000000+00:00"
STARTED = ev.ResearchStarted(
    objective="Why?", scope_level="quick", template=IMPLEMENTATION, limits=LIMITS["quick"]
)


def artifact(n: int, body: bytes = b"body") -> ev.ArtifactRecorded:
    """The n-th source artifact."""
    return ev.ArtifactRecorded(
        artifact_id=f"a_{n}",
        role="source",
        name=f"Source {n}",
        summary="",
        locator=f"file:{n}",
        content_hash=content_hash(body),
        chars=len(body),
        provenance="supplied",
    )


def purge_of(n: int, *hashes: str) -> ev.ArtifactPurged:
    """The purge of the n-th source artifact."""
    return ev.ArtifactPurged(artifact_id=f"a_{n}", hashes=hashes, actor="human:me", reason="law")


def recorded(call_id: str, text: str = "done") -> ev.CallRecorded:
    """The record of a call outside a turn."""
    return ev.CallRecorded(
        turn_id="",
        tool_call_id=call_id,
        name="tool",
        input_digest="d",
        arguments=ev.Stowed(inline="{}", chars=2),
        status="success",
        code="",
        text=ev.Stowed(inline=text, chars=len(text)),
        data="{}",
    )


class LedgerContract:
    """The promises of the `Ledger` port."""

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Ledger]:
        """Opens the same store once more, as another process would."""
        raise NotImplementedError

    @pytest.fixture
    def raw(self, tmp_path: Path) -> Callable[[str], None]:
        """Runs one statement past the ledger, in a transaction of its own, with the package's errors."""
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, reopen: Callable[[], Ledger]) -> Iterator[Ledger]:
        ledger = reopen()
        yield ledger
        ledger.close()

    # -- writing ------------------------------------------------------------------------------------------------

    def extension(
        self, ledger: Ledger, events: Sequence[ev.Event], session: str = "s1"
    ) -> tuple[Append, Extension]:
        stream = session_stream(session)
        projection = replay(Projection(), ledger.read(stream))
        extension = extend(projection, events, stream=stream, ts=TS, refs=Refs())
        return extension.append, extension

    def write(self, ledger: Ledger, *events: ev.Event, session: str = "s1", **more: object) -> Append:
        append, _ = self.extension(ledger, events, session)
        changed = replace(append, **more)  # type: ignore[arg-type]
        ledger.append(changed)
        return changed

    def begin(self, ledger: Ledger, session: str = "s1") -> None:
        self.write(ledger, opened(session), STARTED, session=session)

    # -- appending and reading ----------------------------------------------------------------------------------

    def test_what_was_appended_is_read_back_as_it_was(self, ledger: Ledger) -> None:
        first = self.write(ledger, opened(), STARTED)
        second = self.write(ledger, recorded("c1"))
        stored = ledger.read("session:s1")
        assert [e.hash for e in stored] == [e.hash for e in (*first.events, *second.events)]
        assert [e.event() for e in stored] == [opened(), STARTED, recorded("c1")]
        assert ledger.read("session:s1", after=2) == stored[2:]
        assert ledger.head("session:s1") == Head(
            count=3, hash=stored[-1].hash, rows_digest=second.rows_digest
        )

    def test_an_empty_ledger_answers_every_question(self, ledger: Ledger) -> None:
        assert ledger.head("session:none") == Head()
        assert (ledger.streams(), ledger.read("session:none"), ledger.tail()) == ([], [], [])
        assert (ledger.call_row(call()), ledger.body("sha256:0"), ledger.staged(call())) == (None, None, None)
        assert ledger.staged_body(call(), "sha256:0") is None
        assert ledger.lease_holder("s1") == ""
        assert ledger.rows("artifacts", "s1") == []
        assert list(ledger.body_hashes()) == []
        assert ledger.faults() == []
        assert verify(ledger).ok

    def test_a_writer_that_decided_on_an_old_head_is_told_so_and_changes_nothing(
        self, ledger: Ledger, reopen: Callable[[], Ledger]
    ) -> None:
        self.begin(ledger)
        late, _ = self.extension(ledger, [recorded("c1")])
        other = reopen()
        self.write(other, recorded("c2"))
        other.close()
        before = ledger.head("session:s1")
        with pytest.raises(HeadMoved):
            ledger.append(late)
        assert ledger.head("session:s1") == before
        assert ledger.call_row(call(call="c1")) is None
        assert verify(ledger).ok

    def test_two_openings_of_one_session_leave_one(self, ledger: Ledger) -> None:
        first, _ = self.extension(ledger, [opened()])
        second, _ = self.extension(ledger, [opened()])
        ledger.append(first)
        with pytest.raises(HeadMoved):
            ledger.append(second)
        assert len(ledger.read("session:s1")) == 1

    def test_another_connection_sees_what_was_acknowledged(
        self, ledger: Ledger, reopen: Callable[[], Ledger]
    ) -> None:
        self.begin(ledger)
        other = reopen()
        assert other.read("session:s1") == ledger.read("session:s1")
        assert other.head("session:s1") == ledger.head("session:s1")
        other.close()

    def test_streams_are_named_oldest_first(self, ledger: Ledger) -> None:
        for session in ("zebra", "ape", "mole"):
            self.begin(ledger, session)
        self.write(ledger, recorded("c1"), session="zebra")
        assert ledger.streams() == ["session:zebra", "session:ape", "session:mole"]

    def test_the_tail_gives_all_streams_in_the_order_of_their_commits(self, ledger: Ledger) -> None:
        for n, session in enumerate(("a", "b", "a", "b")):
            if n < 2:
                self.begin(ledger, session)
            else:
                self.write(ledger, recorded(f"c{n}"), session=session)
        tail = ledger.tail()
        assert [(e.stream, e.seq) for e in tail] == [
            ("session:a", 1),
            ("session:a", 2),
            ("session:b", 1),
            ("session:b", 2),
            ("session:a", 3),
            ("session:b", 3),
        ]
        numbers = [e.global_seq for e in tail]
        assert numbers == sorted(set(numbers))
        pages = []
        after = 0
        while page := ledger.tail(after=after, limit=2):
            pages += page
            after = page[-1].global_seq
        assert pages == tail

    # -- rows ---------------------------------------------------------------------------------------------------

    def test_rows_are_written_with_their_events_and_read_in_key_order(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, *(artifact(n) for n in (2, 1)), bodies={content_hash(b"body"): b"body"})
        assert [row[1] for row in ledger.rows("artifacts", "s1")] == ["a_1", "a_2"]
        assert ledger.rows("artifacts", "s2") == []
        assert ledger.rows("research_runs", "s1")[0][4:7] == ("knowledge_base", "active", 0)
        assert verify(ledger).ok

    def test_a_row_that_changes_is_changed_and_not_added(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, ev.ResearchBlocked(reason="no power"))
        (run,) = ledger.rows("research_runs", "s1")
        assert (run[5], run[8]) == ("blocked", "no power")
        assert verify(ledger).ok

    def test_rows_can_be_replaced_whole(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={content_hash(b"body"): b"body"})
        head = ledger.head("session:s1")
        rows = {table: ledger.rows(table, "s1") for table in ("sessions", "research_runs", "artifacts")}
        rows |= {
            table: ledger.rows(table, "s1")
            for table in ("checklist_items", "report_sections", "session_bodies")
        }
        ledger.replace_rows("session:s1", head=head, rows={"sessions": rows["sessions"]})
        assert ledger.rows("artifacts", "s1") == []
        assert not verify(ledger).ok
        ledger.replace_rows("session:s1", head=head, rows=rows)
        assert verify(ledger).ok

    def test_rows_of_an_old_head_take_no_place(self, ledger: Ledger) -> None:
        self.begin(ledger)
        head, rows = ledger.head("session:s1"), {"sessions": ledger.rows("sessions", "s1")}
        self.write(ledger, recorded("c1"))
        with pytest.raises(HeadMoved):
            ledger.replace_rows("session:s1", head=head, rows=rows)
        assert ledger.call_row(call()) is not None
        assert verify(ledger).ok

    def test_rebuilding_while_others_append_loses_no_row(
        self, ledger: Ledger, reopen: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.begin(ledger)
        other, late = reopen(), iter(("c1", "c2"))
        replace_rows = ledger.replace_rows

        def overtaken(*args: Any, **more: Any) -> None:
            for name in itertools.islice(late, 1):
                self.write(other, recorded(name))
            replace_rows(*args, **more)

        monkeypatch.setattr(ledger, "replace_rows", overtaken)
        rebuild(ledger, "session:s1")
        other.close()
        assert [row[2] for row in ledger.rows("tool_calls", "s1")] == ["c1", "c2"]
        assert verify(ledger).problems == ()

    def test_a_query_reads_by_name_and_cannot_write(self, ledger: Ledger) -> None:
        self.begin(ledger)
        assert ledger.query("SELECT session_id, stage FROM research_runs") == [
            {"session_id": "s1", "stage": "knowledge_base"}
        ]
        assert ledger.query("\n select\n\tsession_id\nFROM sessions") == [{"session_id": "s1"}]
        assert ledger.query("WITH\n one AS (SELECT 1 AS n) SELECT n FROM one") == [{"n": 1}]
        both = (
            "SELECT session_id || '?%' AS named FROM sessions WHERE session_id = ? AND session_id LIKE '%1'"
        )
        assert ledger.query(both, ("s1",)) == [{"named": "s1?%"}]
        assert ledger.query(both, ("s2",)) == []
        writes = ("DELETE FROM research_runs", "UPDATE heads SET count = 9", "CREATE TABLE t (x INTEGER)")
        for sql in (
            *writes,
            "DROP TABLE sessions",
            "SELEC 1",
            "",
            " \n",
            "SELECT nothing FROM research_runs",
        ):
            with pytest.raises(UsageError):
                ledger.query(sql)
        self.write(ledger, recorded("c1"))
        assert verify(ledger).ok

    def test_a_query_cannot_leave_a_transaction_open(self, ledger: Ledger) -> None:
        self.begin(ledger)
        for sql in (
            "BEGIN",
            "BEGIN IMMEDIATE",
            "SAVEPOINT x",
            "PRAGMA query_only=OFF",
            "SET TRANSACTION READ WRITE",
        ):
            with pytest.raises(UsageError, match="SELECT"):
                ledger.query(sql)
        self.write(ledger, recorded("c1"))
        with pytest.raises(UsageError):
            ledger.query("SELECT 1; DELETE FROM heads")
        assert verify(ledger).ok

    def test_a_snapshot_stays_as_it_was_while_others_write(self, ledger: Ledger) -> None:
        self.begin(ledger)
        with ledger.snapshot() as frozen, frozen.snapshot() as same:
            assert len(frozen.read("session:s1")) == 2
            self.write(ledger, recorded("c1"))
            assert frozen.head("session:s1").count == len(frozen.read("session:s1")) == 2
            assert frozen.rows("tool_calls", "s1") == same.rows("tool_calls", "s1") == []
            assert frozen.query("SELECT count(*) AS n FROM tool_calls") == [{"n": 0}]
        assert len(ledger.read("session:s1")) == 3

    # -- what the database itself refuses -----------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("table", "column"), [("events", "payload"), ("artifacts", "name"), ("blobs", "bytes")]
    )
    def test_events_artifacts_and_bodies_refuse_update_and_delete(
        self, ledger: Ledger, raw: Callable[[str], None], table: str, column: str
    ) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={content_hash(b"body"): b"body"})
        for sql in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(IntegrityError, match="append-only"):
                raw(sql)
        assert verify(ledger).ok

    def test_a_row_with_a_word_outside_its_vocabulary_is_refused(
        self, ledger: Ledger, raw: Callable[[str], None]
    ) -> None:
        self.begin(ledger)
        for sql in (
            "UPDATE research_runs SET stage = 'dreaming'",
            "UPDATE research_runs SET stage = 'completed'",
            "UPDATE research_runs SET stop_reason = 'tired'",
            "UPDATE research_runs SET round = -1",
            "UPDATE research_runs SET round = 'one'",
            "UPDATE checklist_items SET status = 'done'",
            "UPDATE checklist_items SET status = 'completed'",
            "UPDATE checklist_items SET blocked_reason = 'why'",
            "UPDATE report_sections SET status = 'drafted'",
            "UPDATE sessions SET profile = 'root'",
            "UPDATE sessions SET labels = 'no json'",
            "UPDATE heads SET hash = 'short'",
        ):
            with pytest.raises(IntegrityError):
                raw(sql)
        assert verify(ledger).ok

    def test_a_row_that_names_what_is_not_there_is_refused_at_commit(
        self, ledger: Ledger, raw: Callable[[str], None]
    ) -> None:
        self.begin(ledger)
        for sql in (
            "INSERT INTO artifact_sources VALUES ('s1', 'a_9', 'a_8', 0)",
            "UPDATE report_sections SET status = 'drafted', artifact_id = 'a_9'",
            "UPDATE research_runs SET report_artifact_id = 'a_9'",
            "INSERT INTO searches VALUES ('nobody', 1, 'q', 'p', 0, 0, 't')",
        ):
            with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
                raw(sql)
        assert verify(ledger).ok

    def test_an_append_that_the_database_refuses_leaves_nothing(self, ledger: Ledger) -> None:
        self.begin(ledger)
        wrong = replace(artifact(1), source_artifact_ids=())
        append, _ = self.extension(ledger, [wrong])
        broken = tuple(
            replace(change, new=(*change.new[:2], "poem", *change.new[3:]))
            if change.table == "artifacts" and change.new
            else change
            for change in append.rows
        )
        with pytest.raises(IntegrityError, match="nothing was written"):
            ledger.append(replace(append, rows=broken, bodies={content_hash(b"body"): b"body"}))
        assert len(ledger.read("session:s1")) == 2
        assert ledger.body(content_hash(b"body")) is None
        assert verify(ledger).ok

    # -- calls --------------------------------------------------------------------------------------------------

    def test_a_recorded_call_is_found_by_its_whole_identity(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, recorded("c1", "the answer"))
        row = ledger.call_row(call())
        assert row is not None
        assert (row["name"], row["result"], row["status"]) == ("tool", "the answer", "success")
        assert ledger.call_row(call(turn="t_1")) is None
        assert ledger.call_row(call(session="s2")) is None

    def test_a_look_up_gives_the_end_of_the_stream_and_the_call_at_once(self, ledger: Ledger) -> None:
        assert ledger.look_up(call()) == (Head(), None)
        self.begin(ledger)
        assert ledger.look_up(call()) == (ledger.head("session:s1"), None)
        self.write(ledger, recorded("c1"))
        assert ledger.look_up(call()) == (ledger.head("session:s1"), ledger.call_row(call()))
        assert ledger.look_up(call(call="c2")) == (ledger.head("session:s1"), None)
        assert ledger.look_up(call(session="s2")) == (Head(), None)

    # -- bodies -------------------------------------------------------------------------------------------------

    def test_bodies_come_with_their_events_and_are_stored_once(self, ledger: Ledger) -> None:
        self.begin(ledger)
        raw = bytes(range(256))
        self.write(ledger, artifact(1, raw), bodies={content_hash(raw): raw})
        self.write(ledger, artifact(2, raw), bodies={content_hash(raw): raw})
        assert ledger.body(content_hash(raw)) == raw
        assert list(ledger.body_hashes()) == [content_hash(raw)]

    def test_a_refused_append_leaves_no_body(self, ledger: Ledger) -> None:
        self.begin(ledger)
        late, _ = self.extension(ledger, [recorded("c1")])
        self.write(ledger, recorded("c2"))
        with pytest.raises(HeadMoved):
            ledger.append(replace(late, bodies={content_hash(b"x"): b"x"}))
        assert ledger.body(content_hash(b"x")) is None

    def test_a_body_under_a_hash_that_is_not_its_own_is_never_given_out(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1, b"right"), bodies={content_hash(b"right"): b"wrong"})
        with pytest.raises(IntegrityError, match="hash"):
            ledger.body(content_hash(b"right"))
        assert not verify(ledger).ok

    def test_a_purge_removes_a_body_and_only_with_its_event(self, ledger: Ledger) -> None:
        key = content_hash(b"body")
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={key: b"body"})
        self.write(ledger, recorded("c1"), drops=(key,))
        assert ledger.body(key) == b"body"
        self.write(ledger, purge_of(1, key), drops=(key,))
        assert ledger.body(key) is None
        assert verify(ledger).ok

    def test_a_body_that_no_event_names_is_not_for_a_purge_to_take(self, ledger: Ledger) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={content_hash(b"body"): b"body", content_hash(b"x"): b"x"})
        with pytest.raises(ResearchdeskError):
            self.write(ledger, recorded("c1"), drops=(content_hash(b"x"),))
        assert ledger.body(content_hash(b"x")) == b"x"

    def test_a_body_goes_with_the_last_session_that_stands_on_it(
        self, ledger: Ledger, reopen: Callable[[], Ledger]
    ) -> None:
        key = content_hash(b"body")
        for session in ("s1", "s2"):
            self.begin(ledger, session)
        self.write(ledger, artifact(1), bodies={key: b"body"})
        late, _ = self.extension(ledger, [purge_of(1, key)])
        other = reopen()  # it comes to the same body after the purge was decided and before it is written
        self.write(other, artifact(1), session="s2", bodies={key: b"body"})
        other.close()
        ledger.append(replace(late, drops=(key,)))
        assert ledger.body(key) == b"body"
        assert verify(ledger).problems == ()
        self.write(ledger, purge_of(1, key), session="s2", drops=(key,))
        assert ledger.body(key) is None
        assert verify(ledger).problems == ()

    def test_a_body_that_came_back_stays(self, ledger: Ledger) -> None:
        key = content_hash(b"body")
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={key: b"body"})
        self.write(ledger, purge_of(1, key), drops=(key,))
        self.write(ledger, artifact(2), bodies={key: b"body"})
        self.write(ledger, recorded("c1"), drops=(key,))
        assert ledger.body(key) == b"body"
        assert verify(ledger).problems == ()
        rebuild(ledger, "session:s1")
        assert verify(ledger).problems == ()

    # -- staging ------------------------------------------------------------------------------------------------

    def test_what_was_staged_first_for_an_input_stays(self, ledger: Ledger) -> None:
        one, two = content_hash(b"1"), content_hash(b"2")
        ledger.stage(call(), input_digest="d1", receipt="r1", bodies={one: b"1"})
        ledger.stage(call(), input_digest="d1", receipt="r2", bodies={two: b"2"})
        staged = ledger.staged(call())
        assert staged is not None
        assert (staged.input_digest, staged.receipt, staged.hashes) == ("d1", "r1", (one,))
        assert ledger.staged_body(call(), one) == b"1"
        assert ledger.staged_body(call(), two) is None
        assert ledger.staged(call(call="c2")) is None
        assert ledger.body(one) is None

    def test_another_input_takes_the_place_of_what_was_staged(self, ledger: Ledger) -> None:
        one, two = content_hash(b"1"), content_hash(b"2")
        ledger.stage(call(), input_digest="d1", receipt="r1", bodies={one: b"1"})
        ledger.stage(call(call="c2"), input_digest="d1", receipt="r1", bodies={one: b"1"})
        ledger.stage(call(), input_digest="d2", receipt="r2", bodies={two: b"2"})
        assert ledger.staged(call()) == Staged(input_digest="d2", receipt="r2", hashes=(two,))
        assert ledger.staged_body(call(), two) == b"2"
        assert ledger.staged_body(call(), one) is None
        assert ledger.staged_body(call(call="c2"), one) == b"1"

    def test_no_event_is_written_without_the_bodies_that_it_adopts(self, ledger: Ledger) -> None:
        self.begin(ledger)
        kept, never = content_hash(b"kept"), content_hash(b"never")
        ledger.stage(call(), input_digest="d", receipt="r", bodies={kept: b"kept"})
        with pytest.raises(IntegrityError, match=f"{never}.*nothing was written"):
            self.write(ledger, artifact(1, b"never"), recorded("c1"), settles=call(), adopts=(kept, never))
        assert (len(ledger.read("session:s1")), ledger.body(kept), ledger.call_row(call())) == (2, None, None)
        assert ledger.staged(call()) is not None
        self.write(ledger, artifact(1, b"kept"), recorded("c1"), settles=call(), adopts=(kept,))
        self.write(ledger, artifact(2, b"kept"), recorded("c2"), settles=call(call="c2"), adopts=(kept,))
        assert verify(ledger).ok

    def test_settling_adopts_the_named_bodies_and_sweeps_the_rest(self, ledger: Ledger) -> None:
        self.begin(ledger)
        kept, lost = content_hash(b"kept"), content_hash(b"lost")
        ledger.stage(call(), input_digest="d", receipt="r", bodies={kept: b"kept", lost: b"lost"})
        other = call(call="c9")
        ledger.stage(other, input_digest="d", receipt="r", bodies={kept: b"kept"})
        self.write(ledger, artifact(1, b"kept"), recorded("c1"), settles=call(), adopts=(kept,))
        assert (ledger.body(kept), ledger.body(lost)) == (b"kept", None)
        assert ledger.staged(call()) is None
        assert ledger.staged_body(call(), lost) is None
        assert ledger.staged(other) is not None
        assert verify(ledger).ok

    def test_a_refused_append_leaves_what_was_staged(self, ledger: Ledger) -> None:
        self.begin(ledger)
        late, _ = self.extension(ledger, [recorded("c1")])
        self.write(ledger, recorded("c2"))
        ledger.stage(call(), input_digest="d", receipt="r", bodies={})
        settling = replace(late, settles=call())
        with pytest.raises(HeadMoved):
            ledger.append(settling)
        assert ledger.staged(call()) is not None

    # -- leases -------------------------------------------------------------------------------------------------

    def test_each_lease_begins_a_new_epoch_of_its_session(self, ledger: Ledger) -> None:
        leases = [ledger.take_lease("s1", holder=name) for name in ("one", "two")]
        assert leases == [Lease(session_id="s1", epoch=1), Lease(session_id="s1", epoch=2)]
        assert ledger.take_lease("s2", holder="three").epoch == 1
        assert (ledger.lease_holder("s1"), ledger.lease_holder("s2")) == ("two", "three")

    def test_a_driver_that_was_overtaken_writes_nothing_more(self, ledger: Ledger) -> None:
        self.begin(ledger)
        old = ledger.take_lease("s1", holder="old")
        self.write(ledger, recorded("c1"), lease=old)
        new = ledger.take_lease("s1", holder="new driver")
        with pytest.raises(LeaseLost, match="new driver"):
            self.write(ledger, recorded("c2"), lease=old)
        self.write(ledger, recorded("c2"), lease=new)
        self.write(ledger, recorded("c3"))
        assert len(ledger.read("session:s1")) == 5

    def test_a_lease_that_was_never_taken_is_lost(self, ledger: Ledger) -> None:
        self.begin(ledger)
        with pytest.raises(LeaseLost):
            self.write(ledger, recorded("c1"), lease=Lease(session_id="s1", epoch=1))

    # -- processes ----------------------------------------------------------------------------------------------

    def test_a_forked_child_opens_a_connection_of_its_own(self, ledger: Ledger) -> None:
        self.begin(ledger)
        child = os.fork()
        if child == 0:
            try:
                self.write(ledger, recorded("from_child"))
                ledger.close()
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        self.write(ledger, recorded("from_parent"))
        assert [e.seq for e in ledger.read("session:s1")] == [1, 2, 3, 4]
        assert verify(ledger).ok

    def test_a_closed_ledger_says_that_it_is_closed(self, reopen: Callable[[], Ledger]) -> None:
        ledger = reopen()
        ledger.close()
        with pytest.raises(UsageError, match="closed"):
            ledger.head("session:s1")

    # -- fail closed --------------------------------------------------------------------------------------------

    def test_an_event_of_an_unknown_type_or_shape_is_refused_when_it_is_read(self, ledger: Ledger) -> None:
        from dataclasses import replace

        self.begin(ledger)
        good = ledger.read("session:s1")
        for changed in (
            replace(good[1], type="dreamt"),
            replace(good[1], payload='{"objective": "x"}'),
            replace(good[1], schema_version=2),
        ):
            with pytest.raises(LedgerCorrupt, match="event 2"):
                changed.event()
            with pytest.raises(LedgerCorrupt, match="event 2"):
                replay(Projection(), [good[0], changed])

    def test_it_says_what_it_is(self, ledger: Ledger) -> None:
        assert ledger.describe()
