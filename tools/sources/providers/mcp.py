"""Search and fetch tools of MCP servers, as LangChain tools, made a search provider and a fetcher (extra ``mcp``)."""

import asyncio
import json
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import TimeoutError as FutureLate
from functools import lru_cache
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from researchdesk.state.limits import ARCHIVED_CHARS
from researchdesk.state.locators import host_of, is_reserved_host, is_web, parse_locator
from researchdesk.tools.sources.domains import registrable_domain, suffix_list
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchFailed, SearchOutcome
from researchdesk.tools.sources.providers.deadline import Late, within
from researchdesk.tools.sources.providers.exchange import MAX_BYTES, TIMEOUT
from researchdesk.tools.sources.providers.service import MOST_RECORDS, ranked, web_hit
from researchdesk.tools.sources.web.addresses import Addresses

if TYPE_CHECKING:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool

Result = TypeVar("Result")

_URLS = ("url", "link", "href", "uri")
_TITLES = ("title", "name", "heading")
_SNIPPETS = ("snippet", "content", "description", "text", "body", "summary", "excerpt")
_QUERIES = ("query", "q", "search", "search_query", "question", "text")
_LIMITS = ("limit", "max_results", "num_results", "count", "numResults", "maxResults", "top_k")
_ADDRESSES = ("url", "uri", "link", "locator", "urls")
_URL = re.compile(r"https?://[^\s<>\"'`\])}]{1,4096}")
_LINK = re.compile(r"\[([^\]\n]{1,300})\]\((https?://[^\s)]{1,4096})\)")
_LABEL = re.compile(r"^[\s*#\-\d.)]*(title|url|link|source)\**\s*:\s*", re.IGNORECASE)
_DEEP = 6
_PROSE_CHARS = 400_000


class ToolSearch:
    """What `from_mcp_tool` makes."""

    def __init__(
        self, tool: "BaseTool", *, name: str, timeout: float, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self.name = name or tool.name
        self._tool = tool
        self._timeout = timeout
        self._loop = loop

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Call the tool and read pages from what it answers, whether JSON or text. Raises: SearchFailed."""
        try:
            message = _called(self._tool, self._arguments(query, limit), self._timeout, self._loop)
        except (Late, FutureLate):
            text = f"The tool {self.name} did not answer within {self._timeout:g} seconds."
            raise SearchFailed("search_timeout", text) from None
        except Exception as problem:
            text = f"The tool {self.name} failed ({type(problem).__name__})."
            raise SearchFailed("search_unavailable", text) from None
        answer = _text(message)
        if message.status == "error":
            raise SearchFailed("search_unavailable", f"The tool {self.name} failed: {answer[:200]}")
        if len(answer) > MAX_BYTES:
            text = f"The tool {self.name} answered with {len(answer):,} characters; at most {MAX_BYTES:,} are read."
            raise SearchFailed("search_unavailable", text, transient=False)
        hits = ranked(_hits(_structure(message, answer), answer))
        return SearchOutcome(provider=self.name, hits=hits[: max(0, limit)], total=len(hits))

    def _arguments(self, query: str, limit: int) -> dict[str, Any]:
        known = self._tool.args
        given: dict[str, Any] = {_argument(self._tool, _QUERIES): query}
        given.update({name: limit for name in _LIMITS if name in known})
        return given


class ToolFetch:
    """What `from_mcp_fetch_tool` makes."""

    def __init__(
        self, tool: "BaseTool", *, name: str, timeout: float, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self.name = name or tool.name
        self._tool = tool
        self._timeout = timeout
        self._loop = loop

    def accepts(self, locator: str) -> bool:
        """Say whether it is a web page."""
        return is_web(locator)

    def fetch(self, locator: str) -> Fetched:
        """Let the tool read the page; its text is what the tool made of it, and the receipt says so.

        Raises:
            FetchRefused: ``fetch_unsafe`` for an address that is not public, before the tool is asked;
                ``fetch_timeout``, ``fetch_not_found``, ``fetch_blocked``, ``fetch_too_large``, ``fetch_empty`` and
                ``fetch_unreadable`` by what the tool says.
        """
        url = str(parse_locator(locator))
        host = host_of(url)
        if is_reserved_host(host):
            raise FetchRefused("fetch_unsafe", f"{host} is a name that nobody publishes under.")
        Addresses().check_written(host, urlsplit(url).port or 443)
        argument = _argument(self._tool, _ADDRESSES)
        given = [url] if self._tool.args.get(argument, {}).get("type") == "array" else url
        try:
            message = _called(self._tool, {argument: given}, self._timeout, self._loop)
        except (Late, FutureLate):
            text = f"The tool {self.name} did not answer within {self._timeout:g} seconds."
            raise FetchRefused("fetch_timeout", text) from None
        except Exception as problem:
            text = f"The tool {self.name} failed ({type(problem).__name__})."
            raise FetchRefused("fetch_unreadable", text) from None
        text = _text(message)
        if message.status == "error":
            raise FetchRefused(_fetch_code(text), f"The tool {self.name} did not read it: {text[:200]}")
        if not text.strip():
            raise FetchRefused("fetch_empty", f"The tool {self.name} gave no text for {url[:200]}.")
        if len(text) > ARCHIVED_CHARS:
            raise FetchRefused("fetch_too_large", f"The text has {len(text):,} characters.")
        return _fetched(text, requested=locator, url=url, name=self.name)


def from_mcp_tool(
    tool: "BaseTool",
    *,
    name: str = "",
    timeout: float = TIMEOUT,
    loop: asyncio.AbstractEventLoop | None = None,
) -> ToolSearch:
    """Make a search tool a search provider: one of an MCP server, or any LangChain tool that takes a query.

    Args:
        tool: as ``await MultiServerMCPClient(…).get_tools()`` gives them; async tools are run from threads safely.
        name: how records name it; by default the tool's own name.
        timeout: seconds for one search.
        loop: the running event loop of the session that the tool belongs to, where it belongs to one
            (``load_mcp_tools(session)``); by default a loop of an own thread, which tools of ``get_tools()`` take.
    """
    return ToolSearch(tool, name=name, timeout=timeout, loop=loop)


def from_mcp_fetch_tool(
    tool: "BaseTool",
    *,
    name: str = "",
    timeout: float = TIMEOUT,
    loop: asyncio.AbstractEventLoop | None = None,
) -> ToolFetch:
    """Make a tool that reads web pages a fetcher; the arguments are those of `from_mcp_tool`.

    The bytes that are archived are the text that the tool gave: the page itself was not seen.
    """
    return ToolFetch(tool, name=name, timeout=timeout, loop=loop)


def _called(
    tool: "BaseTool", arguments: dict[str, Any], timeout: float, loop: asyncio.AbstractEventLoop | None
) -> "ToolMessage":
    call = {"type": "tool_call", "id": uuid4().hex, "name": tool.name, "args": arguments}
    if getattr(tool, "coroutine", None) is None and loop is None:
        return within(timeout, lambda: _message(tool.invoke(call)))
    return _message(_awaited(tool.ainvoke(call), timeout, loop or _own_loop()))


def _message(answer: Any) -> "ToolMessage":
    from langchain_core.messages import ToolMessage

    if not isinstance(answer, ToolMessage):
        raise TypeError(f"a tool answered with {type(answer).__name__}")
    return answer


def _awaited(work: Coroutine[Any, Any, Result], timeout: float, loop: asyncio.AbstractEventLoop) -> Result:
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result(timeout)
    except FutureLate:
        future.cancel()
        raise


@lru_cache(maxsize=1)
def _own_loop() -> asyncio.AbstractEventLoop:
    """One event loop of this process in a thread of its own, so that a caller's running loop does not matter."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="tools", daemon=True).start()
    return loop


def _argument(tool: "BaseTool", names: tuple[str, ...]) -> str:
    """The tool's argument of one of these names, else its first."""
    known = list(tool.args)
    return next((name for name in names if name in known), known[0] if known else names[0])


def _text(message: "ToolMessage") -> str:
    content = message.content
    if isinstance(content, str):
        return content
    blocks = (block if isinstance(block, str) else block.get("text", "") for block in content)
    return "\n".join(block for block in blocks if isinstance(block, str))


def _structure(message: "ToolMessage", answer: str) -> Any:
    """What the tool gave as data: its structured content, else its text where that is JSON; None for neither."""
    artifact = message.artifact
    structured = artifact.get("structured_content") if isinstance(artifact, dict) else None
    if structured and any(_records(structured)):
        return structured
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return None


def _hits(structure: Any, answer: str) -> Iterator[Hit | None]:
    found = _records(structure) if structure is not None else _paragraphs(answer[:_PROSE_CHARS])
    for rank, record in enumerate(islice(found, MOST_RECORDS), start=1):
        yield web_hit(
            _named(record, _URLS),
            heading=_named(record, _TITLES),
            snippet=_named(record, _SNIPPETS),
            rank=rank,
        )


def _records(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every object that has an address, in order; texts that hold JSON are looked into."""
    if depth > _DEEP:
        return
    if isinstance(value, dict):
        if _named(value, _URLS):
            yield value
            return
        value = list(value.values())
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
        yield from _records(value, depth + 1)
    if isinstance(value, list):
        for item in value:
            yield from _records(item, depth + 1)


def _named(record: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((record[name] for name in names if isinstance(record.get(name), str) and record[name]), "")


def _paragraphs(answer: str) -> Iterator[dict[str, str]]:
    """Results written as text: a paragraph with a link, or with lines such as ``Title: …`` and ``URL: …``."""
    for paragraph in re.split(r"\n\s*\n", answer):
        link = _LINK.search(paragraph)
        url = link[2] if link else next(iter(_URL.findall(paragraph)), "").rstrip(".,;:")
        if not url:
            continue
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        heading = link[1] if link else next((line for line in lines if url not in line), "")
        rest = [line for line in lines if url not in line and line != heading]
        yield {"url": url, "title": _LABEL.sub("", heading), "snippet": " ".join(rest)}


def _fetch_code(said: str) -> str:
    words = said.lower()
    if "404" in words or "not found" in words:
        return "fetch_not_found"
    if "timeout" in words or "timed out" in words:
        return "fetch_timeout"
    return (
        "fetch_blocked"
        if any(mark in words for mark in ("401", "403", "429", "robots"))
        else "fetch_unreadable"
    )


def _fetched(text: str, *, requested: str, url: str, name: str) -> Fetched:
    domain = registrable_domain(host_of(url))
    return Fetched(
        requested=requested,
        locator=url,
        canonical=url,
        redirects=(),
        status=0,
        media_type="text/markdown",
        charset="utf-8",
        raw=text.encode("utf-8", errors="replace"),
        text=text,
        extractor=f"tool {name}",
        extractor_version="",
        title=None,
        sections=(),
        origin=domain,
        origin_reason=f"registrable domain, {suffix_list()}",
        domain=domain,
        readable=True,
        note=f"the text as the tool {name} gave it; the page itself was not seen",
    )
