"""The views say of any history what the folded sessions say of it."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.challenge_coverage import coverage
from researchdesk.state.frontier import ROOT
from researchdesk.state.ids import session_stream
from researchdesk.state.prices import Price
from researchdesk.state.usage import Usage
from researchdesk.state.verification import clusters
from researchdesk.state.workspace import IllegalTransition, Workspace
from researchdesk.tools.workspace import Desk, open_desk

from ...desks import SKY, STEP, Caller
from ...tools.investigate.scripts import (
    BLOG,
    MINIMUM,
    MIRROR,
    NEWER,
    change,
    figure,
    investigator,
    link,
    noted,
    verified,
)
from .histories import PERSON, Play

SEEDS = range(12)


class Chatty(Play):
    """A play whose model also answers after it failed or was lost, and whose sessions are forked again and again."""

    def ended(self, workspace: Any) -> list[ev.Event]:
        made = super().ended(workspace)
        if not isinstance(made[0], ev.ModelAnswered):
            return made
        number = workspace.answered + 1
        turn = f"t_{number}"
        calls = tuple(replace(asked, id=f"call{number}") for asked in made[0].calls)
        answer = replace(made[0], ordinal=number, turn_id=turn, message_id=f"m{number}", calls=calls)
        own = {"turn_id": turn, "tool_call_id": f"call{number}", "duration_ms": 10 + number}
        records = [replace(one, **own) for one in made[1:]]
        return [answer, *records]

    def talk(self, times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(IllegalTransition):
                self.step_of_chat()

    def forks(self) -> None:
        """Forks of all kinds of sessions, forks of forks too, that go on by themselves or not at all."""
        for kind in ("run", "inquiry", "desk", "chat"):
            known = self.desk.ledger.head(session_stream(f"{self.name}-{kind}")).count
            if known:
                self.desk.fork(
                    f"{self.name}-{kind}", self.dice.randint(1, known), new_id=f"{self.name}-{kind}-fork"
                )
        self.talk(30)
        for number in range(3):
            fork = self.desk.fork(
                self.chat.id,
                self.dice.randint(2, self.chat.workspace.seq),
                new_id=f"{self.name}-chat-{number}",
            )
            self.talk(10)  # the one that was forked goes on too
            self.chat = fork
            self.talk(self.dice.choice([0, 30]))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk at which several histories were played; for reading only."""
    with open_desk(tmp_path_factory.mktemp("plays")) as opened:
        for seed in SEEDS:
            play = Chatty(opened, seed)
            for _ in range(60):
                play.step()
            play.forks()
        written = opened.files.put("waits.md", "one\n", actor=PERSON)
        play.model("desk_delete_file", file=written.path, base_version=written.content_hash)
        assert opened.sync_mirror().ok
        yield opened


def rows(desk: Desk, sql: str) -> list[tuple[Any, ...]]:
    return desk.sql(sql, sync=False).fetchall()


def named(desk: Desk, sql: str) -> list[dict[str, Any]]:
    found = desk.sql(sql, sync=False)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def sessions(desk: Desk) -> Iterator[tuple[str, Workspace]]:
    for (name,) in rows(desk, "SELECT session_id FROM sessions"):
        yield name, desk.existing(name).workspace


def inquiries(desk: Desk) -> Iterator[tuple[str, Workspace]]:
    found = [(name, now) for name, now in sessions(desk) if now.investigation is not None]
    assert len(found) >= len(SEEDS)
    yield from found


# -- what was said, asked and found -----------------------------------------------------------------------------------


def test_the_log_is_the_ledgers_own_view(desk: Desk) -> None:
    order = "ORDER BY session_id, message_seq, tool_seq NULLS FIRST"
    names = "session_id, message_id, role, content, tool_call_id, status, proposal_status, approved_by, duration_ms"
    theirs = desk.ledger.query(f"SELECT {names} FROM io_log {order}")
    assert rows(desk, f"SELECT {names} FROM io_log {order}") == [tuple(row.values()) for row in theirs]
    assert {row["proposal_status"] for row in theirs} >= {"pending", "executed", "rejected"}


def test_a_question_is_in_one_status_at_a_time_from_its_first_step_on(desk: Desk) -> None:
    timeline = named(desk, "FROM question_timeline ORDER BY session_id, question_id, seq")
    for before, after in pairwise(timeline):
        same = (before["session_id"], before["question_id"]) == (after["session_id"], after["question_id"])
        if same:
            assert (after["seq"], after["from_status"]) == (before["seq"] + 1, before["to_status"])
            assert before["until"] == after["since"]
            assert before["seconds"] == (before["until"] - before["since"]).total_seconds()
        else:
            assert after["trigger"] == "created"
            is_open = before["to_status"] in ("pending", "in_progress", "blocked")
            assert (before["until"], before["seconds"] is not None) == (None, is_open)
    for name, now in inquiries(desk):
        assert now.investigation is not None
        last = {row["question_id"]: row["to_status"] for row in timeline if row["session_id"] == name}
        assert last == {question.id: question.status for question in now.investigation.frontier}
    times = rows(
        desk, "SELECT session_id, question_id, sum(times), sum(seconds) FROM question_times GROUP BY ALL"
    )
    for session, question, count, seconds in times:
        own = [row for row in timeline if (row["session_id"], row["question_id"]) == (session, question)]
        assert count == sum(row["from_status"] != row["to_status"] for row in own)
        assert seconds == pytest.approx(sum(row["seconds"] or 0 for row in own))


def test_support_names_the_clusters_that_verification_counts(desk: Desk) -> None:
    found = named(desk, "FROM claim_support")
    counted = 0
    for name, now in inquiries(desk):
        assert now.investigation is not None
        notes = now.investigation.notes
        for claim in notes.all_claims:
            own = sorted(
                (row for row in found if (row["session_id"], row["claim_id"]) == (name, claim.id)),
                key=lambda row: row["position"],
            )
            said = [
                (row["source_id"], row["stance"], row["quote"], row["domain"], row["origin"]) for row in own
            ]
            sources = [notes.sources[made.source_id] for made in claim.links]
            assert said == [
                (made.source_id, made.stance, made.quote, source.domain, source.origin)
                for made, source in zip(claim.links, sources, strict=True)
            ]
            groups = clusters(claim, notes.sources)
            expected = {key: group.source_ids[0] for group in groups for key in group.source_ids}
            assert {row["source_id"]: row["cluster"] for row in own if row["counts"]} == expected
            assert {row["independent_sources"] for row in own} <= {len(groups)}
            counted += len(groups) > 1
    assert counted, "some claims stand on several independent sources"


def test_a_copy_of_a_source_is_in_its_cluster(tmp_path: Path) -> None:
    with open_desk(tmp_path) as own:
        caller = investigator(own)
        noted(caller)
        caller.ok("archive_source", locator=MIRROR)
        caller.ok("notes_update", id="c_001", change=change(add_links=[link("s_003", MINIMUM)]))
        assert own.sync_mirror().ok
        columns = "source_id, cluster, independent_sources"
        found = rows(own, f"SELECT {columns} FROM claim_support ORDER BY source_id")
        assert found == [("s_001", "s_001", 2), ("s_002", "s_002", 2), ("s_003", "s_001", 2)]
        why = rows(own, "SELECT reasons->>0 FROM claim_clusters WHERE source_id = 's_003'")
        assert why == [("s_001 and s_003 have nearly the same text",)]


def test_challenges_are_counted_by_strategy_and_what_failed_is_told_apart(desk: Desk) -> None:
    found = {(row["session_id"], row["strategy"]): row for row in named(desk, "FROM challenge_outcomes")}
    failed = 0
    for name, now in inquiries(desk):
        assert now.investigation is not None
        made = list(now.investigation.challenges)
        for strategy in {challenge.strategy for challenge in made}:
            own = [challenge for challenge in made if challenge.strategy == strategy]
            row = found.pop((name, strategy))
            outcomes = Counter(challenge.outcome for challenge in own if challenge.ran)
            assert {key: row[key] for key in ("survived", "weakened", "refuted", "inconclusive")} == {
                key: outcomes[key] for key in ("survived", "weakened", "refuted", "inconclusive")
            }
            assert (row["challenges"], row["open"]) == (len(own), sum(one.status == "open" for one in own))
            assert row["failed"] == sum(challenge.failed for challenge in own)
            ran = sum(challenge.ran for challenge in own)
            assert row["survived_share"] == (outcomes["survived"] / ran if ran else None)
            failed += row["failed"]
    assert found == {} and failed


def test_coverage_stands_beside_the_rate_by_question_and_by_run(desk: Desk) -> None:
    by_question = named(desk, "FROM verification_by_question")
    by_run = {row["session_id"]: row for row in named(desk, "FROM verification_by_run")}
    for name, now in inquiries(desk):
        assert now.investigation is not None
        notes = now.investigation.notes
        whole = coverage(now.investigation.challenges, notes)
        own = {row["question_id"]: row for row in by_question if row["session_id"] == name}
        assert {key: (row["challenged"], row["claims"]) for key, row in own.items() if row["claims"]} == {
            key: (challenged, total) for key, challenged, total in whole.by_question
        }
        for key, row in own.items():
            statuses = Counter(c.status for c in notes.all_claims if (c.question_id or ROOT) == key)
            assert (row["verified"], row["refuted"], row["retracted"]) == (
                *(statuses["VERIFIED"], statuses["REFUTED"], statuses["RETRACTED"]),
            )
            assert row["rate"] == (row["verified"] / row["claims"] if row["claims"] else None)
        run = by_run.pop(name)
        assert (run["challenged"], run["claims"]) == (whole.challenged, whole.total)
        assert run["coverage"] == (whole.challenged / whole.total if whole.total else None)
    assert {row["claims"] for row in by_run.values()} == {0} and by_run, "runs without claims are there too"


def test_concentration_shares_out_all_sources_and_links_of_a_run(desk: Desk) -> None:
    found = named(desk, "FROM source_concentration")
    for name, now in sessions(desk):
        own = [row for row in found if row["session_id"] == name]
        sources = list(now.run.all_sources) if now.run else []
        assert {row["origin"]: row["sources"] for row in own} == Counter(one.origin for one in sources)
        if sources:
            assert sum(row["share_of_sources"] for row in own) == pytest.approx(1)
        if now.investigation is not None:
            claims = list(now.investigation.notes.all_claims)
            origins = {one.source_id: one.origin for one in sources}
            links = [(claim.id, origins[made.source_id]) for claim in claims for made in claim.links]
            assert {row["origin"]: (row["links"], row["claims"]) for row in own} == {
                origin: (sum(o == origin for _, o in links), len({c for c, o in links if o == origin}))
                for origin in set(origins.values())
            }
            assert not links or sum(row["share_of_links"] for row in own) == pytest.approx(1)


def test_dead_ends_are_what_ran_and_led_nowhere(desk: Desk) -> None:
    found = {(row["session_id"], row["kind"], row["id"]) for row in named(desk, "FROM dead_ends")}
    expected: set[tuple[str, str, str]] = set()
    for name, now in inquiries(desk):
        assert now.investigation is not None
        frontier, notes = now.investigation.frontier, now.investigation.notes
        tried = (made for question in frontier for made in frontier.tried(question.id))
        expected |= {(name, a.kind, a.id) for a in tried if a.results == 0 and a.cause == "evidence"}
        expected |= {(name, "question", q.id) for q in frontier if q.status in ("unresolvable", "pruned")}
        expected |= {(name, "claim", c.id) for c in notes.all_claims if c.status in ("REFUTED", "RETRACTED")}
    assert found == expected
    assert {kind for _, kind, _ in found} >= {"question", "claim"}
    assert rows(desk, "SELECT count(*) FROM dead_ends WHERE why IS NULL OR why = ''") == [(0,)]


def test_what_nobody_cites_and_what_nobody_archived_is_found(tmp_path: Path) -> None:
    with open_desk(tmp_path) as own:
        caller = investigator(own)
        verified(caller)
        caller.ok("search_sources", query=NEWER)
        caller.ok("archive_source", locator=BLOG)  # of no use
        told = figure(link("s_001", MINIMUM, repeats="The Handbook"), value="8")
        caller.ok("notes_append", section="Unverified", entries=[told])
        told = figure(link("s_001", MINIMUM, repeats="s_002"), value="8")
        caller.ok(
            "notes_append", section="Unverified", entries=[{**told, "text": "It repeats what is here."}]
        )
        looked_at = [{"kind": "url", "locator": "https://seen.org/", "label": "", "source_artifact_id": ""}]
        caller.ok("deep_research_record_step", **{**STEP, "inspected_refs": looked_at})
        plain = Caller(own.session("plain"))
        plain.start()
        plain.source(SKY)
        assert own.sync_mirror().ok
        found = named(own, "SELECT * EXCLUDE title FROM orphans ORDER BY session_id, kind, locator")
        assert [tuple(row.values()) for row in found] == [
            ("plain", "never_cited", "s_001", "https://sky.org/blue", ""),
            ("s1", "never_archived", "", "The Handbook", "c_002"),
            ("s1", "never_archived", "", "https://seen.org/", "step 1"),
            ("s1", "never_cited", "s_003", BLOG, ""),
        ]


# -- what it took ---------------------------------------------------------------------------------------------------


def usage(row: dict[str, Any], calls: str) -> Usage:
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    return Usage(calls=row[calls], cost=row["cost_usd"], **{name: row[name] for name in names})


def test_usage_is_what_each_session_spent_itself_by_stage_by_model_and_by_tool(desk: Desk) -> None:
    spent: dict[str, dict[str, dict[str, Usage]]] = {}
    for view, key in (("usage_by_stage", "stage"), ("usage_by_model", "model"), ("usage_by_tool", "tool")):
        for row in named(desk, f"FROM {view}"):
            of_view = spent.setdefault(row["session_id"], {}).setdefault(view, {})
            of_view[row[key]] = usage(row, "calls" if key == "tool" else "requests")
    known: list[Decimal | None] = []
    for name, _ in sessions(desk):
        spending = desk.existing(name).own_spending
        own = spent.pop(name, {})
        assert own.get("usage_by_stage", {}) == spending.by_stage()
        assert own.get("usage_by_model", {}) == spending.by_model()
        by_tool = own.get("usage_by_tool", {})
        assert set(by_tool) == set(spending.by_tool)
        for tool, used in spending.by_tool.items():
            assert told_of(by_tool[tool]) == told_of(used)
        known.append(spending.total.cost)
    assert spent == {}
    assert None in known and any(cost for cost in known), "some prices are known, some are not"


def test_calls_took_what_they_took_by_stage_and_by_tool_where_they_were_made(desk: Desk) -> None:
    copied = {name: now.session.forked_seq for name, now in sessions(desk) if now.session}
    made = desk.ledger.query("SELECT session_id, turn_id, seq, name, duration_ms FROM tool_calls")
    took: Counter[tuple[str, str]] = Counter()
    for call in made:
        session = str(call["session_id"])
        if call["turn_id"] and int(str(call["seq"])) > copied[session]:
            took[session, str(call["name"])] += int(str(call["duration_ms"]))
    found = named(desk, "FROM usage_by_tool")
    assert {
        (row["session_id"], row["tool"]): round(1000 * row["tool_seconds"])
        for row in found
        if row["tool_seconds"]
    } == {key: milliseconds for key, milliseconds in took.items() if milliseconds}
    by_stage = rows(desk, "SELECT session_id, sum(tool_seconds) FROM usage_by_stage GROUP BY ALL")
    for session, seconds in by_stage:
        own = sum(milliseconds for (name, _), milliseconds in took.items() if name == session)
        assert round(1000 * seconds) == own
    assert any(took.values()), "some calls took time"


def test_each_request_is_one_row_and_stands_beside_its_own_answer_or_failure(desk: Desk) -> None:
    found = rows(desk, "SELECT session_id, ordinal, status, turn_id FROM model_requests ORDER BY ALL")
    theirs = desk.ledger.query("SELECT session_id, ordinal, status, turn_id FROM model_calls ORDER BY 1, 2")
    assert [(*row[:3], row[3] or "") for row in found] == [tuple(row.values()) for row in theirs]
    assert {status for _, _, status, _ in found} == {"asked", "answered", "failed"}


def test_what_a_fork_copied_is_counted_in_the_session_that_it_was_forked_from(desk: Desk) -> None:
    forks = {row["session_id"]: row for row in named(desk, "FROM forks")}
    of_forks = 0
    for name, now in sessions(desk):
        assert now.session is not None
        copied = now.session.forked_seq
        told = forks.pop(name, {"forked_from": "", "forked_seq": 0})
        assert (told["forked_from"], told["forked_seq"]) == (now.session.forked_from, copied)
        asked = [item.seq <= copied for item in desk.existing(name).events() if item.type == "model_called"]
        marks = f"SELECT inherited FROM model_requests WHERE session_id = '{name}' ORDER BY ordinal"
        assert [mark for (mark,) in rows(desk, marks)] == asked
        of_forks += bool(copied) and len(set(asked)) == 2
    assert forks == {} and of_forks, "some forks copied requests and made others"


def told_of(used: Usage) -> dict[str, Any]:
    """With shares of a dollar rounded to billionths."""
    plain = (used.calls, used.input_tokens, used.output_tokens, used.cached_tokens, used.reasoning_tokens)
    return {"plain": plain, "cost": None if used.cost is None else round(used.cost, 9)}


def test_dollars_are_exact_for_the_finest_price_that_a_list_may_have(tmp_path: Path) -> None:
    fine = Price(
        input="0.000000000000001",
        output="999999.123456789012345",
        cached_input="1E-7",
        cache_write="0.333333333333333",
    )
    calls = tuple(
        ev.AskedCall(id=f"c{n}", name=f"tool{n}", arguments=ev.Stowed(inline="{}"), chars=n)
        for n in (1, 3, 7)
    )
    with open_desk(tmp_path) as own:
        chat = own.session("chat", labels=())
        chat.record(
            [
                ev.RunConfigured(model="some:model", price=fine),
                ev.ModelCalled(ordinal=1, model="some:model", stage="chat", request_digest="d", input_tokens=9),
                ev.ModelAnswered(
                    ordinal=1, turn_id="t_1", message_id="m1", text=ev.Stowed(inline=""), calls=calls,
                    request_digest="d", input_tokens=1_234_567, output_tokens=7, usage_reported=True,
                    cached_tokens=1_001, written_tokens=13,
                ),
            ]
        )  # fmt: skip
        spent = chat.workspace.cost
        assert spent is not None and spent.as_tuple().exponent == -21
        for view in ("model_requests", "usage_by_model", "usage_by_tool"):
            assert own.sql(f"SELECT sum(cost_usd) FROM {view}").fetchall() == [(spent,)]
        shares = rows(own, "SELECT tool, round(cost_usd, 9) FROM usage_by_tool ORDER BY tool")
        told = chat.workspace.spending_so_far.by_tool
        assert dict(shares) == {
            tool: round(used.cost, 9) for tool, used in told.items() if used.cost is not None
        }


def test_tools_that_fail_are_told_with_their_commonest_code(desk: Desk) -> None:
    found = {row["tool"]: row for row in named(desk, "FROM tool_health")}
    copied = {name: now.session.forked_seq for name, now in sessions(desk) if now.session}
    made = desk.ledger.query("SELECT session_id, seq, name, status, code, duration_ms FROM tool_calls")
    calls = [call for call in made if int(str(call["seq"])) > copied[str(call["session_id"])]]
    assert 0 < len(calls) < len(made)
    assert set(found) == {str(call["name"]) for call in calls}
    for name, row in found.items():
        own = [call for call in calls if call["name"] == name]
        codes = Counter(str(call["code"]) for call in own if call["code"])
        assert (row["calls"], row["errors"]) == (len(own), sum(call["status"] == "error" for call in own))
        assert row["error_share"] == row["errors"] / row["calls"]
        assert row["commonest_code"] == min(codes, key=lambda code: (-codes[code], code), default=None)
        assert row["max_ms"] == max(call["duration_ms"] for call in own)  # type: ignore[type-var]
        assert row["median_ms"] <= row["p95_ms"] <= row["max_ms"]
    assert any(row["errors"] for row in found.values())


def test_of_codes_that_came_as_often_one_is_told_however_the_mirror_was_made(tmp_path: Path) -> None:
    with open_desk(tmp_path) as own:
        told = []
        for name, wrong in (("b", {"file": "no.md"}), ("a", {"file": "no.md", "why": "so"})):
            Caller(own.session(name, labels=(), profile="desk"))("desk_delete_file", **wrong)
            told += own.sql("SELECT commonest_code FROM tool_health").fetchall()
        assert own.sync_mirror(rebuild=True).ok
        told += own.sql("SELECT commonest_code FROM tool_health").fetchall()
        assert told == [("not_found",), ("invalid_arguments",), ("invalid_arguments",)]


def test_approvals_are_the_proposals_with_how_long_they_waited(desk: Desk) -> None:
    found = {row["proposal_id"]: row for row in named(desk, "FROM approvals")}
    made = {proposal.id: proposal for proposal in desk.proposals()}
    assert set(found) == set(made)
    for key, row in found.items():
        one = made[key]
        assert (row["status"], row["path"], row["decided_by"]) == (one.status, one.path, one.decided_by)
        assert row["decided_by_kind"] == one.decided_by.partition(":")[0]
        waited = row["decided_at"] - row["created_at"] if one.decided_at else None
        assert row["seconds"] == (waited.total_seconds() if waited is not None else None)
    assert {row["status"] for row in found.values()} >= {"pending", "executed", "rejected"}


def test_a_run_is_one_line_and_models_are_compared_by_their_runs(desk: Desk) -> None:
    found = {row["session_id"]: row for row in named(desk, "FROM runs")}
    assert set(found) == {name for name, now in sessions(desk) if now.run}
    for name, row in found.items():
        session = desk.existing(name)
        now, spent = session.workspace, session.own_spending.total
        assert now.run is not None and now.session is not None
        assert (row["objective"], row["status"], row["stop_reason"]) == (
            *(now.run.objective, now.run.status, now.run.stop_reason),
        )
        assert (row["sources"], row["events"]) == (len(now.run.sources), now.seq)
        assert (row["requests"], row["tokens"], row["cost_usd"]) == (spent.calls, spent.tokens, spent.cost)
        assert (row["forked_from"] or "", row["forked_seq"] or 0) == (
            *(now.session.forked_from, now.session.forked_seq),
        )
        own = [datetime.fromisoformat(item.ts) for item in session.events(after=now.session.forked_seq)]
        assert (row["began_at"], row["ended_at"]) == (min(own, default=None), max(own, default=None))
        assert row["seconds"] == ((row["ended_at"] - row["began_at"]).total_seconds() if own else None)
    runs = [row for row in found.values() if row["forked_from"] is None]
    assert len(SEEDS) <= len(runs) < len(found)
    compared = named(desk, "FROM model_comparison")
    assert sum(row["runs"] for row in compared) == len(runs)
    assert sum(row["completed"] for row in compared) == sum(row["status"] == "completed" for row in runs)
