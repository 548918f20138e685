"""Answering at a desk by rules: a file that is named is read, files are listed, everything else is searched for."""

import re
from collections.abc import Collection, Sequence

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from researchdesk.graph.offline.calls import Call
from researchdesk.graph.offline.language import STOP_WORDS, language_of
from researchdesk.graph.offline.terms import words
from researchdesk.state.envelopes import open_envelope

BY_RULES = (
    "No language model is used: the embedded offline model lists, reads and searches the files of this desk by rules, "
    "and changes nothing."
)
_PATH = re.compile(r"\"([^\"\n]{1,240})\"|'([^'\n]{1,240})'|((?:[\w.-]+/)*[\w.-]+\.(?:md|csv))\b")
_LISTING = re.compile(r"\b(list|files?|folders?|what is (?:here|there))\b", re.IGNORECASE)
_HEADS = {
    "desk_list_files": "These files are here:",
    "desk_read_file": "This is what it says:",
    "desk_search_content": "These places hold the words:",
}
SEARCH_WORDS = 12
SHOWN_CHARS = 4_000


def at_desk(messages: Sequence[BaseMessage], *, offered: Collection[str]) -> tuple[list[Call], str]:
    """The call that the last message asks for, or the answer from what calls since then gave."""
    place = max((n for n, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    results = [message for message in messages[place + 1 :] if isinstance(message, ToolMessage)]
    if results:
        return [], "\n\n".join([BY_RULES, *map(_told, results)])
    call = _wanted(str(messages[place].text)) if place >= 0 else None
    if call is None or call.tool not in offered:
        return [], f"{BY_RULES} Ask for a file by its path, for the list of files, or for words to look for."
    return [call], ""


def _wanted(text: str) -> Call | None:
    named = _PATH.search(text)
    if named:
        path = next(group for group in named.groups() if group)
        return Call("desk_read_file", {"file": path, "from_line": 0, "max_lines": 0, "range": ""})
    if _LISTING.search(text):
        return Call("desk_list_files", {"folder": "", "depth": 0})
    stop = STOP_WORDS[language_of(text)]
    query = " ".join([word for word in words(text) if word not in stop][:SEARCH_WORDS])
    if not query:
        return None
    return Call("desk_search_content", {"query": query, "folder": "", "max_results": 0})


def _told(message: ToolMessage) -> str:
    text = str(message.text)
    opened = open_envelope(text)
    if opened is None:
        return text
    return f"{_HEADS.get(message.name or '', 'Found:')}\n\n{opened.body[:SHOWN_CHARS].rstrip()}"
