"""A small desk in memory that answers the offline model: an index, an archive, and views built from them.

It stands in for the real graph where only the model's decisions are of interest, and is as strict about quotes.
"""

import json
import re
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from researchdesk.graph.offline.model import OfflineChatModel
from researchdesk.graph.offline.passages import blocks
from researchdesk.graph.offline.quotes import parse_quotes
from researchdesk.state.envelopes import seal

RESEARCH = (
    "save_artifact",
    "read_artifact",
    "update_checklist",
    "record_step",
    "checkpoint",
    "status",
    "complete",
)
TOOLS = ["search_sources", "archive_source", *(f"deep_research_{name}" for name in RESEARCH)]
GENERAL = ("key_takeaways", "background", "findings", "disagreements_and_gaps", "recommendations")
IMPLEMENTATION = (
    "conclusion",
    "source_evidence",
    "borrow_diverge_risk_gate",
    "implementation_recommendations",
    "verification",
)


class Index:
    """Passages of at most 700 characters, ranked by stem and by trigram."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.base = sqlite3.connect(":memory:", check_same_thread=False)
        self.base.execute("CREATE VIRTUAL TABLE words USING fts5(heading, body, tokenize='porter unicode61')")
        self.base.execute("CREATE VIRTUAL TABLE trigrams USING fts5(body, tokenize='trigram')")
        self.rows: list[tuple[str, int, str]] = []
        for locator, text in texts.items():
            for start, heading, body in passages(text):
                self.rows.append((locator, start, body))
                row = len(self.rows)
                self.base.execute(
                    "INSERT INTO words(rowid, heading, body) VALUES (?, ?, ?)", (row, heading, body)
                )
                self.base.execute("INSERT INTO trigrams(rowid, body) VALUES (?, ?)", (row, body))

    def search(self, query: str, limit: int) -> list[tuple[str, int, str, float]]:
        words = list(dict.fromkeys(re.findall(r"\w+", query.lower())))
        grams = [w for w in words if len(w) >= 3 and w.isascii()]
        grams += [w[i : i + 3] for w in words if not w.isascii() for i in range(len(w) - 2)]
        scores: dict[int, float] = defaultdict(float)
        for table, terms, weight in (("words", words, 1.0), ("trigrams", grams, 0.3)):
            if not terms:
                continue
            match = " OR ".join(f'"{term}"' for term in terms)
            sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT 200"
            for rank, (row,) in enumerate(self.base.execute(sql, (match,)), start=1):
                scores[row] += weight / (60 + rank)
        best = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
        return [(*self.rows[row - 1], scores[row]) for row in best]


def passages(text: str) -> list[tuple[int, str, str]]:
    """Start, heading and body of each passage."""
    found: list[tuple[int, str, str]] = []
    heading, start, end = "", -1, -1
    for _, a, b, above in blocks(text):
        if start >= 0 and (b - start > 700 or above != heading):
            found.append((start, heading, text[start:end]))
            start = -1
        if start < 0:
            start, heading = a, above
        end = b
    if start >= 0:
        found.append((start, heading, text[start:end]))
    return [
        (a + at, above, piece[at : at + 700]) for a, above, piece in found for at in range(0, len(piece), 700)
    ]


class FakeDesk:
    """Drives the model over texts by view and tool call, as the research graph does."""

    def __init__(
        self,
        texts: dict[str, str],
        objective: str,
        *,
        origins: dict[str, str] | None = None,
        template: str = "general",
        target: int = 10,
        index: Index | None = None,
        one_hit_a_document: bool = True,
        refuse: frozenset[str] = frozenset(),
        broken: frozenset[str] = frozenset(),
        steps: int = 60,
    ) -> None:
        self.texts, self.objective, self.template = texts, objective, template
        self.origins, self.target, self.refuse, self.broken = origins or {}, target, refuse, broken
        self.index = index or Index(texts)
        self.one_hit = one_hit_a_document
        self.steps_left = steps
        self.writing_steps = steps - max(1, int(steps * 0.75))
        self.blocked = ""
        self.model = OfflineChatModel().bind_tools([tool(name) for name in TOOLS])
        self.searches: list[dict[str, Any]] = []
        self.hits: list[dict[str, Any]] = []
        self.sources: list[dict[str, Any]] = []
        self.refused: list[dict[str, str]] = []
        self.notes: list[dict[str, Any]] = []
        self.artifacts: dict[str, dict[str, Any]] = {}
        self.stage, self.steps, self.last = "knowledge_base", 0, list[dict[str, Any]]()
        self.checklist = dict.fromkeys(("scope_and_terms", "primary_sources", "gaps"), "pending")
        keys = GENERAL if template == "general" else IMPLEMENTATION
        self.sections = {
            key: {"key": key, "title": key, "status": "pending", "artifact_id": ""} for key in keys
        }
        self.completed: dict[str, Any] | None = None
        self.turns: list[AIMessage] = []
        self.errors: list[str] = []
        self.sizes: list[int] = []

    def origin(self, locator: str) -> str:
        return next((name for prefix, name in self.origins.items() if locator.startswith(prefix)), "corpus")

    def view(self) -> dict[str, Any]:
        archived = {source["locator"] for source in self.sources}
        leads: dict[str, dict[str, Any]] = {}
        for hit in sorted(self.hits, key=lambda hit: -hit["score"]):
            leads.setdefault(hit["locator"], hit)
        found = [hit for locator, hit in leads.items() if locator not in archived]
        noted = {key for note in self.notes for key in note["source_ids"]}
        return {
            "objective": self.objective,
            "scope_level": "standard",
            "template": self.template,
            "stage": self.stage,
            "round": 0,
            "stop_reason": None,
            "limits": {"target_sources": self.target, "calls_per_turn": 16},
            "budget": {
                "steps_left": self.steps_left,
                "writing_steps": self.writing_steps,
                "tokens_left": None,
                "writing_reserve": None,
            },
            "checklist": [{"item_id": k, "title": k, "status": s} for k, s in self.checklist.items()],
            "searches": self.searches,
            "found": found[:60],
            "refused": self.refused,
            "sources": [self.shown(source, source["source_id"] in noted) for source in self.sources],
            "notes": self.notes,
            "passages": self.passages(noted) if self.stage == "report_writing" else [],
            "steps": self.steps,
            "rounds": [],
            "outline_artifact_id": self.newest("outline"),
            "sections": list(self.sections.values()),
            "report_artifact_id": self.newest("report"),
            "handoff_artifact_id": self.newest("handoff"),
            "last": self.last,
            "notice": "",
        }

    def shown(self, source: dict[str, Any], noted: bool) -> dict[str, Any]:
        own = [hit for hit in self.hits if hit["locator"] == source["locator"]]
        starts = [{"start": hit["start"], "query": hit["query"]} for hit in own]
        return {**source, "noted": noted, "hits": starts[:6]}

    def passages(self, noted: set[str]) -> list[dict[str, Any]]:
        """The first hit in each source that has no note."""
        first: dict[str, dict[str, Any]] = {}
        for hit in self.hits:
            first.setdefault(hit["locator"], hit)
        return [
            {"source_id": one["source_id"], "start": hit["start"], "text": hit["snippet"]}
            for one in self.sources
            for hit in [first.get(one["locator"])]
            if hit and one["source_id"] not in noted
        ]

    def newest(self, role: str) -> str:
        return next((key for key, body in reversed(self.artifacts.items()) if body["role"] == role), "")

    def turn(self) -> AIMessage:
        body = json.dumps(self.view(), ensure_ascii=False)
        content = seal(body, tag="research_workspace", boundary="boundary1")
        self.sizes.append(len(content))
        answer = self.model.invoke([SystemMessage("rules"), HumanMessage(content)])
        self.turns.append(answer)
        self.steps_left -= 1
        self.last = [self.act(call["name"], call["args"]) for call in answer.tool_calls]
        self.errors += [f"{one['tool']}: {one['text']}" for one in self.last if one["status"] == "error"]
        return answer

    def run(self, turns: int = 40) -> "FakeDesk":
        while turns and self.completed is None and not self.blocked and self.turn().tool_calls:
            turns -= 1
            if self.sources and self.steps_left <= self.writing_steps:
                self.stage = "report_writing"
        return self

    def act(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = {"tool": name, "arguments": arguments, "status": "success", "code": "", "text": ""}
        try:
            if name in self.broken:
                raise ValueError("refused by the test")
            result["text"] = getattr(self, name.removeprefix("deep_research_"))(**arguments)
        except ValueError as problem:
            result |= {"status": "error", "code": "refused", "text": str(problem)}
        return result

    def search_sources(self, query: str, limit: int) -> str:
        seen: set[str] = set()
        for locator, start, body, score in self.index.search(query, 200 if self.one_hit else limit):
            if (self.one_hit and locator in seen) or len(seen) >= limit:
                continue
            seen.add(locator)
            self.hits.append(
                {
                    "locator": locator,
                    "title": title(self.texts[locator], locator),
                    "origin": self.origin(locator),
                    "snippet": body,
                    "start": start,
                    "score": score,
                    "query": query,
                }
            )
        self.searches.append({"query": query, "results": len(seen)})
        return f"{len(seen)} documents"

    def archive_source(self, locator: str) -> str:
        if locator in self.refuse:
            self.refused.append({"locator": locator, "code": "fetch_unreadable"})
            raise ValueError("fetch_unreadable")
        number = len(self.sources) + 1
        self.sources.append(
            {
                "source_id": f"s_{number:03}",
                "artifact_id": f"a_{number:03}",
                "title": title(self.texts[locator], locator),
                "locator": locator,
                "origin": self.origin(locator),
                "chars": len(self.texts[locator]),
                "provenance": "fetched",
            }
        )
        return f"s_{number:03}"

    def read_artifact(self, artifact_id: str, offset_chars: int, max_chars: int) -> str:
        source = next(source for source in self.sources if source["artifact_id"] == artifact_id)
        page = self.texts[source["locator"]][offset_chars : offset_chars + max_chars]
        return seal(page, tag="research_artifact", boundary="boundary2", artifact_id=artifact_id)

    def save_artifact(self, role: str, name: str, content: str, **rest: Any) -> str:
        self.check_quotes(content)
        key = f"n_{len(self.artifacts) + 1:03}"
        self.artifacts[key] = {"role": role, "name": name, "content": content, **rest}
        if role == "evidence_note":
            by_artifact = {source["artifact_id"]: source["source_id"] for source in self.sources}
            ids = [by_artifact[artifact] for artifact in rest["source_artifact_ids"]]
            self.notes.append({"artifact_id": key, "name": name, "source_ids": ids, "text": content})
        if role == "report_section":
            self.sections[rest["report_section_key"]] |= {"status": "completed", "artifact_id": key}
        if role == "report" and not content:
            parts = [self.artifacts[one["artifact_id"]] for one in self.sections.values()]
            self.artifacts[key]["content"] = "\n\n".join(f"## {p['name']}\n\n{p['content']}" for p in parts)
        return key

    def check_quotes(self, content: str) -> None:
        by_id = {source["source_id"]: fold(self.texts[source["locator"]]) for source in self.sources}
        for quote in parse_quotes(content):
            if fold(quote.text) not in by_id[quote.source_id]:
                raise ValueError(f"no such text in {quote.source_id}: {quote.text}")

    def update_checklist(self, item_id: str, status: str, evidence_artifact_ids: list[str], **_: Any) -> str:
        if status == "completed" and not evidence_artifact_ids:
            raise ValueError("a completed item needs evidence")
        self.checklist[item_id] = status
        return status

    def record_step(self, **arguments: Any) -> str:
        self.steps += 1
        return "recorded"

    def checkpoint(self, stage: str, status: str, summary: str, **_: Any) -> str:
        self.stage = stage
        self.blocked = summary if status == "blocked" else ""
        return stage

    def complete(self, **arguments: Any) -> str:
        self.completed = arguments
        return "completed"

    @property
    def report(self) -> str:
        return str(self.artifacts[self.newest("report")]["content"]) if self.newest("report") else ""

    def quotes(self) -> dict[str, list[str]]:
        """Quotes that were noted, by the locator of their source."""
        by_id = {source["source_id"]: source["locator"] for source in self.sources}
        found: dict[str, list[str]] = {source["locator"]: [] for source in self.sources}
        for note in self.notes:
            for quote in parse_quotes(note["text"]):
                found[by_id[quote.source_id]].append(quote.text)
        return found


def tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def title(text: str, locator: str) -> str:
    found = re.search(r"^#+ +(.+)$", text, re.MULTILINE)
    return re.sub(r"<[^>]+>", "", found[1]).strip() if found else Path(locator).stem


def fold(text: str) -> str:
    return " ".join(text.split())


def read_folder(folder: Path, pattern: str = "**/*.md") -> dict[str, str]:
    files = sorted(folder.glob(pattern))
    return {str(file.relative_to(folder)): file.read_text(errors="replace") for file in files}


def read_origins(folder: Path) -> dict[str, str]:
    settings = folder / "corpus.toml"
    return (
        dict(re.findall(r'^"([^"]+)" = "([^"]+)"', settings.read_text(), re.MULTILINE))
        if settings.exists()
        else {}
    )
