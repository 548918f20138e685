"""A run that nobody disturbs, made once for all tests that compare others with it."""

from dataclasses import dataclass

import pytest

from researchdesk.graph.runner import run_research
from researchdesk.tools.workspace import open_desk

from .commands import QUESTION, shape, write_documents


@dataclass(frozen=True)
class Undisturbed:
    """What happened in a quick run about passwords.

    Args:
        shape: as `commands.shape` has it.
        answers: how many requests were answered.
    """

    shape: list[str]
    answers: int


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    corpus = write_documents(folder / "corpus")
    with open_desk(folder / "home") as desk:
        run_research(desk, QUESTION, corpus=[corpus], scope="quick", session_id="r1")
        kinds = [event.type for event in desk.existing("r1").events()]
        return Undisturbed(shape=shape(desk, "r1"), answers=kinds.count("model_answered"))
