"""What every ledger backend promises of its search over the desk's files."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType

import pytest

from researchdesk.state import events as ev
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.files import Cause, ChangeOp, FileKind
from researchdesk.state.ids import DESK_STREAM, content_hash
from researchdesk.state.queries import parse_literal_query
from researchdesk.state.ranks import merged_ranks
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, HeadMoved, Ledger
from researchdesk.stores.replay import extend, nothing_yet, replay
from researchdesk.stores.verify import rebuild, verify

from ..desks import opened

TS = "2026-01-01T00:00:00.000000+00:00"
FILES = {
    "policy": ("notes/password-policy.md", "# Rules\nUsers were choosing weak passphrases.\n"),
    "audit": ("audit.md", "Die Prüfung der Größe war öffentlich.\nThe auditor ran the checks.\n"),
    "study": ("研究/計画.md", "研究方法はとても重要です。\n"),
    "sheet": ("data/costs.csv", "item,price\nNAÏVE café,=SUM(B2:B4)\nC++,100%\n"),
}
BREAKING = {
    "nul": b"before\0after \\000 Gr\xc3\xb6\xc3\x9fe",
    "only-nul": b"\0",
    "not-utf-8": b"latin \xe9t\xe9 \xff\xfe readable",
    "both": b"\xff\0 mixed \\ slash",
    "surrogate": b"half \xed\xa0\x80 character",
    "one-word": b"x" * 100_000,
    "empty": b"",
}


def created(name: str, path: str, body: bytes, *, kind: FileKind = "markdown") -> dv.FileCreated:
    return dv.FileCreated(
        file_id=f"f_{name}",
        path=path,
        kind=kind,
        content_hash=content_hash(body),
        chars=len(body),
        actor="human:me",
        at=TS,
        cause=Cause(),
    )


def changed(name: str, path: str, body: bytes, op: ChangeOp, *, n: int = 1) -> dv.FileChanged:
    return dv.FileChanged(
        file_id=f"f_{name}",
        op=op,
        path=path,
        content_hash=content_hash(body),
        chars=len(body),
        deleted=op == "delete",
        actor="human:me",
        at=TS,
        revision_id=f"r_{name}_{n}",
    )


def of(ledger: Ledger, stream: str, events: Sequence[ev.AnyEvent], *bodies: bytes) -> Append:
    projection = replay(nothing_yet(stream), ledger.read(stream))
    append = extend(projection, events, stream=stream, ts=TS, refs=Refs()).append
    return replace(append, bodies={content_hash(body): body for body in bodies})


def write(ledger: Ledger, events: Sequence[ev.AnyEvent], *bodies: bytes) -> None:
    ledger.append(of(ledger, DESK_STREAM, events, *bodies))


def fill(ledger: Ledger) -> None:
    """Write the four files."""
    bodies = {name: text.encode() for name, (_, text) in FILES.items()}
    kinds: dict[str, FileKind] = {"sheet": "spreadsheet"}
    events = [
        created(name, path, bodies[name], kind=kinds.get(name, "markdown"))
        for name, (path, _) in FILES.items()
    ]
    write(ledger, events, *bodies.values())


def found(ledger: Ledger, text: str, *, limit: int = 10, among: Sequence[str] | None = None) -> list[str]:
    """The names of the files, best first; empty as well where there is nothing to look for."""
    query = parse_literal_query(text)
    if query is None:
        return []
    rankings = ledger.search_files("main", query, among=among, limit=limit)
    assert len(rankings) == 3 and all(len(ids) <= limit for ids in rankings)
    return [file_id.removeprefix("f_") for file_id in merged_ranks(rankings)]


class DeskSearchContract:
    """The promises of `Ledger.search_files`."""

    migrations: ModuleType
    damages: Sequence[str]
    """Statements that change what is indexed behind the ledger's back."""

    @pytest.fixture
    def reopen(self) -> Callable[[], Ledger]:
        """Opens the same store once more, as another process would."""
        raise NotImplementedError

    @pytest.fixture
    def raw(self) -> Callable[[str], None]:
        """Runs one statement past the ledger."""
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, reopen: Callable[[], Ledger]) -> Iterator[Ledger]:
        ledger = reopen()
        yield ledger
        ledger.close()

    # -- what is found ------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("choose", ["policy"]),
            ("choosing", ["policy"]),
            ("CHOICES weak", ["policy"]),
            ("password", ["policy"]),
            ("passphr", ["policy"]),
            ("running checks", ["audit"]),
            ("Prüfung", ["audit"]),
            ("PRÜFUNGEN Prüf", ["audit"]),
            ("prufung", ["audit"]),
            ("ÖFFENTLICH", ["audit"]),
            ("öf", ["audit"]),
            ("ÖF", ["audit"]),
            ("研究", ["study"]),
            ("方法", ["study"]),
            ("重要で", ["study"]),
            ("計画", ["study"]),
            ("the 研究方法", ["study", "audit"]),
            ("naive cafe", ["sheet"]),
            ("=SUM(B2:", ["sheet"]),
            ("c++", ["sheet"]),
            ("++", ["sheet"]),
            ("%", ["sheet"]),
            ("data/costs", ["sheet"]),
            ("zebra", []),
            ("", []),
            (" \n\0 ", []),
        ],
    )
    def test_a_file_is_found_by_stem_by_part_and_by_sign(
        self, ledger: Ledger, query: str, names: list[str]
    ) -> None:
        fill(ledger)
        assert found(ledger, query) == names

    def test_no_query_is_syntax(self, ledger: Ledger) -> None:
        fill(ledger)
        hostile = [
            '"',
            '""',
            "weak OR",
            "NEAR(weak choosing)",
            "path : weak",
            "weak*",
            "-weak",
            "^weak",
            "weak & !users | ( <-> :*",
            "'; DROP TABLE desk_files; --",
            "%_%",
            "\\",
            "weak\0users",
            "\ud800weak",
            "weak " * 2_000,
            "w" * 10_000,
            "研" * 10_000,
            "{weak} [users] $1 %s ?",
        ]
        answers = {query: found(ledger, query) for query in hostile}
        certain = {query for query in hostile if "weak" in query and len(query) < 100}
        assert {query for query, names in answers.items() if names[:1] == ["policy"]} == certain | {
            hostile[-4]
        }
        assert verify(ledger).problems == ()

    def test_the_files_that_count_can_be_named(self, ledger: Ledger) -> None:
        fill(ledger)
        everywhere = "choosing 研究 the café"
        assert set(found(ledger, everywhere)) == set(FILES)
        assert found(ledger, everywhere, among=["f_study", "f_audit", "f_none"]) == ["study", "audit"]
        assert found(ledger, everywhere, among=[]) == []
        query = parse_literal_query(everywhere)
        assert query is not None
        assert ledger.search_files("another", query, limit=10) == [[], [], []]

    def test_what_says_more_comes_first(self, ledger: Ledger) -> None:
        bodies = {
            "named": ("tides.md", b"Water moves twice a day in most places.\n"),
            "about": ("b.md", b"Tides rise. The tide of spring is a high tide, of neaps a low tide.\n"),
            "aside": ("c.md", b"It is said that time and tide wait for no man. " + b"Something else. " * 40),
            **{f"other{n}": (f"o{n}.md", b"Nothing of that kind is said here, %d." % n) for n in range(5)},
        }
        events = [created(name, path, body) for name, (path, body) in bodies.items()]
        write(ledger, events, *(body for _, body in bodies.values()))
        assert found(ledger, "tide") == ["named", "about", "aside"]
        assert found(ledger, "tide", limit=2) == ["named", "about"]
        assert found(ledger, "a high tide of spring")[0] == "about"

    # -- the index follows the files ------------------------------------------------------------------------------

    def test_the_index_follows_every_change_of_a_file(self, ledger: Ledger) -> None:
        old, new = b"first draft", b"second version"
        write(ledger, [created("x", "a.md", old)], old)
        assert (found(ledger, "draft"), found(ledger, "version")) == (["x"], [])
        write(ledger, [changed("x", "a.md", new, "update", n=1)], new)
        assert (found(ledger, "draft"), found(ledger, "version")) == ([], ["x"])
        write(ledger, [changed("x", "moved/elsewhere.md", new, "rename", n=2)])
        assert (found(ledger, "elsewhere"), found(ledger, "version")) == (["x"], ["x"])
        write(ledger, [changed("x", "moved/elsewhere.md", new, "delete", n=3)])
        assert (found(ledger, "elsewhere"), found(ledger, "version")) == ([], [])
        assert verify(ledger).problems == ()
        write(ledger, [changed("x", "back.md", old, "restore", n=4)])
        assert (found(ledger, "back"), found(ledger, "draft"), found(ledger, "version")) == (["x"], ["x"], [])
        assert verify(ledger).problems == ()

    def test_a_file_that_changes_many_times_in_one_append_is_found_as_it_ends(self, ledger: Ledger) -> None:
        texts = [f"stage number {word}".encode() for word in ("alpha", "beta", "gamma")]
        steps = [created("x", "a.md", texts[0])]
        later = [
            changed("x", "a.md", texts[1], "update", n=1),
            changed("x", "b.md", texts[1], "delete", n=2),
            changed("x", "c.md", texts[2], "restore", n=3),
        ]
        write(ledger, [*steps, *later], *texts)
        assert [found(ledger, word) for word in ("alpha", "beta", "gamma")] == [[], [], ["x"]]
        write(
            ledger,
            [changed("x", "c.md", texts[0], "update", n=4), changed("x", "c.md", texts[0], "delete", n=5)],
        )
        assert [found(ledger, word) for word in ("alpha", "beta", "gamma")] == [[], [], []]
        assert verify(ledger).problems == ()

    def test_folders_are_no_files_and_two_files_may_hold_the_same(self, ledger: Ledger) -> None:
        body = b"the very same words"
        folder = replace(created("dir", "meadow", b""), kind="folder", content_hash=content_hash(b""))
        both = [created("one", "meadow/1.md", body), created("two", "2.md", body)]
        write(ledger, [folder, *both], b"", body)
        assert set(found(ledger, "very same")) == {"one", "two"}
        assert found(ledger, "meadow") == ["one"]
        write(ledger, [changed("one", "meadow/1.md", body, "delete")])
        assert found(ledger, "very same") == ["two"]
        assert verify(ledger).problems == ()

    def test_an_append_that_is_refused_leaves_the_index_as_it_was(self, ledger: Ledger) -> None:
        fill(ledger)
        ledger.append(of(ledger, "session:s1", [opened()]))
        late = of(ledger, "session:s1", [ev.RunConfigured()])
        ledger.append(late)
        path, _ = FILES["policy"]
        body = b"something quite different"
        with pytest.raises(HeadMoved):
            ledger.append(of(ledger, DESK_STREAM, [changed("policy", path, body, "update")], body), late)
        assert (found(ledger, "choosing"), found(ledger, "different")) == (["policy"], [])
        assert verify(ledger).problems == ()

    def test_a_snapshot_searches_what_it_sees(self, ledger: Ledger) -> None:
        fill(ledger)
        with ledger.snapshot() as frozen:
            body = b"written meanwhile"
            write(ledger, [created("new", "new.md", body)], body)
            assert (found(frozen, "meanwhile"), found(ledger, "meanwhile")) == ([], ["new"])
            assert found(frozen, "choosing") == ["policy"]

    # -- nothing breaks an append ---------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", BREAKING)
    def test_no_content_breaks_an_append(self, ledger: Ledger, name: str) -> None:
        body = BREAKING[name]
        write(ledger, [created("x", f"{name}.md", body), created("y", "other.md", b"calm")], body, b"calm")
        assert found(ledger, name) == ["x"]
        words = ["readable"] if name == "not-utf-8" else ["after", "größe"] if name == "nul" else []
        assert [found(ledger, word) for word in words] == [["x"]] * len(words)
        write(ledger, [changed("x", "calm.md", b"calm", "update")])
        assert set(found(ledger, "calm")) == {"x", "y"}
        assert verify(ledger).problems == ()
        rebuild(ledger, DESK_STREAM)
        assert set(found(ledger, "calm")) == {"x", "y"}

    def test_of_the_largest_file_the_end_is_found_too(self, ledger: Ledger) -> None:
        dice = random.Random(7)
        lines = (",".join(str(dice.randrange(10**7)) for _ in range(9)) for _ in range(28_000))
        body = "\n".join(lines)[:1_999_900].encode() + "\nlast,Schluß,研究方法,tail word\n".encode()
        write(ledger, [created("x", "numbers.csv", body, kind="spreadsheet")], body)
        for query in ("numbers", "tail word", "schluß", "研究方法", "研究"):
            assert found(ledger, query) == ["x"], query
        write(ledger, [changed("x", "numbers.csv", b"1\n", "update")], b"1\n")
        assert (found(ledger, "numbers"), found(ledger, "tail word")) == (["x"], [])
        assert verify(ledger).problems == ()

    # -- the whole store ------------------------------------------------------------------------------------------

    def test_a_purge_of_a_session_leaves_the_search_as_it_is(self, ledger: Ledger) -> None:
        fill(ledger)
        ledger.append(of(ledger, "session:s1", [opened()]))
        keys = tuple(content_hash(text.encode()) for _, text in FILES.values())
        ledger.append(replace(of(ledger, "session:s1", [ev.RunConfigured()]), drops=keys))
        assert found(ledger, "choosing") == ["policy"]
        assert verify(ledger).problems == ()

    def test_rows_and_index_are_made_anew_together(self, ledger: Ledger) -> None:
        fill(ledger)
        write(ledger, [changed("audit", "audit.md", FILES["audit"][1].encode(), "delete")])
        before = {word: found(ledger, word) for word in ("choosing", "auditor", "研究", "=SUM(")}
        rebuild(ledger, DESK_STREAM)
        assert {word: found(ledger, word) for word in before} == before
        assert before["choosing"] == ["policy"] and before["auditor"] == []
        assert verify(ledger).problems == ()

    def test_an_index_of_something_else_is_a_fault_that_a_rebuild_mends(
        self, ledger: Ledger, raw: Callable[[str], None]
    ) -> None:
        fill(ledger)
        for statement in self.damages:
            raw(statement)
            faults = ledger.faults()
            assert faults, statement
            signs = ("cannot be found", "desk_words", "desk_trigrams")
            assert all(any(sign in fault for sign in signs) for fault in faults), faults
            assert not verify(ledger).ok
            rebuild(ledger, DESK_STREAM)
            assert verify(ledger).problems == (), statement
            assert found(ledger, "choosing") == ["policy"]

    def test_files_of_a_desk_without_an_index_are_found_once_it_is_brought_up(
        self, reopen: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        earlier = self.migrations.steps()[:3]
        monkeypatch.setattr(self.migrations, "steps", lambda: earlier)
        old = reopen()
        fill(old)
        body = BREAKING["nul"]
        write(old, [created("nul", "nul.md", body)], body)
        write(old, [changed("audit", "audit.md", FILES["audit"][1].encode(), "delete")])
        old.close()
        monkeypatch.undo()
        ledger = reopen()
        assert [found(ledger, word) for word in ("choosing", "auditor", "方法", "after")] == [
            ["policy"],
            [],
            ["study"],
            ["nul"],
        ]
        assert verify(ledger).problems == ()
        ledger.close()

    def test_whoever_is_killed_leaves_files_and_index_of_one_moment(
        self, reopen: Callable[[], Ledger]
    ) -> None:
        first = reopen()
        write(first, [created("x", "x.md", b"round 0 of many")], b"round 0 of many")
        first.close()
        dice = random.Random(3)
        for _ in range(6):
            out, into = os.pipe()
            child = os.fork()
            if child == 0:
                self.write_for_ever(reopen, into)
            os.close(into)
            with os.fdopen(out, "rb") as told:
                told.read(1)  # it has written once at least
                time.sleep(dice.uniform(0, 0.05))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        ledger = reopen()
        assert verify(ledger).problems == ()
        ((count,),) = (row.values() for row in ledger.query("SELECT rev - 1 AS n FROM desk_files"))
        assert isinstance(count, int) and count >= 6
        assert found(ledger, f"turn{count}") == ["x"]
        assert found(ledger, f"turn{count - 1}") == []
        ledger.close()

    def write_for_ever(self, reopen: Callable[[], Ledger], into: int) -> None:
        try:
            ledger = reopen()
            while True:
                count = ledger.head(DESK_STREAM).count
                body = f"turn{count} {'filling ' * 2_000}".encode()
                write(ledger, [changed("x", "x.md", body, "update", n=count)], body)
                os.write(into, b".")
        finally:
            os._exit(1)
