"""Programs are quoted by what they say to a reader; subjects are known under the names that documents give them."""

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.graph.offline.aliases import aliases
from researchdesk.graph.offline.programs import code_sentences, is_program
from researchdesk.graph.offline.terms import Vocabulary

PROGRAM = '''"""Keeps a ledger, so that a killed run goes on where it stopped."""

import os
from pathlib import Path


class Ledger:
    """An append-only file of events.

    Args:
        path: where the events are written to.
    """

    def append(self, event):
        # Each event is flushed before the next one begins.
        os.write(self.file, event)
        return "a killed run goes on"
'''


def test_only_documentation_and_comments_of_a_program_can_be_quoted() -> None:
    assert [(one.heading, one.text) for one in code_sentences(PROGRAM)] == [
        ("", "Keeps a ledger, so that a killed run goes on where it stopped."),
        ("Ledger", "An append-only file of events."),
        ("append", "Each event is flushed before the next one begins."),
    ]


def test_a_program_is_known_by_its_extension() -> None:
    assert [is_program(name) for name in ("file:a/b.py", "file:README.md", "https://x.org/a")] == [
        True,
        False,
        False,
    ]


@given(st.text(alphabet='ab .#"\n:(=_é', max_size=300))
def test_every_sentence_of_a_program_is_an_exact_slice(text: str) -> None:
    assert all(text[one.start : one.end] == one.text for one in code_sentences(text))


def test_other_names_are_learned_from_what_documents_say() -> None:
    texts = [
        "A Memorized Secret authenticator — commonly referred to as a _password_ or a PIN — is a secret.",
        "Users type the memorized secret (commonly referred to as a password).",
        "Credential stuffing, also known as password spraying, is common.",
    ]
    assert aliases(["password"], texts, Vocabulary("english")) == ["memorized secret"]
