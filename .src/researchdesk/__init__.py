"""researchdesk: durable, auditable deep research as LangGraph workflows.

Importing it is cheap: LangGraph, LangChain and the databases are loaded when something that needs them is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from researchdesk.graph.bundles import verify_bundle as verify_bundle
    from researchdesk.graph.desk.chat import create_desk_graph as create_desk_graph
    from researchdesk.graph.middleware.desk import DeskMiddleware as DeskMiddleware
    from researchdesk.graph.middleware.research import ResearchMiddleware as ResearchMiddleware
    from researchdesk.graph.models import resolve_model as resolve_model
    from researchdesk.graph.research import create_research_graph as create_research_graph
    from researchdesk.graph.runner import RunResult as RunResult
    from researchdesk.graph.runner import aresume_research as aresume_research
    from researchdesk.graph.runner import arun_research as arun_research
    from researchdesk.graph.runner import resume_research as resume_research
    from researchdesk.graph.runner import run_research as run_research
    from researchdesk.graph.tools import create_desk_tools as create_desk_tools
    from researchdesk.graph.tools import create_research_tools as create_research_tools
    from researchdesk.graph.waiting import queue_research as queue_research
    from researchdesk.state.desk.panels import PanelType as PanelType
    from researchdesk.state.desk.policies import Policies as Policies
    from researchdesk.state.errors import Conflict as Conflict
    from researchdesk.state.errors import IntegrityError as IntegrityError
    from researchdesk.state.errors import LeaseLost as LeaseLost
    from researchdesk.state.errors import LedgerCorrupt as LedgerCorrupt
    from researchdesk.state.errors import NotFound as NotFound
    from researchdesk.state.errors import Refusal as Refusal
    from researchdesk.state.errors import ResearchdeskError as ResearchdeskError
    from researchdesk.state.errors import SessionBusy as SessionBusy
    from researchdesk.state.errors import Unavailable as Unavailable
    from researchdesk.state.errors import UsageError as UsageError
    from researchdesk.state.prices import Price as Price
    from researchdesk.state.templates import Template as Template
    from researchdesk.state.templates import register_template as register_template
    from researchdesk.stores.transfer import Copied as Copied
    from researchdesk.stores.transfer import CopyProgress as CopyProgress
    from researchdesk.stores.verify import VerifyReport as VerifyReport
    from researchdesk.tools.door import Session as Session
    from researchdesk.tools.door import ToolResult as ToolResult
    from researchdesk.tools.sources.gathering import Sources as Sources
    from researchdesk.tools.sources.ports import Fetcher as Fetcher
    from researchdesk.tools.sources.ports import SearchProvider as SearchProvider
    from researchdesk.tools.sources.providers.mcp import from_mcp_fetch_tool as from_mcp_fetch_tool
    from researchdesk.tools.sources.providers.mcp import from_mcp_tool as from_mcp_tool
    from researchdesk.tools.sources.providers.naming import make_providers as make_providers
    from researchdesk.tools.sources.providers.retriever import from_retriever as from_retriever
    from researchdesk.tools.workspace import Desk as Desk
    from researchdesk.tools.workspace import open_desk as open_desk

_HOMES = {
    "graph.bundles": ("verify_bundle",),
    "graph.desk.chat": ("create_desk_graph",),
    "graph.middleware.desk": ("DeskMiddleware",),
    "graph.middleware.research": ("ResearchMiddleware",),
    "graph.models": ("resolve_model",),
    "graph.research": ("create_research_graph",),
    "graph.runner": ("RunResult", "aresume_research", "arun_research", "resume_research", "run_research"),
    "graph.tools": ("create_desk_tools", "create_research_tools"),
    "graph.waiting": ("queue_research",),
    "state.desk.panels": ("PanelType",),
    "state.desk.policies": ("Policies",),
    "state.errors": (
        *(
            "Conflict",
            "IntegrityError",
            "LeaseLost",
            "LedgerCorrupt",
            "NotFound",
            "Refusal",
            "ResearchdeskError",
        ),
        *("SessionBusy", "Unavailable", "UsageError"),
    ),
    "state.prices": ("Price",),
    "state.templates": ("Template", "register_template"),
    "stores.transfer": ("Copied", "CopyProgress"),
    "stores.verify": ("VerifyReport",),
    "tools.door": ("Session", "ToolResult"),
    "tools.sources.gathering": ("Sources",),
    "tools.sources.ports": ("Fetcher", "SearchProvider"),
    "tools.sources.providers.mcp": ("from_mcp_fetch_tool", "from_mcp_tool"),
    "tools.sources.providers.naming": ("make_providers",),
    "tools.sources.providers.retriever": ("from_retriever",),
    "tools.workspace": ("Desk", "open_desk"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    """The public names, each loaded from its module at first use; ``__version__`` is read from the metadata."""
    if name == "__version__":
        from importlib.metadata import version

        return version("researchdesk")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'researchdesk' has no attribute '{name}'")
    return getattr(import_module(f"researchdesk.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
