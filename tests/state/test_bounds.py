"""Ids, objectives, token estimates and templates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.errors import Refusal, UsageError
from researchdesk.state.ids import CallId, artifact_id, content_hash, fold_objective, numbered
from researchdesk.state.limits import LIMITS, OBJECTIVE_CHARS
from researchdesk.state.templates import (
    GENERAL,
    IMPLEMENTATION,
    Part,
    Template,
    register_template,
    template_named,
)
from researchdesk.state.tokens import estimate_tokens


def test_an_artifact_id_is_made_of_its_calls_identity() -> None:
    call = CallId(session="s", turn="t", call="c")
    assert artifact_id(call) == artifact_id(CallId(session="s", turn="t", call="c"))
    assert len(artifact_id(call)) == 18 and artifact_id(call).startswith("a_")
    others = [CallId(session="st", turn="", call="c"), CallId(session="s", turn="tc", call="")]
    assert len({artifact_id(c) for c in (call, *others)}) == 3


def test_numbers_grow_wider_after_999() -> None:
    assert [numbered("s", n) for n in (1, 999, 1000)] == ["s_001", "s_999", "s_1000"]
    assert content_hash(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(text=st.text(max_size=200))
def test_an_objective_has_one_written_form(text: str) -> None:
    try:
        folded = fold_objective(text)
    except Refusal:
        assert not text.split()
        return
    assert fold_objective(folded) == folded
    assert folded == " ".join(folded.split()) != ""


def test_an_objective_is_bounded_in_code_points() -> None:
    assert len(fold_objective("語" * OBJECTIVE_CHARS)) == OBJECTIVE_CHARS
    with pytest.raises(Refusal, match="2,001"):
        fold_objective("𝔘" * (OBJECTIVE_CHARS + 1))
    assert len(fold_objective("e\u0301" * OBJECTIVE_CHARS)) == OBJECTIVE_CHARS


def test_deeper_scopes_allow_more() -> None:
    ordered = [LIMITS[level] for level in ("quick", "standard", "deep")]
    for name in ("step_cap", "prompt_cap", "min_sources", "target_sources"):
        numbers = [getattr(limits, name) for limits in ordered]
        assert numbers == sorted(set(numbers))


# Counted with the tokenizers of GPT-4o and Claude 3; an estimate may be above, and not far below.
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The sky is blue because of Rayleigh scattering. " * 50, 450, 800),
        ("空はレイリー散乱のために青い。" * 50, 450, 1_200),
        ("天空是蓝色的，因为瑞利散射。" * 50, 450, 1_100),
        ("2024-01-01,12.345,67890,0.0001,-42\n" * 50, 1_000, 2_000),
        ("😀" * 100, 100, 400),
        ("Донаудампфшиффартсгезельшафт " * 50, 400, 1_500),
        ("a" * 3_500, 300, 1_500),
    ],
)
def test_the_estimate_of_tokens_is_sane(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@given(one=st.text(max_size=60), two=st.text(max_size=60))
def test_more_text_never_costs_less(one: str, two: str) -> None:
    both = estimate_tokens(f"{one}\n{two}")
    assert both >= max(estimate_tokens(one), estimate_tokens(two))
    assert both <= estimate_tokens(one) + estimate_tokens(two) + 3


def test_the_two_templates_have_five_sections_and_four_items() -> None:
    for template in (IMPLEMENTATION, GENERAL):
        assert (len(template.sections), len(template.checklist), len(template.handoff)) == (5, 4, 4)
        assert template_named(template.name) == template
    with pytest.raises(UsageError, match="general, implementation"):
        template_named("poem")


def _parts(count: int) -> tuple[Part, ...]:
    return tuple(Part(key=f"k{n}", title=f"Title {n}") for n in range(count))


def test_a_template_of_ones_own_is_registered_once() -> None:
    mine = Template(name="survey", checklist=_parts(50), sections=_parts(1), handoff=GENERAL.handoff)
    register_template(mine)
    register_template(mine)
    assert template_named("survey") == mine
    with pytest.raises(UsageError, match="registered already"):
        register_template(
            Template(name="survey", checklist=_parts(1), sections=_parts(1), handoff=GENERAL.handoff)
        )


@pytest.mark.parametrize(
    ("checklist", "sections", "handoff"),
    [
        (_parts(0), _parts(1), GENERAL.handoff),
        (_parts(1), _parts(0), GENERAL.handoff),
        (_parts(51), _parts(1), GENERAL.handoff),
        (_parts(1) * 2, _parts(1), GENERAL.handoff),
        (_parts(1), _parts(1), ()),
        (_parts(1), _parts(1), _parts(4)),
    ],
)
def test_a_template_without_a_usable_shape_is_refused(
    checklist: tuple[Part, ...], sections: tuple[Part, ...], handoff: tuple[Part, ...]
) -> None:
    with pytest.raises(UsageError):
        register_template(Template(name="odd", checklist=checklist, sections=sections, handoff=handoff))
