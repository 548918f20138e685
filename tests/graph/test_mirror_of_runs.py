"""Every view of the mirror answers its question of a real run, and what it says is what the run's report says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.stores.mirror.schema import VIEWS
from researchdesk.tools.workspace import Desk

from ..tools.desk.conftest import Model
from .cli.test_cli import call
from .scripted_model import QUESTION, ScriptedModel, researcher, sky

ASKED = "How long do passwords have to be, and how often do they have to change?"


@pytest.fixture(scope="module")
def desk(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A run of the embedded model on real guidance and a fork, one of a paid model, an agent at the desk's files."""
    corpus = data_dir / "auth-guidance"
    if not corpus.is_dir():
        pytest.skip("RESEARCHDESK_TEST_DATA has no auth-guidance")
    with rd.open_desk(tmp_path_factory.mktemp("runs")) as opened:
        rd.run_research(opened, ASKED, corpus=[corpus], scope="quick", session_id="real", template="general")
        price = rd.Price(input="2", output="10")
        paid = ScriptedModel(script=researcher)
        rd.run_research(
            opened, QUESTION, model=paid, sources=sky(), scope="quick", session_id="paid", prices=price
        )
        opened.fork("real", 40, new_id="otherwise")
        model = Model(opened, "agent")
        version = model.create("plan.md", "# Plan\n\nFirst.\n")
        change = {"file": "plan.md", "base_version": version, "mode": "replace", "content": "# Plan\n"}
        model.approve(model.propose("desk_update_file", **change))
        model.reject(
            model.propose("desk_delete_file", file="plan.md", base_version=model.version("plan.md")), "No."
        )
        assert opened.sync_mirror().ok
        assert opened.mirror.differences(opened.ledger) == []
        yield opened


def rows(desk: Desk, sql: str) -> list[dict[str, Any]]:
    found = desk.sql(sql, sync=False)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in ("orphans", "dead_ends")])
def test_every_view_has_rows_of_real_runs(desk: Desk, view: str) -> None:
    assert rows(desk, f"FROM {view}")


def test_what_the_views_count_is_what_the_reports_say(desk: Desk) -> None:
    for name in ("real", "paid"):
        session = desk.existing(name)
        told = json.loads(call("report", name, "--format", "json", "--home", desk.home).stdout)
        (run,) = rows(desk, f"FROM runs WHERE session_id = '{name}'")
        assert (run["objective"], run["status"]) == (told["objective"], "completed")
        assert (run["claims"], run["verified"]) == (told["coverage"]["total"], told["coverage"]["verified"])
        (checked,) = rows(desk, f"FROM verification_by_run WHERE session_id = '{name}'")
        assert (checked["challenged"], checked["claims"]) == (
            *(told["coverage"]["challenged"], told["coverage"]["total"]),
        )
        assert run["sources"] == len(session.run.sources) if session.run else 0
        assert run["requests"] == session.workspace.spent.calls
        assert float(run["cost_usd"]) == told["usage"]["cost_usd"]
        for view, part in (("usage_by_stage", "stage"), ("usage_by_model", "model")):
            said = {row[part]: row for row in rows(desk, f"FROM {view} WHERE session_id = '{name}'")}
            assert {
                key: (row["requests"], row["input_tokens"], float(row["cost_usd"]))
                for key, row in said.items()
            } == {
                key: (used["calls"], used["input"], used["cost_usd"])
                for key, used in told["usage"][f"by_{part}"].items()
            }
            assert all(row["model_seconds"] > 0 for row in said.values())


def test_the_two_publishers_of_the_guidance_share_what_the_run_stands_on(desk: Desk) -> None:
    found = rows(desk, "FROM source_concentration WHERE session_id = 'real' ORDER BY share_of_links DESC")
    assert {row["origin"] for row in found} == {"nist.gov", "owasp.org"}
    assert sum(row["share_of_links"] for row in found) == pytest.approx(1)
    support = rows(desk, "FROM claim_support WHERE session_id = 'real'")
    assert {row["stance"] for row in support} >= {"supports"}
    for row in support:
        assert row["quote"] in desk.records.text(
            desk.existing("real").run.artifacts[_artifact(desk, row["source_id"])].content_hash  # type: ignore[union-attr]
        )


def _artifact(desk: Desk, source_id: str) -> str:
    run = desk.existing("real").run
    assert run is not None
    return run.sources[source_id].artifact_id


def test_models_and_people_stand_side_by_side(desk: Desk) -> None:
    compared = {row["model"]: row for row in rows(desk, "FROM model_comparison")}
    assert set(compared) == {"offline", "scripted"}
    assert compared["offline"]["mean_cost_usd"] == 0 < compared["scripted"]["mean_cost_usd"]
    decided = rows(desk, "SELECT status, decided_by_kind, reason FROM approvals ORDER BY created_at")
    assert [tuple(row.values()) for row in decided] == [
        ("executed", "human", ""),
        ("rejected", "human", "No."),
    ]
    slowest = rows(desk, "FROM tool_health ORDER BY p95_ms DESC")
    assert slowest[0]["p95_ms"] >= slowest[-1]["p95_ms"]
    assert {"search_sources", "archive_source"} <= {row["tool"] for row in slowest}
