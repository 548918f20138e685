"""What may pass of a provider's failures, and how long is waited before the next try."""

from typing import Any

import pytest

from researchdesk.graph.retries import LONGEST_WAIT, is_passing, pause, status_of, wait_before


class Response:
    def __init__(self, headers: dict[str, str], status_code: int = 429) -> None:
        self.headers, self.status_code = headers, status_code


class Failure(Exception):
    def __init__(self, **fields: Any) -> None:
        super().__init__("failed")
        self.__dict__.update(fields)


def asking(**headers: str) -> Failure:
    return Failure(response=Response({name.replace("_", "-"): value for name, value in headers.items()}))


def wrapped(cause: Exception) -> Exception:
    """An error as LangChain raises it from a provider's own."""
    try:
        try:
            raise cause
        except Exception as problem:
            raise ValueError("wrapped") from problem
    except ValueError as problem:
        return problem


@pytest.mark.parametrize(
    ("problem", "status", "passing"),
    [
        (Failure(status_code=429), 429, True),
        (Failure(status_code=503), 503, True),
        (Failure(status_code=529), 529, True),
        (Failure(status_code=408), 408, True),
        (Failure(status_code=401), 401, False),
        (Failure(code=400), 400, False),
        (Failure(code="rate_limit_exceeded"), None, True),
        (Failure(response=Response({}, 403)), 403, False),
        (wrapped(Failure(status_code=404)), 404, False),
        (wrapped(Failure(code=500)), 500, True),
        (Failure(status_code=200), None, True),
        (TimeoutError(), None, True),
        (ConnectionResetError(), None, True),
        (ValueError("the answer cannot be read"), None, True),
        (NotImplementedError(), None, False),
    ],
)
def test_a_refusal_is_final_and_everything_else_may_pass(
    problem: Exception, status: int | None, passing: bool
) -> None:
    assert (status_of(problem), is_passing(problem)) == (status, passing)


ODD_DATE = "Mon, 01 Jan 2099 00:00:00 -99999999999999999999"


@pytest.mark.parametrize(
    ("problem", "seconds"),
    [
        (asking(retry_after="2.5"), 2.5),
        (asking(retry_after_ms="1500", retry_after="9"), 1.5),
        (asking(retry_after="0"), 0.0),
        (asking(retry_after="99999999999"), LONGEST_WAIT),
        (asking(retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), 0.0),
        (wrapped(asking(retry_after="3")), 3.0),
    ],
)
def test_it_is_waited_as_long_as_the_provider_asks(problem: Exception, seconds: float) -> None:
    assert wait_before(problem, tries=1, backoff=1.0) == seconds


@pytest.mark.parametrize(
    "problem",
    [
        TimeoutError(),
        asking(),
        *(asking(retry_after=text) for text in ("soon", "-1", "nan", "inf", "", ODD_DATE)),
    ],
)
def test_without_a_word_of_the_provider_each_wait_is_up_to_twice_as_long(problem: Exception) -> None:
    for tries, longest in ((1, 1.0), (2, 2.0), (5, 16.0), (6, 30.0), (100, 30.0)):
        assert longest / 2 <= wait_before(problem, tries=tries, backoff=1.0) <= longest


def test_a_wait_ends_when_the_run_is_asked_to_stop() -> None:
    asked: list[int] = []

    def stops() -> bool:
        asked.append(1)
        return len(asked) > 1

    pause(3_600, stops=stops)
    assert len(asked) == 2
