"""A scripted investigation: what the web says of a bridge, and a model that plays its turns one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult

import researchdesk as rd
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.scripted import Page, ScriptedSource

from .scripted_model import Answer, ScriptedModel, View, call, save, says

QUESTION = "How high is the Europa bridge?"
ALPS, ROADS = "https://alps.org/bridge", "https://roads.net/europa"
COPY, CRITIC = "https://news.com/reprint", "https://critic.edu/heights"
ALPS_QUOTE = "The Europa bridge opened in 1963 and stands 190 metres above the valley"
ROADS_QUOTE = "its deck runs 190 metres over the river"
TEXTS = {
    ALPS: f"{ALPS_QUOTE}. It was the highest of its kind in Europe for years, and its six lanes carry the motorway "
    "from Innsbruck to the Brenner pass on piers of reinforced concrete.",
    ROADS: f"Every day forty thousand cars use the viaduct south of the town; {ROADS_QUOTE}. Tolls pay for what the "
    "salt of each winter does to the steel box girder underneath.",
    CRITIC: "People love to overstate heights. A survey of famous crossings found most of the published figures to "
    "be right within a metre, those of the Alps among them.",
}
TEXTS[COPY] = f"Reprinted with permission. {TEXTS[ALPS]}"
QUERY, NEGATION = "Europa bridge height", "Europa bridge not 190 metres high"

Call = dict[str, Any]
Turn = Sequence[Call] | Callable[[View], Sequence[Call]]
"""The calls of one answer, or what makes them of the view."""


def hits(*locators: str) -> list[Hit]:
    """Hits that lead to these pages."""
    return [
        Hit(
            locator=key,
            title=key[8:],
            snippet=TEXTS.get(key, key)[:80],
            start=0,
            score=1.0 - n / 100,
            origin="",
            media_type="text/html",
        )
        for n, key in enumerate(locators)
    ]


def web(*, searches: dict[str, Any] | None = None, pages: dict[str, Any] | None = None) -> ScriptedSource:
    """The pages of this module and those that are given, found by two queries and those that are given."""
    known: dict[str, Any] = {key: Page(text=text, media_type="text/html") for key, text in TEXTS.items()}
    asked: dict[str, Any] = {QUERY: hits(ALPS, ROADS, COPY), NEGATION: hits(CRITIC)}
    return ScriptedSource(searches=asked | (searches or {}), pages=known | (pages or {}))


class Player(ScriptedModel):
    """Plays its turns in order, then says nothing while it gathers and writes what it is asked to write.

    ``views`` and ``offered`` hold the view and the names of the tools of each request so far.
    """

    views: Any
    offered: Any

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.offered.append({tool["function"]["name"] for tool in kwargs.get("tools", [])})
        return super()._generate(messages, stop, run_manager, **kwargs)


def player(*turns: Turn, writer: Callable[[View], Answer] | None = None) -> Player:
    """A model that gathers with these turns."""
    views: list[View] = []

    def script(view: View) -> Answer:
        views.append(view)
        if view["stage"] == "report_writing":
            return (writer or write)(view)
        turn = turns[len(views) - 1] if len(views) <= len(turns) else ()
        return says(*(turn(view) if callable(turn) else turn))

    return Player(script=script, views=views, offered=[])


def investigate(
    desk: rd.Desk, model: Player, source: ScriptedSource | None = None, **options: Any
) -> rd.RunResult:
    """A run of session ``s`` with this model on the scripted web."""
    found = source or web()
    given = {"scope": "quick", "template": "general", "session_id": "s", **options}
    return rd.run_research(
        desk, QUESTION, model=model, sources=Sources(providers=(found,), fetchers=(found,)), **given
    )


# -- calls -------------------------------------------------------------------------------------------------------


def search(query: str = QUERY) -> Call:
    return call("search_sources", query=query)


def archive(*locators: str) -> list[Call]:
    return [call("archive_source", locator=locator) for locator in locators]


def ask(text: str, **more: Any) -> Call:
    return call("add_question", **{"text": text, "kind": "question", "why": "It is asked.", **more})


def link(source_id: str, quote: str, stance: str = "supports", repeats: str = "") -> dict[str, str]:
    return {"source_id": source_id, "stance": stance, "quote": quote, "quotes_other_source": repeats}


def note(*links: dict[str, str], text: str = "The bridge is 190 metres high.", **more: Any) -> Call:
    """Notes one claim; with no link given it is that of the first page."""
    entry = {"kind": "claim", "text": text, "links": list(links or [link("s_001", ALPS_QUOTE)]), **more}
    return call("notes_append", section="Unverified", entries=[entry])


def verify(claim_id: str = "c_001") -> Call:
    return call("notes_update", id=claim_id, change={"status": "VERIFIED"})


def challenge(target: str = "c_001", kind: str = "claim", query: str = NEGATION, **more: Any) -> Call:
    given = {
        "target_kind": kind,
        "target_id": target,
        "strategy": "direct_negation",
        "negation": "It is not 190 metres high.",
        "expected_if_false": "A survey with another height.",
        "query": query,
        **more,
    }
    return call("challenge", **given)


def outcome(value: str, challenge_id: str = "ch_001", **more: Any) -> Call:
    given = {"challenge_id": challenge_id, "outcome": value, "evidence": "The survey agrees.", **more}
    return call("record_challenge_result", **given)


def resolve(question_id: str = "q_001", *claim_ids: str) -> Call:
    return call(
        "resolve_question",
        question_id=question_id,
        answer="190 metres.",
        claim_ids=list(claim_ids),
        reason="A script cannot doubt.",
    )


def take_up(atomic: str = "") -> Call:
    return call("frontier_next", atomic_reason=atomic)


def to_report() -> Call:
    return call(
        "deep_research_checkpoint", round=1, stage="report_writing", status="active", summary="All is read."
    )


VERIFIED: tuple[Turn, ...] = (
    [take_up("It is one question."), search()],
    archive(ALPS, ROADS),
    [note(link("s_001", ALPS_QUOTE), link("s_002", ROADS_QUOTE))],
    [challenge(), search(NEGATION)],
    [outcome("survived"), verify()],
)
"""A claim that two publishers support and that survived a challenge."""


# -- writing -----------------------------------------------------------------------------------------------------


def write(view: View) -> AIMessage:
    """The part that the view asks for; each section cites the first claim that it is shown, or a source."""
    part = view["write"]["part"]
    if part == "outline":
        heads = [f"## {section['title']}\n\n- see {_cite(view)}" for section in view["sections"]]
        return says(save("outline", "Outline", "\n\n".join(heads)))
    if part == "section":
        return says(section(view["write"], f"{view['write']['title']}: it is said to be high {_cite(view)}."))
    if part in ("report", "handoff"):
        return says(save(part, part.title(), "" if part == "report" else f"Go and look {_cite(view)}."))
    return says(complete(view))


def section(asked: dict[str, str], content: str) -> Call:
    done = {"report_section_key": asked["key"], "report_section_status": "completed"}
    return save("report_section", asked["title"], content, **done)


def complete(view: View) -> Call:
    return call(
        "deep_research_complete",
        report_artifact_id=view["report_artifact_id"],
        handoff_artifact_id=view["handoff_artifact_id"],
        implementation_tasks=["measure"],
        recommended_issues=["the other bridge"],
        verification_commands=["look up"],
    )


def _cite(view: View) -> str:
    standing = [claim["id"] for claim in view["claims"] if claim["status"] in ("VERIFIED", "UNVERIFIED")]
    return f"[{[*standing, *(source['source_id'] for source in view['sources'])][0]}]"
