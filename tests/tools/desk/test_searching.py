"""The places that a search over the desk's files gives, best first, and where they can be read on."""

from researchdesk.state.desk.hits import DeskHit
from researchdesk.tools.desk.searching import SNIPPET_CHARS
from researchdesk.tools.workspace import Desk

from .conftest import ANN, Model

LONG = "Wasser " * 400 + "Gezeiten und Mond " + "Wasser " * 400


def paths(hits: list[DeskHit]) -> list[str]:
    return list(dict.fromkeys(hit.path for hit in hits))


def test_a_search_leads_to_the_line_that_reading_begins_with(desk: Desk, model: Model) -> None:
    desk.files.put("long.md", f"# Title\n{LONG}\nThe end of the tides.\n", actor=ANN)
    for query, word in (("Gezeiten", "Gezeiten"), ("tide end", "tides")):
        hit = desk.files.search(query)[0]
        assert word in hit.snippet and len(hit.snippet) <= SNIPPET_CHARS
        read = model.ok("desk_read_file", file="long.md", from_line=hit.line, max_lines=1)
        assert word in read.text


def test_a_file_gives_several_places_where_there_is_room(desk: Desk) -> None:
    desk.files.put("a.md", "tide\n" + ("filling\n" * 60 + "tide\n") * 4, actor=ANN)
    assert [hit.line for hit in desk.files.search("tide")] == [1, 62, 123]
    for number in range(9):
        desk.files.put(f"b{number}.md", "A tide, once.", actor=ANN)
    assert len(desk.files.search("tide", limit=10)) == 10
    assert len(paths(desk.files.search("tide", limit=10))) == 10
    assert len(desk.files.search("tide", limit=2)) == 2


def test_a_file_that_answers_by_its_path_is_shown_by_its_beginning(desk: Desk) -> None:
    desk.files.put("notes/budget.md", "\n\n  Nothing else.\n", actor=ANN)
    desk.files.put("empty-budget.csv", "", actor=ANN)
    hits = {hit.path: (hit.line, hit.ref, hit.snippet) for hit in desk.files.search("budget")}
    assert hits == {"notes/budget.md": (1, "", "Nothing else."), "empty-budget.csv": (1, "", "")}


def test_a_cell_is_found_by_what_it_holds(desk: Desk) -> None:
    desk.files.put("s.csv", 'city,"a, ""quoted""\ncell"\nKöln,研究費\nBonn,=B2*2\n', actor=ANN)
    found = {
        query: [(hit.ref, hit.snippet) for hit in desk.files.search(query)]
        for query in ("koln", "研究", "=b2*", "quoted cell")
    }
    assert found == {
        "koln": [("A2", "Köln")],
        "研究": [("B2", "研究費")],
        "=b2*": [("B3", "=B2*2")],
        "quoted cell": [("B1", 'a, "quoted" cell')],
    }


def test_a_folder_is_searched_at_any_depth_and_in_any_spelling(desk: Desk) -> None:
    for path in ("Notes/a.md", "Notes/deep/er/b.md", "Notes2/c.md", "d.md"):
        desk.files.put(path, "the same words", actor=ANN)
    assert set(paths(desk.files.search("same", folder="notes"))) == {"Notes/a.md", "Notes/deep/er/b.md"}
    assert paths(desk.files.search("same", folder="notes/DEEP")) == ["Notes/deep/er/b.md"]
    assert desk.files.search("same", folder="nothing") == []
    assert len(desk.files.search("same")) == 4


def test_what_is_found_has_the_version_that_stands_and_no_secret(desk: Desk) -> None:
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    first = desk.files.put("keys.md", f"the key is {secret} for now", actor=ANN)
    (hit,) = desk.files.search("key")
    assert hit.version == first.content_hash and secret not in hit.snippet
    assert secret not in "".join(hit.snippet for hit in desk.files.search(secret))
    second = desk.files.save("keys.md", "the key is gone", actor=ANN, if_match=first.content_hash)
    assert [(hit.version, hit.snippet) for hit in desk.files.search("key")] == [
        (second.content_hash, "the key is gone")
    ]
    desk.files.remove("keys.md", actor=ANN, if_match=second.content_hash)
    assert desk.files.search("key") == []
