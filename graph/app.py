"""The graph that a LangGraph server serves; `langgraph.json` names it.

It has no checkpointer, since the server brings its own, and opens its desk at the first run. Environment:
``RESEARCHDESK_HOME`` (the home folder, or the URL of a PostgreSQL desk), ``RESEARCHDESK_CORPUS`` (folders and files,
separated like ``PATH``; the working folder when unset) and ``RESEARCHDESK_MODEL`` (``offline`` when unset).
"""

import os

from researchdesk.graph.research import create_research_graph

graph = create_research_graph(
    corpus=[path for path in os.environ.get("RESEARCHDESK_CORPUS", ".").split(os.pathsep) if path],
    model=os.environ.get("RESEARCHDESK_MODEL", "offline"),
)
