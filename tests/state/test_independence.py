"""Sources that share an origin or a text, or repeat each other, count as one, and the reason is told."""

from dataclasses import replace
from pathlib import Path

from researchdesk.state.claims import Source
from researchdesk.state.independence import Cluster, independence, near_duplicates, signature, similarity

from .investigations import source

ARTICLE = " ".join(f"word{n} of the release" for n in range(200))


def clusters(*sources: Source, repeats: tuple[tuple[str, str], ...] = ()) -> list[tuple[str, ...]]:
    return [cluster.source_ids for cluster in independence(sources, repeats)]


def test_sources_of_different_origins_are_independent() -> None:
    assert clusters(source("s_001", "a.org"), source("s_002", "b.org")) == [("s_001",), ("s_002",)]


def test_sources_of_one_origin_are_one_and_the_reason_is_told() -> None:
    found = independence([source("s_002", "nist.gov"), source("s_003", "b.org"), source("s_005", "nist.gov")])
    assert found == (
        Cluster(source_ids=("s_002", "s_005"), reasons=("s_002 and s_005 share nist.gov",)),
        Cluster(source_ids=("s_003",), reasons=()),
    )


def test_a_mirror_and_what_it_mirrors_are_one() -> None:
    mirror = source("s_002", "b.org", near_duplicates=("s_001",))
    found = independence([source("s_001", "a.org"), mirror])
    assert [c.source_ids for c in found] == [("s_001", "s_002")]
    assert found[0].reasons == ("s_001 and s_002 have nearly the same text",)


def test_a_source_that_is_declared_to_repeat_another_is_one_with_it() -> None:
    sources = source("s_001", "a.org"), source("s_002", "b.org"), source("s_003", "c.org")
    assert clusters(*sources, repeats=(("s_002", "s_001"),)) == [("s_001", "s_002"), ("s_003",)]
    outside = (("s_001", "The  press release"), ("s_003", "the press release"))
    assert clusters(*sources, repeats=outside) == [("s_001", "s_003"), ("s_002",)]


def test_ties_go_over_a_third_source() -> None:
    sources = source("s_001", "a.org"), source("s_002", "b.org"), source("s_003", "b.org")
    twin = replace(sources[2], near_duplicates=("s_001",))
    assert clusters(sources[0], sources[1], twin) == [("s_001", "s_002", "s_003")]


def test_a_text_and_its_reprint_have_nearly_the_same_signature_and_others_have_not() -> None:
    reprint = f"Reprinted with kind permission. {ARTICLE} Read more on our site."
    other = " ".join(f"item{n} in another paper" for n in range(200))
    own = signature(ARTICLE)
    assert similarity(own, own) == 1.0
    assert similarity(own, signature(reprint)) > 0.9
    assert similarity(own, signature(other)) == 0.0
    stored = [("s_001", signature(other)), ("s_002", signature(reprint)), ("s_003", "")]
    assert near_duplicates(own, stored) == ("s_002",)


def test_a_signature_says_by_which_method_it_was_made_and_others_are_not_compared() -> None:
    own = signature(ARTICLE)
    assert own.startswith("bk1:") and own == signature(ARTICLE)
    assert similarity(own, own.replace("bk1:", "bk2:")) == 0.0
    assert signature("too short") == ""
    assert similarity("", "") == 0.0


def test_unspaced_texts_are_compared_by_their_letters() -> None:
    text = "".join(chr(0x4E00 + (n * 37) % 4000) for n in range(600))
    assert similarity(signature(text), signature(text[:580])) > 0.8


def test_publishers_who_write_about_the_same_do_not_have_nearly_the_same_text(data_dir: Path) -> None:
    folder = data_dir / "auth-guidance"
    by_publisher: dict[str, list[str]] = {"nist": [], "owasp": []}
    for path in folder.rglob("*.md"):
        publisher = path.relative_to(folder).parts[0].partition("-")[0]
        by_publisher[publisher].append(signature(path.read_text(encoding="utf-8", errors="replace")))
    assert all(by_publisher.values())
    assert (
        max(similarity(one, other) for one in by_publisher["nist"] for other in by_publisher["owasp"]) < 0.4
    )
