"""Taking a folder off the desk with all that is in it."""

import pytest

from researchdesk.state.errors import NotFound, Refusal
from researchdesk.tools.files import NewFile
from researchdesk.tools.workspace import Desk

ANN = "human:ann"
PATHS = ("plans/a.md", "plans/old/b.md", "plans.md")


@pytest.fixture
def full(desk: Desk) -> Desk:
    desk.files.put_all([NewFile(path=path, content=path) for path in PATHS], actor=ANN)
    desk.files.put("plans/old/empty", actor=ANN, kind="folder")
    return desk


def test_a_folder_goes_as_one_change_and_is_named_by_the_path_of_what_is_in_it(full: Desk) -> None:
    before = full.ledger.head("desk:main").count
    gone = full.files.remove_all("plans", actor=ANN)
    assert [file.path for file in gone] == ["plans/a.md", "plans/old/b.md", "plans/old/empty"]
    assert all(file.deleted and file.updated_by == ANN for file in gone)
    assert [file.path for file in full.files.listed()] == ["plans.md"]
    assert full.ledger.head("desk:main").count == before + 3
    assert full.verify().ok


def test_a_folder_with_a_file_of_its_own_goes_too_and_all_comes_back(full: Desk) -> None:
    gone = full.files.remove_all("plans/old", actor=ANN)
    for file in gone:
        full.files.restore(full.files.revisions(file.id)[0].id, actor=ANN)
    assert [(file.path, full.files.read(file.id)) for file in full.files.listed("plans/old")] == [
        ("plans/old/b.md", "plans/old/b.md"),
        ("plans/old/empty", ""),
    ]
    folder = full.files.get("plans/old/empty")
    full.files.put("plans/old/empty/c.md", "c", actor=ANN)
    assert [file.path for file in full.files.remove_all(folder.id, actor=ANN)] == [
        "plans/old/empty",
        "plans/old/empty/c.md",
    ]


def test_a_file_alone_goes_alone(full: Desk) -> None:
    assert [file.path for file in full.files.remove_all("plans.md", actor=ANN)] == ["plans.md"]
    assert len(full.files.listed()) == 3


def test_nothing_goes_where_there_is_no_such_folder_or_an_agent_asks(full: Desk) -> None:
    folder = full.files.get("plans/old/empty")
    full.files.remove(folder.id, actor=ANN)
    for name in ("elsewhere", folder.id, ""):
        with pytest.raises(NotFound):
            full.files.remove_all(name, actor=ANN)
    with pytest.raises(Refusal, match="changes files through its tools alone"):
        full.files.remove_all("plans", actor="agent:s1")
    assert len(full.files.listed()) == 3
