"""Whatever a model sends is cleaned, or refused with one clear sentence; it never crashes."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.cleaning import clean_arguments, clean_text, parse_arguments, safe_error
from researchdesk.state.errors import NotFound, Refusal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


def nested(depth: int) -> object:
    """A list in a list in a list."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def strings_of(value: object) -> list[str]:
    """Every string of a JSON value, names too."""
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in strings_of(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


def test_unstorable_characters_are_replaced_and_counted() -> None:
    cleaned = clean_text("a\x00b\ud800c\x1b[0m\td\r\ne\x7f")
    assert cleaned.text == "a\ufffdb\ufffdc\ufffd[0m\td\r\ne\x7f"
    assert cleaned.replaced == 3


def test_arguments_are_cleaned_deep_inside_and_in_keys() -> None:
    cleaned = clean_arguments({"a\x00": [1, 2.5, None, True, {"b": "\udfff"}], "c": ("d", "e")})
    assert cleaned.value == {"a\ufffd": [1, 2.5, None, True, {"b": "\ufffd"}], "c": ["d", "e"]}
    assert cleaned.replaced == 2


@given(JSON)
def test_good_arguments_come_back_equal_and_are_not_shared(value: object) -> None:
    cleaned = clean_arguments(value)
    assert (cleaned.value, cleaned.replaced) == (value, 0)
    assert json.dumps(cleaned.value) == json.dumps(value)
    assert not isinstance(value, dict | list) or cleaned.value is not value


@given(JSON)
def test_the_text_of_arguments_holds_every_string_and_name(value: object) -> None:
    text = "\n" + clean_arguments({"top": value, "odd": 0.5}).text + "\n"
    assert all(f"\n{part}\n" in text for part in strings_of(value))
    assert all(f"\n{part}\n" in "\n" + clean_arguments(value).text + "\n" for part in strings_of(value))


def test_many_small_values_are_counted_too() -> None:
    many = [[[[7] * 256] * 256] * 256] * 256
    with pytest.raises(Refusal, match="more than 1,048,576 bytes of JSON"):
        clean_arguments({"a": many})
    assert clean_arguments([[1] * 256] * 100).value == [[1] * 256] * 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": math.nan}, "a: NaN and Infinity are no JSON."),
        ({"a": [0, -math.inf]}, "a[1]: NaN and Infinity are no JSON."),
        ({"a": {"b": 2**53 + 1}}, "a.b: an integer beyond ±2**53; send it as a string."),
        ({"a": -(2**64)}, "a: an integer beyond ±2**53; send it as a string."),
        ({"a": "x" * 512_001}, "a: a string of 512,001 characters; at most 512,000."),
        ({"a": dict.fromkeys(map(str, range(257)))}, "a: an object of 257 keys; at most 256."),
        ({"a": ["x" * 400_000] * 3}, "arguments: more than 1,048,576 bytes of JSON; send less in one call."),
        ({"a": [1] * 600_000}, "arguments: more than 1,048,576 bytes of JSON; send less in one call."),
        ({1: 2}, "arguments: a key that is a int and no string."),
        ({"a": b"x"}, "a: a bytes is no JSON value."),
        ({"a": {1}}, "a: a set is no JSON value."),
        ({"\x00": 1, "\x01": 2}, "arguments: two keys that are the same once cleaned."),
    ],
)  # fmt: skip
def test_what_is_beyond_the_limits_is_refused_by_its_path(value: object, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        clean_arguments(value)
    assert (refused.value.code, refused.value.text) == ("invalid_arguments", text)


def test_the_limits_themselves_are_allowed() -> None:
    value = {
        "s": "x" * 512_000,
        "i": [2**53, -(2**53)],
        "k": dict.fromkeys(map(str, range(256))),
        "d": nested(63),
    }
    assert clean_arguments(value).value == value


@pytest.mark.parametrize("depth", [65, 1_000, 100_000])
def test_any_depth_is_refused_and_never_crashes(depth: int) -> None:
    with pytest.raises(Refusal, match="nested deeper than 64"):
        clean_arguments(nested(depth))
    with pytest.raises(Refusal, match="nested deeper than 64"):
        parse_arguments("[" * depth + "]" * depth)
    with pytest.raises(Refusal, match="nested deeper than 64"):
        parse_arguments('{"a":' * depth)


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Refusal, match="nested deeper than 64"):
        clean_arguments(loop)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('{"a": 1, "a": 2}', "a: the key is there twice; send it once."),
        ('{"x": [{"b": 1, "b": 1}]}', "b: the key is there twice; send it once."),
        ('{"a": NaN}', "arguments: NaN is no JSON."),
        ('{"a": -Infinity}', "arguments: -Infinity is no JSON."),
        ('{"a": ' + "9" * 5_000 + "}", "arguments: an integer beyond ±2**53; send it as a string."),
        ("", "arguments: the JSON is cut off; send the call again, whole."),
        ('{"a": "b', "arguments: the JSON is cut off; send the call again, whole."),
        ('{"a": [1, 2', "arguments: the JSON is cut off; send the call again, whole."),
        ('{"a": "\\', "arguments: the JSON is cut off; send the call again, whole."),
        ('"abc', "arguments: the JSON is cut off; send the call again, whole."),
        (
            "{'a': 1}",
            "arguments: no JSON at line 1, column 2 (Expecting property name enclosed in double quotes).",
        ),
        ('{"a": 1} x', "arguments: no JSON at line 1, column 10 (Extra data)."),
        ('"' + "x" * 1_048_576 + '"', "arguments: more than 1,048,576 bytes of JSON; send less in one call."),
    ],
)
def test_raw_json_is_refused_with_a_short_message(raw: str, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_arguments(raw)
    assert (refused.value.code, refused.value.text) == ("invalid_arguments", text)


@given(JSON)
def test_raw_json_is_parsed_as_it_was_written(value: object) -> None:
    assert parse_arguments(json.dumps(value)) == value


@given(JSON.map(json.dumps), st.data())
def test_cut_or_changed_json_is_refused_or_parsed_never_crashes(raw: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(raw)))
    for text in (raw[:at], raw[:at] + data.draw(st.text(max_size=3)) + raw[at:]):
        try:
            clean_arguments(parse_arguments(text))
        except Refusal as refused:
            assert refused.code == "invalid_arguments"
            assert len(refused.text) <= 500


def test_an_error_is_shown_with_its_type_without_paths_and_secrets() -> None:
    token = "ghp" + "_" + "A1b2" * 9
    error = OSError(f"[Errno 2] No such file: '/home/ann/desk/.env/keys.json' for\n  {token}\x00")
    assert safe_error(error) == (
        "OSError: [Errno 2] No such file: '…/keys.json' for [redacted:github-token]\ufffd"
    )


def test_an_error_on_windows_and_a_file_url_lose_their_folders() -> None:
    assert safe_error(NotFound(r"C:\Users\ann\desk\notes.md")) == "NotFound: …/notes.md"
    assert safe_error(ValueError("file:///srv/private/a.txt is gone")) == "ValueError: …/a.txt is gone"
    assert (
        safe_error(ValueError("see https://acme.io/a/b for more"))
        == "ValueError: see https://acme.io/a/b for more"
    )


def test_an_error_is_at_most_500_characters_long() -> None:
    assert len(safe_error(RuntimeError("long " * 100_000))) == 500


def test_an_error_without_text_is_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert safe_error(KeyError()) == "KeyError"
    assert safe_error(Mute()) == "Mute"
    assert safe_error(Refusal("unknown_artifact", "no artifact a_1")) == "unknown_artifact: no artifact a_1"
