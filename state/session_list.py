"""The sessions of a desk in a list."""

from dataclasses import dataclass

from researchdesk.state.desk.markup import table


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """One line about a session: ``objective`` is empty where no research runs in it."""

    session_id: str
    objective: str
    status: str
    stage: str
    stop_reason: str
    sources: int
    created_at: str
    updated_at: str
    driver: str = ""
    """Who drives it at this moment; empty where nobody does."""


class Sessions(list[SessionSummary]):
    """Sessions in a list, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        columns = ("session", "status", "stage", "driver", "sources", "updated", "objective")
        rows = (
            (
                *(one.session_id, f"{one.status} {one.stop_reason}".rstrip(), one.stage, one.driver),
                *(str(one.sources), one.updated_at[:19], one.objective),
            )
            for one in self
        )
        return table(columns, rows, caption=f"Sessions: {len(self)}")
