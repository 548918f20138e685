"""Changes that wait for a person: what is proposed, what comes of the decision, and what the model is told."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from researchdesk.state.desk.policies import Policies
from researchdesk.state.errors import Refusal, UsageError
from researchdesk.tools.workspace import Desk

from .conftest import ANN, BOB, Clock, Model

TEXT = "# Plan\n\nfirst\nsecond\n"
SHEET = "Name,Score,Note\nAda,3,good\nBob,5,\n"


def update(version: str, /, mode: str, file: str = "plan.md", **more: Any) -> dict[str, Any]:
    return {"file": file, "base_version": version, "mode": mode, **more}


def call_row(desk: Desk, call: str) -> dict[str, Any]:
    (row,) = desk.ledger.query(f"SELECT status, code, result FROM tool_calls WHERE id = '{call}'")
    return row


def test_a_change_is_only_proposed(desk: Desk, model: Model) -> None:
    """Check 2: content and revision stay, one pending proposal with its diff, the call is pending."""
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    (proposal,) = desk.proposals()
    assert waiting.text.startswith(
        f'requires_approval Waiting for approval: proposal {proposal.id} to change "plan.md". '
        "Do not repeat this call; it has not run."
    )
    assert waiting.effects == ()
    assert desk.files.read("plan.md") == TEXT and desk.files.get("plan.md").rev == 1
    assert (proposal.status, proposal.hash) == ("pending", waiting.data["proposal_hash"])
    assert proposal.diff == "--- plan.md\n+++ plan.md\n@@ -2,3 +2,4 @@\n \n first\n second\n+third\n"
    assert (proposal.base_hash, proposal.expires_at[:10]) == (version, "2026-05-08")
    assert call_row(desk, "c2") == {"status": "pending", "code": "", "result": waiting.text}
    assert desk.preview(proposal.id).diff == proposal.diff


@pytest.mark.parametrize("narrow", [False, True], ids=["desk_update_file", "narrower name"])
@pytest.mark.parametrize(
    ("mode", "more", "after"),
    [
        ("replace", {"content": "new"}, "new"),
        ("append", {"content": "third"}, f"{TEXT}third"),
        ("replace_text", {"find": "first", "content": "1st"}, TEXT.replace("first", "1st")),
    ],
)
def test_an_approved_change_of_a_document_is_made(
    desk: Desk, model: Model, mode: str, more: Mapping[str, Any], after: str, narrow: bool
) -> None:
    version = model.create("plan.md", TEXT)
    tool = "desk_update_markdown" if narrow else "desk_update_file"
    decided = model.approve(waiting := model.propose(tool, **update(version, mode, **more)))
    assert decided.status == "executed"
    assert desk.files.read("plan.md") == after and desk.files.get("plan.md").rev == 2
    (kept,) = desk.files.revisions("plan.md")
    assert (kept.content_hash, desk.files.read("plan.md", version=kept.content_hash)) == (version, TEXT)
    outcome = model.again(2, tool, **update(version, mode, **more))
    assert (outcome.status, outcome.text, outcome.replayed) == ("success", decided.text, True)
    assert outcome.data["hash"] == waiting.data["after_version"] == model.version("plan.md")
    assert [effect.action for effect in outcome.effects] == ["updateContent", "notify"]
    assert call_row(desk, "c2") == {"status": "success", "code": "", "result": decided.text}


def test_a_file_moves_once_it_is_approved_and_keeps_its_id(desk: Desk, model: Model) -> None:
    version = model.create("plan.md", TEXT)
    file_id = desk.files.get("plan.md").id
    waiting = model.propose("desk_rename_file", file=file_id, base_version=version, new_path="old/plan.md")
    assert desk.proposals()[0].diff == "plan.md -> old/plan.md\n"
    model.approve(waiting)
    assert [(file.id, file.path) for file in desk.files.listed()] == [(file_id, "old/plan.md")]
    other = model.create("b.md", "b")
    waiting = model.propose("desk_update_file", **update(other, "rename", file="b.md", new_path="c.md"))
    model.approve(waiting)
    assert [file.path for file in desk.files.listed()] == ["c.md", "old/plan.md"]


def test_a_change_made_by_a_person_meanwhile_is_not_overwritten(desk: Desk, model: Model) -> None:
    """Check 6: the approval finds the proposal stale, the person's text stays and nobody has approved."""
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "replace", content="mine"))
    saved = desk.files.save("plan.md", "the person's", actor=BOB, if_match=version)
    decided = model.approve(waiting)
    assert decided.status == "stale"
    assert version[7:15] in decided.proposal.reason and saved.content_hash[7:15] in decided.proposal.reason
    assert desk.files.read("plan.md") == "the person's"
    rows = desk.ledger.query("SELECT status, approved_by, approved_at, decided_by FROM proposals")
    assert rows == [{"status": "stale", "approved_by": None, "approved_at": None, "decided_by": ANN}]
    told = model.again(2, "desk_update_file", **update(version, "replace", content="mine"))
    assert (told.status, told.data["code"]) == ("error", "stale")
    assert (
        told.text == f'Proposal {decided.proposal.id} was not run: "plan.md" changed after it was proposed.'
    )


@pytest.mark.parametrize("tool", ["desk_update_file", "desk_update_cells"])
def test_cells_are_set_although_others_changed_meanwhile(desk: Desk, model: Model, tool: str) -> None:
    """Check 7: a person edits C2, B2 is set all the same, and both values are there."""
    version = model.create("s.csv", SHEET)
    mode = {"mode": "set_cells"} if tool == "desk_update_file" else {}
    arguments = {"file": "s.csv", "base_version": version, "cells": [{"ref": "B2", "value": "4"}], **mode}
    waiting = model.propose(tool, **arguments)
    assert (desk.proposals()[0].guard, desk.proposals()[0].diff) == ("cells", 'B2: "3" -> "4"\n')
    desk.files.save("s.csv", SHEET.replace("good", "great"), actor=BOB, if_match=version)
    assert model.approve(waiting).status == "executed"
    assert desk.files.read("s.csv") == "Name,Score,Note\nAda,4,great\nBob,5,\n"
    (effect, _) = model.again(2, tool, **arguments).effects
    assert (effect.channel, effect.payload.refs) == ("sheet:cells", ("B2",))


def test_a_cell_that_a_person_changed_itself_makes_the_proposal_stale(desk: Desk, model: Model) -> None:
    version = model.create("s.csv", SHEET)
    arguments = update(version, "set_cells", file="s.csv", cells=[{"ref": "B2", "value": "4"}])
    waiting = model.propose("desk_update_file", **arguments)
    desk.files.save("s.csv", SHEET.replace("3", "9"), actor=BOB, if_match=version)
    assert model.approve(waiting).status == "stale"
    assert desk.files.read("s.csv") == SHEET.replace("3", "9")


def two_of_one_turn(model: Model) -> tuple[Any, Any]:
    """Two changes that were both made from what was read before either."""
    version = model.create("plan.md", TEXT)
    first = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    second = model.propose("desk_update_file", **update(version, "append", content="fourth\n"))
    return first, second


def test_two_changes_of_one_turn_build_on_each_other(desk: Desk, model: Model) -> None:
    """Check 8, in order: both run."""
    first, second = two_of_one_turn(model)
    assert second.data["depends_on"] == first.data["proposal_id"]
    assert second.data["base_version"] == first.data["after_version"]
    assert [model.approve(one).status for one in (first, second)] == ["executed", "executed"]
    assert desk.files.read("plan.md") == f"{TEXT}third\nfourth\n"


def test_the_second_cannot_be_decided_before_the_first(desk: Desk, model: Model) -> None:
    """Check 8, second first: nothing is written."""
    first, second = two_of_one_turn(model)
    before = desk.proposals()
    with pytest.raises(Refusal) as refused:
        model.approve(second)
    assert refused.value.code == "dependency_pending"
    assert refused.value.text == f"Decide proposal {first.data['proposal_id']} first; this one builds on it."
    assert desk.proposals() == before


def test_the_second_goes_stale_with_the_first(desk: Desk, model: Model) -> None:
    """Check 8, the first rejected: the second can never run, and the model is told why."""
    first, second = two_of_one_turn(model)
    model.reject(first, "not this")
    assert [made.status for made in desk.proposals()] == ["rejected", "stale"]
    told = model.again(
        3, "desk_update_file", **update(first.data["base_version"], "append", content="fourth\n")
    )
    assert told.text == (
        f"Proposal {second.data['proposal_id']} was not run: it builds on {first.data['proposal_id']}, "
        "which will not run."
    )
    assert desk.files.read("plan.md") == TEXT


def test_a_chain_follows_a_file_that_will_have_moved(desk: Desk, model: Model) -> None:
    version = model.create("plan.md", TEXT)
    chain = [
        model.propose("desk_update_file", **update(version, "rename", new_path="b.md")),
        model.propose("desk_update_file", **update(version, "replace_text", find="first", content="1st")),
    ]
    predicted = chain[-1].data["after_version"]
    chain.append(model.propose("desk_update_file", **update(predicted[7:19], "append", content="end")))
    chain.append(model.propose("desk_delete_file", file="plan.md", base_version=version))
    assert [made.path for made in desk.proposals()] == ["plan.md", "b.md", "b.md", "b.md"]
    late = model("desk_update_file", **update(version, "append", content="x"))
    assert (late.data["code"], late.text) == (
        "dependency_pending",
        f'Proposal {chain[-1].data["proposal_id"]} to delete "b.md" waits for a decision; nothing can follow it.',
    )
    assert [model.approve(one).status for one in chain] == ["executed"] * 4
    assert desk.files.listed() == []
    assert [kept.op for kept in desk.files.revisions(chain[0].data["file_id"])] == [
        "delete",
        "update",
        "update",
        "rename",
    ]


def test_a_proposal_that_is_too_old_is_not_run(desk: Desk, model: Model, clock: Clock) -> None:
    """Check 9: expired, and the file is unchanged."""
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "replace", content="late"))
    clock.forward(days=7, seconds=1)
    decided = model.approve(waiting)
    assert (decided.status, decided.data["code"]) == ("expired", "expired")
    assert decided.text == f"Proposal {decided.proposal.id} expired on 2026-05-08 and was not run."
    assert desk.files.read("plan.md") == TEXT
    with pytest.raises(Refusal, match=r"was already expired by human:ann"):
        model.approve(waiting, actor=BOB)


def test_an_approved_change_that_cannot_be_made_has_failed_and_changed_nothing(
    desk: Desk, model: Model
) -> None:
    arguments = update(model.create("plan.md", TEXT), "rename", new_path="taken.md")
    waiting = model.propose("desk_update_file", **arguments)
    desk.files.put("taken.md", "theirs\n", actor=BOB)
    before = desk.files.listed()
    decided = model.approve(waiting)
    assert (decided.status, decided.proposal.decided_by, desk.files.listed()) == ("failed", ANN, before)
    assert decided.text == (
        f"Proposal {decided.proposal.id} was approved by {ANN} but failed: {decided.proposal.error} "
        "Nothing was changed."
    )
    assert decided.proposal.error.startswith('"taken.md" already exists')
    assert desk.files.revisions("plan.md") == []
    assert model.approve(waiting).replayed
    told = model.again(2, "desk_update_file", **arguments)
    assert (told.status, told.data["code"], told.text) == ("error", "failed", decided.text)
    assert [(effect.action, effect.level) for effect in told.effects] == [("notify", "warning")]


def test_a_person_may_change_the_call_but_not_its_file_or_tool(desk: Desk, model: Model) -> None:
    """Check 10: other arguments run as they were previewed, and the model is told; another file is refused."""
    version = model.create("plan.md", TEXT)
    model.create("other.md", "o")
    arguments = update(version, "append", content="third\n")
    waiting = model.propose("desk_update_file", **arguments)
    for wrong in (
        {**arguments, "file": "other.md"},
        {"cells": [], "file": "plan.md"},
        {**arguments, "op": "open"},
    ):
        with pytest.raises(Refusal) as refused:
            model.approve(waiting, edited_args=wrong)
        assert refused.value.code == "invalid_arguments"
    edited = {**arguments, "content": "3rd\n"}
    shown = desk.preview(waiting.data["proposal_id"], edited)
    assert "+3rd" in shown.diff
    with pytest.raises(Refusal) as refused:
        model.approve(waiting, edited_args=edited)  # with the hash of what the model proposed
    assert refused.value.code == "proposal_changed"
    assert desk.proposal(waiting.data["proposal_id"]).status == "pending"
    decided = model.approve(waiting, edited_args=edited, proposal_hash=shown.proposal_hash)
    assert decided.status == "executed" and '"content":"3rd\\n"' in decided.proposal.approved_arguments
    assert desk.files.read("plan.md") == f"{TEXT}3rd\n"
    told = model.again(3, "desk_update_file", **arguments)
    assert told.text.startswith("A person changed this call before it ran. Executed: {")
    assert "3rd" in told.text and "Do not re-issue the original." in told.text


def test_arguments_that_cannot_run_matter_only_where_a_decision_can_still_be_made(
    desk: Desk, model: Model, clock: Clock
) -> None:
    arguments = update(model.create("plan.md", TEXT), "append", content="third\n")
    model.create("more.md", TEXT)
    done = model.propose("desk_update_file", **arguments)
    late = model.propose("desk_update_file", **arguments | {"file": "more.md"})
    model.approve(done)
    wrong = {**arguments, "file": "other.md"}
    with pytest.raises(Refusal) as refused:
        model.approve(done, edited_args=wrong)
    assert refused.value.code == "already_decided"
    clock.forward(days=8)
    assert model.approve(late, edited_args=wrong).status == "expired"


def test_the_same_decision_again_tells_what_came_of_it_then(desk: Desk, model: Model) -> None:
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    first = model.approve(waiting)
    desk.files.rename("plan.md", "old plan.md", actor=BOB)
    desk.files.remove("old plan.md", actor=BOB)
    again = model.approve(waiting)
    assert (again.replayed, again.text, again.data) == (True, first.text, first.data)


def test_a_rejection_reaches_the_model_with_its_reason(desk: Desk, model: Model) -> None:
    """Check 11, without a graph: the reason stands in the call's result and in the context; it cannot be undone."""
    version = model.create("plan.md", TEXT)
    arguments = update(version, "replace", content="mine")
    waiting = model.propose("desk_update_file", **arguments)
    decided = model.reject(waiting, "we keep the old plan")
    told = model.again(2, "desk_update_file", **arguments)
    assert told.text == (
        f"A person rejected proposal {decided.proposal.id}: we keep the old plan. Do not retry unless asked."
    )
    assert "we keep the old plan" in model.ok("desk_read_context").text
    with pytest.raises(Refusal) as refused:
        model.approve(waiting)
    assert refused.value.code == "already_decided"
    assert refused.value.text.startswith(f"Proposal {decided.proposal.id} was already rejected by {ANN} at ")
    assert desk.files.read("plan.md") == TEXT


def test_a_deleted_file_is_gone_until_it_is_restored_and_that_can_be_undone_too(
    desk: Desk, model: Model
) -> None:
    """Check 12: it leaves lists and searches, its bytes and its id come back, and so does what was before that."""
    version = model.create("plan.md", TEXT)
    file_id = desk.files.get("plan.md").id
    waiting = model.propose("desk_delete_file", file="plan.md", base_version=version)
    with pytest.raises(Refusal, match="reason"):
        model.reject(waiting)
    assert model.approve(waiting).status == "executed"
    assert model.ok("desk_list_files").data["entries"] == []
    assert model.ok("desk_search_content", query="second").data["hits"] == []
    assert model.refused("desk_read_file", file=file_id) == "not_found"
    assert desk.panels("s1").panels == ()
    (deleted,) = desk.files.revisions(file_id)
    restored = desk.files.restore(deleted.id, actor=ANN)
    assert (restored.id, restored.path, desk.files.read("plan.md")) == (file_id, "plan.md", TEXT)
    assert model.ok("desk_search_content", query="second").data["found"] == 1
    desk.files.save("plan.md", "after", actor=ANN, if_match=version)
    newest = desk.files.revisions(file_id)[0]
    desk.files.restore(newest.id, actor=ANN)
    assert desk.files.read("plan.md") == TEXT
    undo = desk.files.revisions(file_id)[0]
    assert undo.op == "restore"
    desk.files.restore(undo.id, actor=ANN)
    assert desk.files.read("plan.md") == "after"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("desk_update_file", {"mode": "append", "content": "x", "base_version": ""}, "read_first"),
        ("desk_delete_file", {"base_version": " "}, "read_first"),
        ("desk_update_file", {"mode": "append", "content": "x", "base_version": "sha256:0"}, "stale_base"),
        ("desk_update_file", {"mode": "append", "content": "x", "base_version": "0" * 64}, "stale_base"),
        ("desk_update_file", {"mode": "append", "content": "x", "file": "no.md"}, "not_found"),
        ("desk_update_file", {"mode": "append", "content": "x", "file": "sub"}, "not_found"),
        ("desk_update_file", {"mode": "append"}, "invalid_arguments"),
        ("desk_update_file", {"mode": "replace_text", "find": "third", "content": "x"}, "invalid_arguments"),
        ("desk_update_file", {"mode": "replace_text", "find": "s", "content": "x"}, "invalid_arguments"),
        ("desk_update_file", {"mode": "replace", "content": "x", "new_path": "b.md"}, "invalid_arguments"),
        (
            "desk_update_file",
            {"mode": "set_cells", "cells": [{"ref": "A1", "value": "x"}]},
            "invalid_arguments",
        ),
        ("desk_update_file", {"mode": "move"}, "invalid_arguments"),
        ("desk_update_file", {"mode": "replace", "content": TEXT}, "no_change"),
        ("desk_update_file", {"mode": "rename", "new_path": "plan.md"}, "invalid_arguments"),
        ("desk_rename_file", {"new_path": "sub/c.md"}, "exists"),
        ("desk_rename_file", {"new_path": ""}, "invalid_arguments"),
        ("desk_rename_file", {"new_path": "a/../b"}, "bad_path"),
        ("desk_update_cells", {"file": "s.csv", "cells": []}, "invalid_arguments"),
        ("desk_update_cells", {"file": "s.csv", "cells": [{"ref": "2B", "value": "x"}]}, "bad_range"),
        ("desk_update_cells", {"file": "s.csv", "cells": [{"ref": "B2", "value": "3"}]}, "no_change"),
        ("desk_update_cells", {"file": "s.csv", "cells": [{"ref": "B2"}]}, "invalid_arguments"),
        (
            "desk_update_cells",
            {"file": "s.csv", "cells": [{"ref": "A1", "value": ""}] * 2_001},
            "invalid_arguments",
        ),
        ("desk_delete_file", {"file": "own"}, "folder_not_empty"),
    ],
)
def test_what_could_not_run_is_refused_when_it_is_proposed(
    desk: Desk, model: Model, tool: str, arguments: dict[str, Any], code: str
) -> None:
    model.create("plan.md", TEXT)
    model.create("s.csv", SHEET)
    model.create("sub/c.md", "c")
    model.create("own", kind="folder")
    model.create("own/d.md", "d")
    file = arguments.get("file", "plan.md")
    known = {one.path: one.content_hash for one in desk.files.listed()}
    given = {"file": file, "base_version": known.get(file, "0" * 12), **arguments}
    assert model.refused(tool, **given) == code
    assert desk.proposals() == []


def test_an_empty_folder_can_be_deleted_and_a_full_one_moved(desk: Desk, model: Model) -> None:
    version = model.create("a", kind="folder")
    model.create("a/x.md", "x")
    empty = model.create("b", kind="folder")
    model.approve(model.propose("desk_rename_file", file="a", base_version=version, new_path="c/d"))
    model.approve(model.propose("desk_delete_file", file="b/", base_version=empty))
    assert [file.path for file in desk.files.listed()] == ["c/d", "c/d/x.md"]


def test_the_diff_of_a_big_change_is_cut_and_the_whole_of_it_can_be_seen(desk: Desk, model: Model) -> None:
    version = model.create("plan.md", "")
    lines = "".join(f"line {n} AKIAIOSFODNN7EXAMPLE\n" for n in range(400))
    desk.files.save("plan.md", lines, actor=ANN, if_match=version)
    arguments = update(model.version("plan.md"), "replace", content="short\n")
    (proposal_id,) = (model.propose("desk_update_file", **arguments).data["proposal_id"],)
    proposal = desk.proposal(proposal_id)
    assert len(proposal.diff) < 2_500 and "more changed lines are not shown" in proposal.diff
    assert "AKIA" not in proposal.diff and "[redacted:aws-access-key]" in proposal.diff
    assert desk.preview(proposal_id).diff.count("\n-") == 400


# -- policies ---------------------------------------------------------------------------------------------------


def test_a_policy_approves_in_the_same_call(desk: Desk) -> None:
    model = Model(desk, policies=Policies(auto_approve={"desk_update_file": "evals"}))
    version = model.create("plan.md", TEXT)
    done = model.ok("desk_update_file", **update(version, "append", content="third\n"))
    assert desk.files.read("plan.md") == f"{TEXT}third\n"
    (proposal,) = desk.proposals()
    assert (proposal.status, proposal.decided_by) == ("executed", "policy:evals")
    assert done.text.startswith('Approved by policy:evals: "plan.md" was changed.')
    assert done.data["hash"] == model.version("plan.md")
    assert [effect.action for effect in done.effects] == ["updateContent", "notify"]
    assert [kept.op for kept in desk.files.revisions("plan.md")] == ["update"]
    again = model.again(2, "desk_update_file", **update(version, "append", content="third\n"))
    assert (again.replayed, again.text, again.effects) == (True, done.text, done.effects)


def test_a_policy_deletes_only_where_it_is_said_so(desk: Desk) -> None:
    careful = Model(desk, "careful", Policies(auto_approve={"desk_delete_file": "evals"}))
    version = careful.create("plan.md", TEXT)
    waiting = careful.propose("desk_delete_file", file="plan.md", base_version=version)
    careful.reject(waiting, "no")
    bold = Model(desk, "bold", Policies(auto_approve={"desk_delete_file": "evals"}, allow_destructive=True))
    bold.ok("desk_delete_file", file="plan.md", base_version=version)
    assert desk.files.listed() == []


def test_a_policy_that_only_watches_leaves_the_decision_to_a_person(desk: Desk) -> None:
    model = Model(desk, policies=Policies(auto_approve={"desk_update_file": "evals"}, shadow=True))
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    assert (desk.proposals()[0].shadow, desk.files.read("plan.md")) == ("policy:evals", TEXT)
    model.approve(waiting)
    assert desk.proposals()[0].decided_by == ANN


def test_a_policy_lets_wait_what_builds_on_a_change_that_waits(desk: Desk) -> None:
    model = Model(desk, policies=Policies(auto_approve={"desk_rename_file": "evals"}))
    version = model.create("plan.md", TEXT)
    first = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    behind = model.propose("desk_rename_file", file="plan.md", base_version=version, new_path="b.md")
    assert behind.data["depends_on"] == first.data["proposal_id"]
    assert [model.approve(one).status for one in (first, behind)] == ["executed", "executed"]
    assert [file.path for file in desk.files.listed()] == ["b.md"]


def test_proposals_need_not_expire(desk: Desk, clock: Clock) -> None:
    model = Model(desk, policies=Policies(expires_days=None))
    version = model.create("plan.md", TEXT)
    waiting = model.propose("desk_update_file", **update(version, "append", content="third\n"))
    clock.forward(days=4_000)
    assert model.approve(waiting).status == "executed"


def test_a_policy_that_cannot_be_meant_is_refused_when_it_is_made() -> None:
    for wrong in (
        {"auto_approve": {"desk_update_file": "a\nb"}},
        {"expires_days": 0.0},
        {"expires_days": 1e9},
    ):
        with pytest.raises(UsageError):
            Policies(**wrong)


def test_only_the_words_that_there_are_decide_select_and_give_rights(desk: Desk, model: Model) -> None:
    waiting = model.propose("desk_delete_file", file="plan.md", base_version=model.create("plan.md", TEXT))
    made, wrong = desk.proposals(status="pending")[0], cast(Any, "rejected ")
    with pytest.raises(UsageError, match="decision='rejected ': there are 'approve', 'reject'"):
        desk.decide(made.id, wrong, actor=ANN, proposal_hash=waiting.data["proposal_hash"])
    with pytest.raises(UsageError, match="status='rejected ': there are 'pending', "):
        desk.proposals(status=wrong)
    with pytest.raises(UsageError, match="profile='rejected ': there are 'explore', 'desk'"):
        desk.session("s2", profile=wrong)
    with pytest.raises(UsageError, match="auto_approve='desk_create_file': there are 'desk_update_file', "):
        desk.session("s2", policies=Policies(auto_approve={"desk_create_file": "evals"}))
    assert desk.proposals() == [made]


def test_a_document_cannot_move_to_where_files_are_and_a_folder_can(desk: Desk, model: Model) -> None:
    for path in ("a.md", "sub/b.md", "own/sub/c.md"):
        model.create(path)
    folder = model.create("dir", kind="folder")
    model.create("dir/own", "a document, where the other has a folder")
    with pytest.raises(Refusal, match=r'"sub" is a folder already: "sub/b.md" is in it'):
        desk.files.rename("a.md", "sub", actor=ANN)
    model.approve(model.propose("desk_rename_file", file="dir", base_version=folder, new_path="sub"))
    assert [file.path for file in desk.files.listed()] == [
        "a.md", "own/sub/c.md", "sub", "sub/b.md", "sub/own"
    ]  # fmt: skip


def test_a_file_that_comes_back_finds_a_place_where_another_took_its_own(desk: Desk) -> None:
    files = desk.files
    files.put("sub/c.md", "c", actor=ANN)
    files.put("top", "t", actor=ANN)
    gone = [files.remove(path, actor=ANN).id for path in ("sub/c.md", "top")]
    files.put("sub", "a document now", actor=BOB)
    files.put("top/d.md", "d", actor=BOB)
    back = [files.restore(files.revisions(key)[0].id, actor=ANN).path for key in gone]
    assert back == ["c.md", "top (restored)"]
