"""A chat model that answers from a script; a script that researches, and the pages that it reads."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from researchdesk.state.envelopes import open_envelope
from researchdesk.state.limits import LIMITS
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.scripted import ScriptedSource

View = dict[str, Any]
Answer = AIMessage | BaseException
Script = Sequence[Answer] | Callable[[View], Answer]
QUESTION = "Why is the sky blue?"
QUOTES = {
    "https://sky.org/blue": "The sky is blue because of Rayleigh scattering.",
    "https://air.net/light": "Shorter waves scatter more, by the fourth power.",
    "https://sea.edu/water": "The sea reflects the sky and absorbs red light.",
}


class ScriptedModel(BaseChatModel):
    """Answers by a function of the view, or item by item; keeps nothing between calls.

    The item of a list is chosen by the number of requests before it, which the view tells; an exception is raised.
    """

    script: Any
    steps: int = LIMITS["quick"].step_cap

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        assert kwargs.get("tools"), "no tools were bound"
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages)
        chunk = ChatGenerationChunk(
            message=AIMessageChunk(
                content=answer.content,
                tool_call_chunks=[
                    tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=at)
                    for at, call in enumerate(answer.tool_calls)
                ],
                usage_metadata=answer.usage_metadata,
                response_metadata=answer.response_metadata,
                chunk_position="last",
            )
        )
        if run_manager:
            run_manager.on_llm_new_token(str(answer.content), chunk=chunk)
        yield chunk

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        opened = open_envelope(str(messages[-1].content))
        assert opened is not None
        view: View = json.loads(opened.body)
        asked = self.steps - view["budget"]["steps_left"]
        answer: Answer = self.script(view) if callable(self.script) else self.script[asked]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def says(*calls: dict[str, Any], text: str = "", **more: Any) -> AIMessage:
    """An answer with these calls, under ids of their own unless they bring one."""
    numbered = [{"id": f"call_{n}", "type": "tool_call", **call} for n, call in enumerate(calls, start=1)]
    usage = UsageMetadata(input_tokens=1_000, output_tokens=100, total_tokens=1_100)
    reason = {"finish_reason": "tool_calls" if calls else "stop"}
    return AIMessage(
        **{
            "content": text,
            "tool_calls": numbered,
            "usage_metadata": usage,
            "response_metadata": reason,
            **more,
        }
    )


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    """One call; what is not given is filled in by the door."""
    return {"name": tool, "args": arguments}


def save(role: str, name: str, content: str = "", /, **more: Any) -> dict[str, Any]:
    """A call that saves an artifact."""
    return call("deep_research_save_artifact", role=role, name=name, content=content, **more)


def researcher(view: View) -> AIMessage:
    """Researches the sky from start to end; each answer follows from the view alone."""
    return _gather(view) if view["stage"] == "knowledge_base" else _write(view)


def _gather(view: View) -> AIMessage:
    sources = view["sources"]
    if not view["searches"]:
        return says(call("search_sources", query="sky"))
    if not sources:
        return says(*(call("archive_source", locator=locator) for locator in QUOTES))
    unnoted = [source for source in sources if not source["noted"]]
    if unnoted:
        return says(note(*unnoted))
    if view["question"]:
        return says(resolve(view))
    return says(checkpoint())


def note(*sources: dict[str, Any]) -> dict[str, Any]:
    """A call that notes what each source says as a claim."""
    entries = [_claim(source["source_id"], QUOTES[source["locator"]]) for source in sources]
    return call("notes_append", section="Unverified", entries=entries)


def _claim(source_id: str, quote: str) -> dict[str, Any]:
    return {
        "kind": "claim",
        "text": quote,
        "links": [{"source_id": source_id, "stance": "supports", "quote": quote}],
    }


def resolve(view: View) -> dict[str, Any]:
    """A call that answers the question in progress from all claims."""
    return call(
        "resolve_question",
        question_id=view["question"]["id"],
        answer="Scattering.",
        claim_ids=[claim["id"] for claim in view["claims"]],
        reason="A script cannot doubt.",
    )


def checkpoint(**more: Any) -> dict[str, Any]:
    """A call that asks for the report's stage."""
    given = {"round": 1, "stage": "report_writing", "status": "active", "summary": "All is read."}
    return call("deep_research_checkpoint", **{**given, **more})


def _write(view: View) -> AIMessage:
    first = view["sources"][0]
    parents = {"source_artifact_ids": [first["artifact_id"]]}
    sections = [section for section in view["sections"] if section["status"] != "completed"]
    if not view["outline_artifact_id"]:
        return says(save("outline", "Outline", "Scattering, then the sea.", **parents))
    if sections:
        done = {"report_section_status": "completed"}
        return says(
            *(
                save(
                    "report_section",
                    s["title"],
                    f"{s['title']}: {_statement(view)}",
                    report_section_key=s["key"],
                    **done,
                )
                for s in sections
            )
        )
    if not view["report_artifact_id"]:
        return says(save("report", "Report", **parents), save("handoff", "Handoff", "Look up.", **parents))
    return says(
        call(
            "deep_research_complete",
            report_artifact_id=view["report_artifact_id"],
            handoff_artifact_id=view["handoff_artifact_id"],
            implementation_tasks=["measure"],
            recommended_issues=["sunsets"],
            verification_commands=["look up"],
        )
    )  # fmt: skip


def _statement(view: View) -> str:
    claim = view["claims"][0]
    return f'"{claim["links"][0]["quote"]}" [{claim["id"]}]'


def scripted_source(**more: Any) -> ScriptedSource:
    """Three pages about the sky, found by one query."""
    hits = [
        Hit(
            locator=url,
            title=url[8:],
            snippet=text,
            start=0,
            score=1.0 - n / 10,
            origin=url[8:15],
            media_type="text/html",
        )
        for n, (url, text) in enumerate(QUOTES.items())
    ]
    pages = {url: f"# {url[8:]}\n\n{text} And more is known.\n" for url, text in QUOTES.items()}
    return ScriptedSource(searches={"sky": hits}, pages=pages, **more)


def sky() -> Sources:
    """The pages as the place to search and read."""
    source = scripted_source()
    return Sources(providers=(source,), fetchers=(source,))
