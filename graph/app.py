"""The graphs that a LangGraph server serves; `langgraph.json` and `langgraph.server.json` name them.

They have no checkpointer, since the server brings its own, and open their desk at the first run. Environment:
``RESEARCHDESK_HOME`` (the home folder, or the URL of a PostgreSQL desk), ``RESEARCHDESK_CORPUS`` (folders and files,
separated like ``PATH``), ``RESEARCHDESK_WEB`` (search providers, separated by commas) and ``RESEARCHDESK_MODEL``
(``offline`` when unset). Where neither corpus nor web is named, the working folder is the corpus.
``RESEARCHDESK_ACTOR`` is who approves changes of the desk by answering a question, ``human:me`` when unset.
"""

import os

from researchdesk.graph.desk.chat import create_desk_graph
from researchdesk.graph.research import create_research_graph


def _named(variable: str, separator: str) -> list[str]:
    return [part.strip() for part in os.environ.get(variable, "").split(separator) if part.strip()]


_web = _named("RESEARCHDESK_WEB", ",")
graph = create_research_graph(
    corpus=_named("RESEARCHDESK_CORPUS", os.pathsep) or ([] if _web else ["."]),
    web=_web,
    model=os.environ.get("RESEARCHDESK_MODEL") or "offline",
)
desk_graph = create_desk_graph(
    model=os.environ.get("RESEARCHDESK_MODEL") or "offline",
    approval="wait",
    approver=os.environ.get("RESEARCHDESK_ACTOR") or "human:me",
    # Agent Chat UI and AG-UI's adapter answer without the id of the question.
    answers="any",
)
