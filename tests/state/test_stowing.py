"""Stowed texts: short ones inline, long ones by hash, and everything comes back as it was."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.bodies import named_bodies
from researchdesk.state.events import CallRecorded, Stowed
from researchdesk.state.ids import content_hash
from researchdesk.state.references import BLOB_KEY
from researchdesk.state.stowing import INLINE_CHARS, Stow, unstow, unstow_arguments

long = st.sampled_from(["x" * (INLINE_CHARS + 1), "é" * 3_000, "語" * 2_001])
texts = st.text(st.characters(codec="utf-8"), max_size=20) | long
keys = st.sampled_from([BLOB_KEY, "$", "$$blob", "content", "a"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=8,
)


def recorded(arguments: Stowed, text: Stowed) -> CallRecorded:
    return CallRecorded(
        turn_id="",
        tool_call_id="c",
        name="n",
        input_digest="d",
        arguments=arguments,
        status="success",
        code="",
        text=text,
        data="{}",
    )


@given(arguments=st.dictionaries(keys, values, max_size=4), always=st.sampled_from([(), ("content",)]))
def test_arguments_come_back_as_they_were_whatever_their_keys(
    arguments: dict[str, Any], always: tuple[str, ...]
) -> None:
    stow = Stow()
    stowed = stow.arguments(arguments, always=always)
    assert unstow_arguments(stowed, lambda key: stow.bodies[key].decode()) == arguments
    assert len(stowed.inline) < 100_000
    event = recorded(stowed, Stowed(inline='{"$blob": "sha256:0"}'))
    assert set(named_bodies(event)) == stow.bodies.keys()


@given(text=texts, always=st.booleans())
def test_a_text_comes_back_as_it_was(text: str, always: bool) -> None:
    stow = Stow()
    stowed = stow.text(text, always=always)
    assert unstow(stowed, lambda key: stow.bodies[key].decode()) == text
    assert stowed.chars == len(text)
    assert bool(stowed.hash) == (always or len(text) > INLINE_CHARS)
    assert all(content_hash(body) == key for key, body in stow.bodies.items())


def test_an_argument_that_may_have_to_be_removed_never_stands_in_the_event() -> None:
    stow = Stow()
    stowed = stow.arguments({"content": "short", "name": "short"}, always=("content",))
    assert stowed.inline == f'{{"content":{{"$blob":"{content_hash(b"short")}"}},"name":"short"}}'
