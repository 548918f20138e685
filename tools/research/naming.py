"""Looking up the artifacts of a run, with a refusal that helps where they are missing."""

from researchdesk.state import events as ev
from researchdesk.state.errors import Refusal
from researchdesk.state.run import ResearchRun


def resolve_artifact(run: ResearchRun, key: str, field: str) -> ev.ArtifactRecorded:
    """The artifact of that id; a source id names its artifact.

    Raises:
        Refusal: ``unknown_artifact``; missing and foreign ones look the same.
    """
    source = run.sources.get(key)
    artifact = run.artifacts.get(source.artifact_id if source else key)
    if artifact is None:
        newest = [item for item, _ in zip(run.newest_artifacts, range(3), strict=False)]
        there = (
            f"the newest of its {len(run.artifacts)} are {', '.join(newest)}" if newest else "it has none yet"
        )
        raise Refusal("unknown_artifact", f"{field}: no artifact '{key}' in this run; {there}.")
    return artifact


def resolve_ids(run: ResearchRun, keys: list[str], field: str) -> tuple[str, ...]:
    """The artifact ids that ``keys`` name, each checked to be in the run."""
    return tuple(dict.fromkeys(resolve_artifact(run, key, field).artifact_id for key in keys))
