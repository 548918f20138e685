"""Pictures of what a run did: each function takes a desk or a session and gives a `Plot`.

They need the extra ``plots`` (Altair, and vl-convert which draws without a browser).
"""

try:
    import altair as _altair  # noqa: F401
    import vl_convert as _vl_convert  # noqa: F401
except ImportError as problem:
    raise ImportError(
        f"plots need what is not installed here ({problem}); install it with: pip install 'researchdesk[plots]'"
    ) from None

from researchdesk.evals.plots.claims import plot_claims as plot_claims
from researchdesk.evals.plots.cost import plot_cost as plot_cost
from researchdesk.evals.plots.coverage import plot_coverage as plot_coverage
from researchdesk.evals.plots.frontier import plot_frontier as plot_frontier
from researchdesk.evals.plots.plot import Plot as Plot
from researchdesk.evals.plots.sources import plot_sources as plot_sources
from researchdesk.evals.plots.timeline import plot_timeline as plot_timeline
