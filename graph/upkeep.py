"""What code does before a turn: failed searches of challenges are made again, the notes keep their size."""

import random
import time
from dataclasses import replace

from researchdesk.graph.driver import Driver
from researchdesk.graph.inquiry import search_state
from researchdesk.state import events as ev
from researchdesk.state.challenges import Challenge
from researchdesk.state.consolidation import consolidated
from researchdesk.state.investigation_diff import diff
from researchdesk.state.limits import SEARCH_RESULTS
from researchdesk.state.workspace import Workspace

SEARCH_TRIES = 3
BACKOFF_SECONDS = 1.0


def tidy(driver: Driver) -> None:
    """Do what is due before the next prompt is built; nothing in a stage that is to end."""
    workspace = driver.session.workspace
    if driver.run.stage != "knowledge_base" or driver.budget.stop(workspace, next_tokens=0):
        return
    _repeat_failed_searches(driver)
    driver.session.record_decided(_consolidation)


def _repeat_failed_searches(driver: Driver) -> None:
    """Make the searches again that failed for an open challenge, each time later; then it is the model's to close."""
    for number in range(1, SEARCH_TRIES):
        failed = [c for c in driver.session.challenges.open if 0 < _failures(driver, c) <= number]
        if not failed:
            continue  # a run that was killed between two tries goes on with the next one
        time.sleep(random.uniform(0.5, 1.0) * BACKOFF_SECONDS * 2 ** (number - 1))
        for challenge in failed:
            driver.session.call(
                "search_sources",
                {"query": challenge.query, "limit": min(10, SEARCH_RESULTS)},
                tool_call_id=f"code:{driver.session.workspace.seq}",
            )
            driver.show_new_events()


def _failures(driver: Driver, challenge: Challenge) -> int:
    """How often the search of a challenge failed; 0 once it ran."""
    frontier = driver.session.frontier
    if search_state(frontier, challenge) != "failed":
        return 0
    return sum(attempt.challenge_id == challenge.id for attempt in frontier.attempts.values())


def _consolidation(workspace: Workspace) -> tuple[ev.Event, ...]:
    now, run = workspace.investigation, workspace.run
    if now is None or run is None:
        return ()
    notes = consolidated(now.notes, run.limits.notes_max_tokens)
    return () if notes is now.notes else diff(now, replace(now, notes=notes), (), "consolidation")
