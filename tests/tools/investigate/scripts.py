"""A scripted world about password rules, and a session that investigates it through its tools."""

from typing import Any

from researchdesk.state.envelopes import open_envelope
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import FetchRefused, Hit, SearchFailed
from researchdesk.tools.sources.scripted import InTurn, Page, ScriptedSource
from researchdesk.tools.workspace import Desk

from ...desks import Caller

NIST = "https://pages.nist.gov/800-63-3/sp800-63b.html"
OWASP = "https://cheatsheetseries.owasp.org/passwords.html"
MIRROR = "https://mirror.example.net.au/sp800-63b.html"
BLOG = "https://www.nist.gov/blog/passwords"
SLOW = "https://slow.org/"
MINIMUM = "Verifiers require passwords to have at least 8 characters in length"
TEXTS = {
    NIST: f"{MINIMUM} where the subscriber chooses them. Truncation of the secret is never performed by anyone. "
    "Memorized secrets are compared against a list of values known to be commonly used or compromised before.",
    OWASP: "The minimum length of the passwords is enforced by the application. Shorter than 8 characters is weak.",
    BLOG: "We changed our mind about passwords: length matters more than complexity, our new guideline says.",
}
TEXTS[MIRROR] = f"{TEXTS[NIST]} Copied."
NEWER = "newer guideline with no minimum"
QUERY, NEGATION, COUNTER = (
    "password minimum length",
    "no password minimum length needed",
    "four digit PIN exception",
)


def hits(*locators: str) -> list[Hit]:
    return [
        Hit(
            locator=key,
            title=None,
            snippet=TEXTS[key][:60],
            start=0,
            score=1.0,
            origin="",
            media_type="text/html",
        )
        for key in locators
    ]


def world() -> ScriptedSource:
    """Every query and page of the script; one search and one page fail."""
    pages: dict[str, Any] = {key: Page(text=text, media_type="text/html") for key, text in TEXTS.items()}
    return ScriptedSource(
        searches={
            QUERY: hits(NIST, OWASP),
            NEGATION: hits(BLOG),
            NEWER: hits(BLOG),
            COUNTER: InTurn(
                (SearchFailed("search_rate_limited", "Too many requests.", transient=False), hits(BLOG))
            ),
        },
        pages={**pages, SLOW: FetchRefused("fetch_timeout", "It did not answer.", transient=False)},
    )


def investigator(desk: Desk, session_id: str = "s1", **more: Any) -> Caller:
    """A caller whose run has begun."""
    source = world()
    sources = Sources(providers=(source,), fetchers=(source,))
    made = Caller(desk.session(session_id, labels=INVESTIGATION_LABELS, sources=sources, **more))
    made.start("What should a password policy demand?", scope_level="standard")
    return made


def link(source_id: str, quote: str, stance: str = "supports", repeats: str = "") -> dict[str, str]:
    return {"source_id": source_id, "stance": stance, "quote": quote, "quotes_other_source": repeats}


def entry(
    kind: str = "claim", text: str = "Passwords have at least 8 characters.", **more: Any
) -> dict[str, Any]:
    unused: dict[str, Any] = dict.fromkeys(("claim_kind", "value", "unit", "as_of", "question_id"), "")
    return {"kind": kind, "text": text, **unused, "about": [], "links": [], **more}


def change(**more: Any) -> dict[str, Any]:
    return {"status": "", "text": "", "scope": "", "add_links": [], "reason": "", **more}


def figure(*links: dict[str, str], value: str = "8") -> dict[str, Any]:
    """The claim of the script: a figure, quoted from NIST unless other links are given."""
    return entry(
        claim_kind="figure", value=value, unit="characters", links=list(links or [link("s_001", MINIMUM)])
    )


def challenge(
    target: str = "c_001", kind: str = "claim", query: str = NEGATION, **more: Any
) -> dict[str, Any]:
    return {
        "target_kind": kind,
        "target_id": target,
        "strategy": "direct_negation",
        "negation": "No minimum is needed",
        "expected_if_false": "A guideline without a minimum length",
        "query": query,
        **more,
    }


def ask(caller: Caller, text: str = "How long has a password to be?", **more: Any) -> str:
    """A further question; gives its id."""
    added = caller.ok("add_question", **{"text": text, "kind": "question", "why": "it is asked", **more})
    return str(added.data["question_id"])


def noted(caller: Caller) -> str:
    """A question in progress, three sources and a claim with two independent supports; gives the claim."""
    ask(caller)
    caller.ok("frontier_next")
    caller.ok("search_sources", query=QUERY)
    for locator in (NIST, OWASP):
        caller.ok("archive_source", locator=locator)
    claim = figure(link("s_001", MINIMUM), link("s_002", "Shorter than 8 characters is weak"))
    return str(caller.ok("notes_append", section="Unverified", entries=[claim]).data["ids"][0])


def survive(caller: Caller, target: str = "c_001", **more: Any) -> str:
    """A challenge that is searched and survived; gives its id."""
    asked = challenge(target, **more)
    key = str(caller.ok("challenge", **asked).data["challenge_id"])
    caller.ok("search_sources", query=asked["query"])
    caller.ok("record_challenge_result", challenge_id=key, outcome="survived", evidence="It only says how.")
    return key


def verified(caller: Caller) -> str:
    """The claim of `noted`, challenged and VERIFIED."""
    claim = noted(caller)
    survive(caller, claim)
    caller.ok("notes_update", id=claim, change=change(status="VERIFIED"))
    return claim


def answer(caller: Caller, question: str, *claims: str, reason: str = "It is one number.") -> None:
    """Answer the question in progress, with a reason in place of a challenge."""
    told = {"answer": "At least eight.", "claim_ids": list(claims), "reason": reason}
    caller.ok("resolve_question", question_id=question, **told)


def body(sealed: str) -> str:
    """What an envelope holds."""
    opened = open_envelope(sealed)
    assert opened is not None
    return opened.body
