"""Turns at a host, waits that a host asks for, and rules that are remembered."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.hosts import Hosts, retry_after
from researchdesk.tools.sources.web.robots import Robots

NOW = datetime(2026, 3, 2, 10, 0, 0, tzinfo=UTC)


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def hosts(time: Time, *, at_once: int = 2, pause: float = 0.5, max_wait: float = 8) -> Hosts:
    return Hosts(at_once=at_once, pause=pause, max_wait=max_wait, clock=time.clock, sleep=time.sleep)


def waited(polite: Hosts, host: str, pause: float = 0) -> float:
    with polite.turn(host, pause=pause) as seconds:
        return seconds


def test_requests_to_one_host_are_apart_and_others_do_not_wait() -> None:
    polite = hosts(Time())
    assert [waited(polite, "a.org") for _ in range(3)] == [0, 0.5, 0.5]
    assert waited(polite, "b.org") == 0


def test_a_host_may_want_longer_pauses_within_reason() -> None:
    polite = hosts(Time())
    assert [waited(polite, "a.org", pause=2) for _ in range(3)] == [0, 2, 2]
    assert [waited(polite, "b.org", pause=600) for _ in range(2)] == [0, 8]


def test_a_host_that_asks_to_wait_is_waited_for() -> None:
    time = Time()
    polite = hosts(time)
    polite.stay_away("a.org", 5)
    assert waited(polite, "a.org") == 5
    polite.stay_away("a.org", 60)
    polite.stay_away("a.org", 1)
    with pytest.raises(FetchRefused, match="another 60 s") as refusal:
        waited(polite, "a.org")
    assert (refusal.value.code, refusal.value.transient) == ("fetch_blocked", False)
    time.sleep(55)
    assert waited(polite, "a.org") == 5


def test_a_turn_is_given_back_whatever_happens_in_it() -> None:
    polite = hosts(Time(), at_once=1)
    for _ in range(3):
        with pytest.raises(ValueError), polite.turn("a.org"):
            raise ValueError
    assert waited(polite, "a.org") == 0.5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("0", 0), ("120", 120), (" 7 ", 7), ("99999999999999", 999_999_999)),
        ("Mon, 02 Mar 2026 10:01:30 GMT", 90),
        ("Mon, 02 Mar 2026 09:00:00 GMT", 0),
        ("Mon, 02 Mar 2026 10:00:30 -0000", 30),
        *(
            ("", None),
            ("soon", None),
            ("-5", None),
            ("1.5", None),
            ("１２", None),
            ("Mon, 99 Mar 2026", None),
        ),
    ],
)
def test_a_wait_is_asked_for_by_number_or_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, now=NOW) == seconds


def test_rules_are_asked_for_once_a_day_and_origin() -> None:
    time, asked = Time(), list[str]()

    def ask(url: str) -> str:
        asked.append(url)
        return "User-agent: *\nDisallow: /x\nCrawl-delay: 3\n"

    robots = Robots(ask, agent="researchdesk", clock=time.clock)
    for url in ("https://a.org/x", "https://a.org/y?q", "http://a.org/x", "https://a.org:8443/x"):
        rules = robots.of(url)
        assert (rules.allow(url), rules.pause) == ("x" not in url.rpartition("/")[2], 3)
    assert asked == [
        f"{origin}/robots.txt" for origin in ("https://a.org", "http://a.org", "https://a.org:8443")
    ]
    time.sleep(86_401)
    robots.of("https://a.org/x")
    assert len(asked) == 4


def test_those_who_wait_for_rules_get_what_the_one_that_asks_gets() -> None:
    begun, may_answer, asked = threading.Event(), threading.Event(), list[str]()

    def ask(url: str) -> str:
        asked.append(url)
        begun.set()
        may_answer.wait(5)
        raise FetchRefused("fetch_timeout", "too slow")

    robots = Robots(ask, agent="researchdesk")
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(robots.of, "https://a.org/1")
        begun.wait(5)
        others = [pool.submit(robots.of, f"https://a.org/{number}") for number in range(3)]
        may_answer.set()
        problems = [answer.exception() for answer in (first, *others)]
    assert all(isinstance(problem, FetchRefused) for problem in problems)
    with pytest.raises(FetchRefused):
        robots.of("https://a.org/1")  # a failure is not remembered
    assert len(asked) >= 2


def test_rules_made_to_be_slow_are_quick() -> None:
    rules = "User-agent: *\nDisallow: /" + "*a" * 2_000 + "*b\n" + "Disallow: /a*a*a*a*b$\n" * 5_000
    robots = Robots(lambda url: rules, agent="researchdesk")
    url = "https://a.org/" + "a" * 4_000
    assert robots.of(url).allow(url)
