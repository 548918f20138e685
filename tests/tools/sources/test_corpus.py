"""A corpus: found, read and attributed; kept up to date by several processes; rebuilt when damaged."""

import os
import subprocess
import sys
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import researchdesk
from researchdesk.state.errors import UsageError
from researchdesk.state.redaction import redact
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.sources.ports import Fetcher, FetchRefused, SearchFailed, SearchProvider

from .documents import notebook, pdf, word


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with two publishers and documents of every kind."""
    folder = tmp_path / "docs"
    texts = {
        "nist/length.md": "# Length\n\nMemorized secrets SHALL be at least 8 characters in length.\n",
        "owasp/length.md": "# Minimum length\n\nPasswords shorter than 15 characters are weak.\n",
        "owasp/other.md": "# Storage\n\nStore hashes with Argon2id.\n",
        "loose.txt": "Nobody declared who wrote about biometrics.",
        "corpus.toml": '[origins]\n"nist/" = "nist.gov"\n"owasp" = "owasp.org"\n"owasp/other.md" = "ietf.org"\n',
        ".env": "KEY=1",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "scan.pdf").write_bytes(pdf(""))
    (folder / "rules.pdf").write_bytes(pdf("Rotation is not required", title="Rotation rules"))
    (folder / "policy.docx").write_bytes(word())
    (folder / "entropy.ipynb").write_bytes(notebook())
    (folder / "中文.txt").write_bytes("密码的最小长度是八个字符。验证者不得要求定期更换。".encode("gbk"))
    return folder


def corpus(*paths: Path, home: Path, **options: object) -> Corpus:
    return Corpus(list(paths), index_path=home / "home" / "index.sqlite", **options)  # type: ignore[arg-type]


def locators(corpus: Corpus, query: str, limit: int = 10) -> list[str]:
    return [hit.locator for hit in corpus.search(query, limit=limit).hits]


def refusal(corpus: Corpus, locator: str) -> FetchRefused:
    with pytest.raises(FetchRefused) as refused:
        corpus.fetch(locator)
    return refused.value


def test_a_refresh_reports_what_it_did(docs: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    one = corpus(docs, home=tmp_path, progress=lambda done, total, name: seen.append((done, total, name)))
    report = one.refresh()
    assert (report.files, report.indexed, report.unchanged, report.removed) == (8, 8, 0, 0)
    assert report.left_out == {"secret": 1, "unreadable": 1}
    assert report.examples == {"secret": (".env",), "unreadable": ("scan.pdf",)}
    assert [(done, total) for done, total, _ in seen] == [(n, 9) for n in range(1, 10)]


def test_only_what_changed_is_read_again(docs: Path, tmp_path: Path) -> None:
    for path in docs.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    one = corpus(docs, home=tmp_path)
    one.refresh()
    (docs / "loose.txt").write_text("Now about passkeys.")
    (docs / "owasp/other.md").unlink()
    report = one.refresh()
    assert (report.files, report.indexed, report.unchanged, report.removed) == (7, 1, 6, 1)
    assert locators(one, "passkeys") == ["file:loose.txt"]
    assert locators(one, "biometrics") == locators(one, "argon2id") == []
    assert corpus(docs, home=tmp_path).refresh().indexed == 0


def test_a_change_within_the_same_tick_and_size_is_seen(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs, home=tmp_path)
    one.refresh()
    stamp = (docs / "loose.txt").stat()
    (docs / "loose.txt").write_text("Nobody declared who wrote about hydroponic".ljust(stamp.st_size, "."))
    os.utime(docs / "loose.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    one.refresh()
    assert locators(one, "hydroponic") == ["file:loose.txt"]


def test_a_hit_says_where_it_stands_and_who_published_it(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs, home=tmp_path)
    provider: SearchProvider = one
    outcome = provider.search("secret lengths", limit=1)
    (hit,) = outcome.hits
    assert (outcome.provider, hit.locator, hit.title, hit.origin) == (
        "corpus",
        "file:nist/length.md",
        "Length",
        "nist.gov",
    )
    text = one.fetch(hit.locator).text
    assert text[hit.start : hit.start + len(hit.snippet)] == hit.snippet
    assert outcome.total >= 2


@pytest.mark.parametrize(
    ("query", "locator"),
    [
        ("rotation", "file:rules.pdf"),
        ("staff", "file:policy.docx"),
        ("entropy", "file:entropy.ipynb"),
        ("密码", "file:中文.txt"),
        ("密", "file:中文.txt"),
        ("密码长度要求", "file:中文.txt"),
        ("定期更换", "file:中文.txt"),
        ("argon2", "file:owasp/other.md"),
        ("shorten passwords", "file:owasp/length.md"),
    ],
)
def test_every_kind_of_document_is_found(docs: Path, tmp_path: Path, query: str, locator: str) -> None:
    assert locators(corpus(docs, home=tmp_path), query)[0] == locator


@pytest.mark.parametrize(
    "query",
    [
        *(
            '"',
            'length"',
            '"length" OR "',
            "NEAR(length, 5)",
            "NEAR(",
            "*",
            "length*",
            "-length",
            "^length",
            "{a b}: c",
        ),
        *(
            "heading: length",
            "length AND",
            "' OR 1=1 --",
            "a\0b length",
            "%",
            "_",
            "\ud800 length",
            "length " * 2_000,
        ),
        *(
            "x" * 10_000,
            " ".join(f"w{n}" for n in range(5_000)),
            "(((((",
            "密" * 10_000,
            "C#",
            "🔑",
            "e\u0301",
        ),
    ],
)
def test_a_hostile_query_is_answered_or_refused(docs: Path, tmp_path: Path, query: str) -> None:
    one = corpus(docs, home=tmp_path)
    try:
        found = locators(one, query)
    except SearchFailed as failed:
        assert (failed.code, failed.transient) == ("search_bad_query", False)
        assert not any(character.isalnum() for character in query)
    else:
        assert "length" not in query.split() or found


def test_a_document_gives_its_best_passage_whole_and_the_places_of_two_more(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.md").write_text("\n\n".join(f"## Part {n}\n\nThe length rule." for n in range(9)))
    one = corpus(folder, home=tmp_path)
    found = one.search("length", limit=2).hits
    assert Counter(hit.locator for hit in found) == {"file:a.md": 3, "file:b.md": 3}
    assert [bool(hit.snippet) for hit in sorted(found, key=lambda hit: hit.locator)] == [
        True,
        False,
        False,
    ] * 2
    assert {hit.locator for hit in one.search("length", limit=1).hits} == {found[0].locator}
    assert len(one.search_passages("length", limit=10).hits) == 10


def test_of_two_like_passages_the_one_comes_first_whose_document_is_about_the_rest_of_the_query(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, words in (("apiary", "Honey of the hive."), ("zoo", "Zebras of the plain.")):
        (folder / f"{name}.md").write_text(f"## Food\n\nWhat they eat.\n\n## More\n\n{words}\n")
    for number in range(6):
        (folder / f"{number}.md").write_text(f"## Number\n\nIt is {number}.\n")
    one = corpus(folder, home=tmp_path)
    assert one.search_passages("eat zebras", limit=2).hits[0].locator == "file:zoo.md"
    eaten = [
        hit.locator
        for hit in one.search_passages("eat zebras", limit=9).hits
        if hit.snippet == "What they eat."
    ]
    assert eaten == ["file:zoo.md", "file:apiary.md"]


def test_what_a_document_was_about_is_forgotten_when_it_changes_or_goes(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    texts = {
        "a.md": "## Food\n\nWhat they eat.\n\n## Hive\n\nHoney.\n",
        "b.md": "## Food\n\nWhat they eat.\n\n## Zebra\n\nPlains.\n",
        "c.md": "## Zebra\n\nThey eat grass.\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    one = corpus(folder, home=tmp_path)
    one.refresh()
    (folder / "b.md").write_text(texts["a.md"].replace("Honey", "Nectar"))
    (folder / "c.md").unlink()
    one.refresh()
    anew = Corpus([folder], index_path=tmp_path / "other" / "index.sqlite")
    assert one.search_passages("eat zebra hive", limit=9) == anew.search_passages("eat zebra hive", limit=9)


def test_origins_come_from_the_longest_prefix_else_the_root(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs, home=tmp_path)
    found = {
        path: one.fetch(path) for path in ("nist/length.md", "owasp/length.md", "owasp/other.md", "loose.txt")
    }
    assert {path: page.origin for path, page in found.items()} == {
        "nist/length.md": "nist.gov",
        "owasp/length.md": "owasp.org",
        "owasp/other.md": "ietf.org",
        "loose.txt": "docs",
    }
    assert found["nist/length.md"].origin_reason == "corpus.toml: nist"
    assert "not listed" in found["loose.txt"].origin_reason
    assert all(page.domain == page.origin for page in found.values())
    assert one.origins() == {"nist.gov", "owasp.org", "ietf.org", "docs"}


@pytest.mark.parametrize(
    ("by", "origins"),
    [
        ("root", {"docs"}),
        ("folder", {"docs", "docs/nist", "docs/owasp"}),
    ],
)
def test_origins_can_be_overridden(docs: Path, tmp_path: Path, by: str, origins: set[str]) -> None:
    assert corpus(docs, home=tmp_path, origin_by=by).origins() == origins
    assert len(corpus(docs, home=tmp_path, origin_by="file").origins()) == 8


def test_a_document_speaks_for_itself_only_where_it_may(docs: Path, tmp_path: Path) -> None:
    (docs / "nist/guest.md").write_text("---\norigin: w3.org\n---\n# Guest\n\nWritten elsewhere.\n")
    one = corpus(docs, home=tmp_path)
    assert one.fetch("nist/guest.md").origin == "nist.gov"
    (docs / "corpus.toml").write_text('[origins]\n"nist" = "nist.gov"\nfront_matter = true\n')
    one.refresh()
    assert one.fetch("nist/guest.md").origin == one.search("elsewhere", limit=1).hits[0].origin == "w3.org"
    assert one.fetch("nist/length.md").origin == "nist.gov"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('[origins]\n"nist" = \n', "line 2"),
        ('[origins]\n\n"nist" = 3\n', "line 3"),
        ('[origin]\n"nist" = "x"\n', "line 1"),
        ('[origins]\n"../x" = "x"\n', "line 2"),
        ('[origins]\nfront_matter = "yes"\n', "line 2"),
        ("origins = 1\n", "line 1"),
        ("\xff", "invalid start byte"),
    ],
)
def test_a_malformed_corpus_toml_is_a_usage_error_with_its_line(
    docs: Path, tmp_path: Path, settings: str, message: str
) -> None:
    (docs / "corpus.toml").write_bytes(settings.encode("latin-1"))
    with pytest.raises(UsageError, match=message) as wrong:
        corpus(docs, home=tmp_path)
    assert "corpus.toml" in str(wrong.value) and "[origins]" in str(wrong.value)


def test_every_spelling_of_a_document_gives_one_locator(docs: Path, tmp_path: Path) -> None:
    fetcher: Fetcher = corpus(docs, home=tmp_path)
    (docs / "alias.md").symlink_to("nist/length.md")
    spellings = [
        *("file:nist/length.md", "nist/length.md", "./nist//length.md", "docs/nist/length.md", "alias.md"),
        *(str(docs / "nist/length.md"), f"file://{docs}/nist/length.md", f"file:{docs}/nist/length.md"),
    ]
    pages = [fetcher.fetch(spelling) for spelling in spellings]
    assert {page.canonical for page in pages} == {"file:nist/length.md"}
    assert [page.requested for page in pages] == spellings
    assert all(fetcher.accepts(spelling) for spelling in spellings)
    assert not fetcher.accepts("https://nist.gov/") and not fetcher.accepts("ftp://nist.gov/a")
    assert (pages[0].status, pages[0].raw) == (0, (docs / "nist/length.md").read_bytes())


def test_a_composed_name_finds_a_decomposed_file(docs: Path, tmp_path: Path) -> None:
    (docs / unicodedata.normalize("NFD", "résumé.md")).write_text("# R\n\nwords")
    assert corpus(docs, home=tmp_path).fetch("file:résumé.md").title == "R"


def test_what_is_not_in_the_corpus_is_refused(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / ".gitignore").write_text("draft.md\n")
    (docs / "draft.md").write_text("draft")
    (docs / "picture.png").write_bytes(b"\x89PNG\0")
    one = corpus(docs, home=tmp_path)
    one.refresh()
    unsafe = [
        str(tmp_path / "secret.md"),
        "../secret.md",
        "out.md",
        ".env",
        "draft.md",
        "https://nist.gov/",
        "/etc",
    ]
    assert {refusal(one, locator).code for locator in unsafe} == {"fetch_unsafe"}
    assert refusal(one, "picture.png").code == refusal(one, "scan.pdf").code == "fetch_unreadable"
    missing = refusal(one, "nist/lenght.md")
    assert missing.code == "fetch_not_found" and "file:nist/length.md" in missing.text
    assert refusal(one, "nist").code == "fetch_not_found"


def test_several_roots_never_collide(docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "more" / "docs"
    other.mkdir(parents=True)
    (other / "loose.txt").write_text("Another text about biometrics.")
    one = corpus(docs, other, home=tmp_path)
    found = locators(one, "biometrics")
    assert len(found) == 2 and all(locator.endswith("~docs/loose.txt") for locator in found)
    assert {one.fetch(locator).canonical for locator in found} == set(found)
    assert one.fetch(str(other / "loose.txt")).canonical == "file:more~docs/loose.txt"
    assert "several roots" in refusal(one, "loose.txt").text
    assert one.fetch("nist/length.md").canonical.endswith("~docs/nist/length.md")


def test_a_single_file_is_a_corpus(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs / "loose.txt", home=tmp_path)
    assert one.refresh().files == 1
    assert locators(one, "biometrics") == ["file:loose.txt"]
    assert refusal(one, "nist/length.md").code == "fetch_unsafe"


def test_corpora_that_share_an_index_see_only_their_own(docs: Path, tmp_path: Path) -> None:
    nist, owasp = corpus(docs / "nist", home=tmp_path), corpus(docs / "owasp", home=tmp_path)
    nist.refresh()
    assert locators(owasp, "length characters") == ["file:length.md"]
    assert [hit.snippet[:9] for hit in nist.search("length characters", limit=5).hits] == ["Memorized"]


@pytest.mark.parametrize("damage", ["garbage", "pages", "version", "ledger"])
def test_a_damaged_or_foreign_index_is_built_anew(docs: Path, tmp_path: Path, damage: str) -> None:
    first = corpus(docs, home=tmp_path)
    first.refresh()
    first.close()
    path = tmp_path / "home" / "index.sqlite"
    raw = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 500)
    elif damage == "pages":
        path.write_bytes(raw[:8192] + b"\xa5" * (len(raw) - 8192))
    elif damage == "version":
        path.write_bytes(raw[:60] + (999).to_bytes(4, "big") + raw[64:])
    else:
        path.write_bytes(b"")
    assert locators(corpus(docs, home=tmp_path), "biometrics") == ["file:loose.txt"]


def test_an_index_that_is_damaged_or_gone_after_it_was_read_is_built_anew(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs, home=tmp_path)
    for lose in (lambda path: path.write_bytes(b"\0" * 4096), Path.unlink):
        assert locators(one, "biometrics") == ["file:loose.txt"]
        one.close()
        lose(tmp_path / "home" / "index.sqlite")
    assert locators(one, "biometrics") == ["file:loose.txt"]


ELSEWHERE = """
import sys
from pathlib import Path
from researchdesk.state.redaction import redact
from researchdesk.tools.sources.corpus import Corpus
one = Corpus([sys.argv[1]], index_path=Path(sys.argv[2]))
for _ in range(3):
    assert one.refresh().files == 150
print(one.search("marker17x", limit=1).hits[0].locator)
"""


def test_processes_and_threads_refresh_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(150):
        (folder / f"{number}.md").write_text(f"# Document\n\nThis is marker{number}x of many.\n")
    command = [sys.executable, "-c", ELSEWHERE, str(folder), str(tmp_path / "home" / "index.sqlite")]
    path = {**os.environ, "PYTHONPATH": str(Path(researchdesk.__file__).parents[1])}
    others = [subprocess.Popen(command, env=path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    here = corpus(folder, home=tmp_path)
    with ThreadPoolExecutor(3) as threads:
        reports = [threads.submit(here.refresh) for _ in range(3)]
    assert {report.result().files for report in reports} == {150}
    assert [other.communicate(timeout=60)[0].strip() for other in others] == ["file:17.md"] * 2
    assert locators(here, "marker17x")[0] == "file:17.md"


def test_an_index_survives_a_fork(docs: Path, tmp_path: Path) -> None:
    one = corpus(docs, home=tmp_path)
    one.refresh()
    child = os.fork()
    if child == 0:
        os._exit(0 if locators(one, "biometrics") == ["file:loose.txt"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert locators(one, "biometrics") == ["file:loose.txt"]


def test_a_corpus_that_holds_the_home_does_not_read_it(docs: Path) -> None:
    one = Corpus([docs], index_path=docs / "home" / "index.sqlite")
    (docs / "home").mkdir()
    (docs / "home" / "notes.md").write_text("Own notes about zebras.")
    assert locators(one, "zebras") == []


def test_a_real_corpus_answers(data_dir: Path, tmp_path: Path) -> None:
    one = corpus(data_dir / "auth-guidance", home=tmp_path)
    report = one.refresh()
    assert (report.files, report.left_out) == (319, {"empty": 4})
    assert one.origins() == {"nist.gov", "owasp.org"}
    hits = one.search("minimum password length", limit=20).hits
    assert {hit.origin for hit in hits} == {"nist.gov", "owasp.org"}
    assert len({hit.locator for hit in hits}) == 20


def test_no_secret_rests_in_the_index_and_places_fit_the_archived_text(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    (folder / "notes.md").write_text(
        f"# Keys\n\nThe key is {token} today.\n\n## Length\n\nTwelve characters.\n"
    )
    one = corpus(folder, home=tmp_path)
    (hit,) = one.search("twelve characters", limit=1).hits[:1]
    archived = redact(one.fetch(hit.locator).text).text
    assert archived[hit.start :].startswith(hit.snippet)
    one.close()
    assert not [path for path in tmp_path.glob("index.sqlite*") if token.encode() in path.read_bytes()]


@pytest.mark.parametrize("path", ["", " ", "~nouser/x", "n" * 5_000, "\udcff", "a\0b"])
def test_a_path_that_names_nothing_is_a_usage_error(path: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Corpus([path], index_path=tmp_path / "index.sqlite")
