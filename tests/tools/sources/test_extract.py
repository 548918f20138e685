"""Extraction: what text, title and sections each format gives, and what is refused."""

import contextlib
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.tools.sources.extract import DOCX, extract
from researchdesk.tools.sources.ports import FetchRefused, Section

from .documents import notebook, pdf, word

PAGE = """<!doctype html><html><head><meta charset="{charset}"><title>Password rules &amp; more</title></head><body>
<nav><a href="/">Home</a></nav><main><h1>Passwords 密码</h1><p>Passwords <b>SHALL</b> be at least 8 characters in
length when they are chosen by the subscriber, and longer where nothing else protects the account.</p>
<h2>Rotation</h2><p>Do not force rotation unless there is evidence of compromise of the authenticator.</p>
<table><tr><th>Level</th><th>Length</th></tr><tr><td>AAL1</td><td>8</td></tr></table></main>
<script>evil()</script></body></html>"""


def refusal(raw: bytes, name: str, media_type: str = "") -> str:
    with pytest.raises(FetchRefused) as refused:
        extract(raw, name=name, media_type=media_type)
    return refused.value.code


def test_markdown_is_kept_as_it_is_with_title_and_sections() -> None:
    text = "---\ntitle: 'The rules'\n---\n# First\n\nBody ‘quoted’.\n\n```\n# no heading\n```\n\nSecond\n------\nEnd\n"
    found = extract(text.replace("\n", "\r\n").encode(), name="a.md")
    assert found.text == text
    assert (found.title, found.media_type, found.extractor) == ("The rules", "text/markdown", "text")
    assert [section.title for section in found.sections] == ["First", "Second"]
    assert [text[section.start : section.end][:8] for section in found.sections] == ["# First\n", "Second\n-"]
    assert found.sections[-1].end == len(text)


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("## 5 <a name='x'></a>Requirements & _rules_ {#id}\n", "a.md", "5 Requirements & _rules_"),
        ("# [Linked](https://nist.gov) ![icon](a.png) &mdash; **bold**\n", "a.md", "Linked — bold"),
        ("### Closed ### \n", "a.md", "Closed"),
        ("# C#\n", "a.md", "C#"),
        ("#hashtag\n# #\n#\n", "a.md", None),
        ("Title of it\n===========\ntext", "a.rst", "Title of it"),
        ("no heading at all", "a.md", None),
        ("# a comment\nx = 1\n", "a.py", None),
        ("# not a heading\n", "notes.txt", None),
    ],
)
def test_a_title_is_what_the_document_says_or_none(text: str, name: str, title: str | None) -> None:
    assert extract(text.encode(), name=name).title == title


@pytest.mark.parametrize("charset", ["utf-8", "gbk"])
def test_html_gives_its_main_text_as_markdown(charset: str) -> None:
    found = extract(PAGE.format(charset=charset).encode(charset), name="page", media_type="text/html")
    assert found.title == "Password rules & more"
    assert "Passwords 密码" in found.text and "**SHALL**" in found.text and "| AAL1 | 8 |" in found.text
    assert "evil" not in found.text
    assert [section.title for section in found.sections] == ["Passwords 密码", "Rotation"]


def test_html_without_main_text_gives_all_its_words() -> None:
    deep = b"<html><body>" + b"<div>" * 900 + b"far <b>down</b><script>x()</script> here" + b"</div>" * 900
    assert extract(deep, name="a.html").text == "far down here"


def test_a_page_without_type_is_recognised() -> None:
    assert extract(b"<!DOCTYPE html><title>T</title><p>words", name="index").media_type == "text/html"


def test_a_pdf_has_a_section_a_page() -> None:
    found = extract(pdf("Minimum length is 8", "", "Third page", title="Rules"), name="a.bin")
    assert found.text == "Minimum length is 8\n\n\n\nThird page"
    assert (found.title, found.media_type, found.charset) == ("Rules", "application/pdf", "")
    assert found.sections[2] == Section(title="page 3", start=23, end=33, page=3)


def test_pdfs_can_be_read_by_many_threads() -> None:
    documents = [pdf(f"Document number {number}") for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda raw: extract(raw, name="a.pdf").text, documents))
    assert texts == [f"Document number {number}" for number in range(24)]


def test_a_pdf_without_text_says_so() -> None:
    with pytest.raises(FetchRefused, match="no text layer") as refused:
        extract(pdf(""), name="scan.pdf")
    assert refused.value.code == "fetch_unreadable"


def test_a_word_file_keeps_its_order() -> None:
    found = extract(word(), name="policy.docx")
    assert found.text == (
        "# Password policy\n\nApplies to all staff.\n\n# Length\n\n- At least 15 characters.\n\n"
        "| Level | Length |\n|---|---|\n| AAL1 | 8 \\| more |\n\nEnd of policy."
    )
    assert found.title == "Password policy"


def test_a_notebook_gives_prose_code_and_output() -> None:
    found = extract(notebook(), name="a.ipynb")
    code, printed, figure = "```python\nprint(2 ** 10)\n```", "```\n1024\n```", "```\n<Figure>\n```"
    assert found.text == f"# Entropy of passwords\nWe measure it.\n\n{code}\n\n{printed}\n\n{figure}"
    assert found.title == "Entropy of passwords"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.csv", "text/csv"), ("a.json", "application/json"), ("a.toml", "application/toml"), ("a.ipynb", "")],
)
def test_data_is_kept_as_text(name: str, media_type: str) -> None:
    found = extract(b"level,length\nAAL1,8\n", name=name)
    assert found.text == "level,length\nAAL1,8\n"
    assert found.media_type == (media_type or "application/x-ipynb+json")


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("密码的最小长度是八个字符。验证者不得要求定期更换密码。", "gbk"),
        ("标题\n密码的最小长度", "gbk"),
        ("パスワードは８文字以上でなければならない。", "shift_jis"),
        ("パスワードは８文字以上でなければならない。", "euc_jp"),
        ("密碼的最小長度是八個字元。驗證者不得要求定期更換密碼。", "big5"),
        ("비밀번호는 최소 8자 이상이어야 합니다.", "euc_kr"),
        ("Les mots de passe doivent être changés “régulièrement” – à l’avenir, déjà.", "windows-1252"),
        ("Die Größe des Paßworts muß mindestens 8 Zeichen betragen.", "windows-1252"),
        ("Пароли должны быть длиной не менее восьми символов.", "windows-1251"),
        ("密码 and password", "utf-16"),
        ("密码 and password", "utf-32"),
        ("密码 and password", "utf-8-sig"),
    ],
)
def test_a_text_of_any_charset_is_read(text: str, charset: str) -> None:
    found = extract(text.encode(charset), name="a.txt")
    assert (found.text, found.readable, found.note) == (text, True, "")


def test_a_declared_charset_is_believed_unless_it_is_wrong() -> None:
    assert extract("密码".encode("gb2312"), name="a", media_type="text/plain; charset=GB2312").text == "密码"
    assert extract("密码é".encode(), name="a", media_type="text/plain; charset=ascii").charset in (
        "utf-8",
        "cp1252",
    )
    assert extract(b"words", name="a", media_type='text/plain; charset="base64"').text == "words"


def test_a_damaged_utf8_text_stays_utf8_with_a_note() -> None:
    found = extract("é".encode() * 100 + b"\xff" + "ü".encode() * 10, name="a.txt")
    assert (found.charset, found.readable) == ("utf-8", True)
    assert found.note == "1 of 111 characters could not be decoded as utf-8"


def test_mostly_undecodable_text_is_marked_unreadable() -> None:
    found = extract(bytes(range(1, 256)) * 50, name="a.txt")
    assert not found.readable
    assert "could not be decoded" in found.note


def test_nul_and_surrogates_are_dropped() -> None:
    assert extract(b"\xff\xfe" + "a\0b".encode("utf-16-le") + b"\x00\xd8", name="a.txt").text.startswith("ab")


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.bin"])
def test_broken_and_binary_files_are_refused(name: str) -> None:
    assert refusal(b"\x89PNG\r\n\x1a\n\0\0\0" * 9, name) == "fetch_unreadable"
    assert refusal(b"PK\x03\x04 cut off", name) == "fetch_unreadable"
    assert refusal(b"%PDF-1.4 cut off", name) == "fetch_unreadable"
    assert refusal(b"", name) == "fetch_empty"


def test_an_empty_text_and_a_picture_are_refused() -> None:
    assert refusal(b" \n\t\n", "a.md") == "fetch_empty"
    assert refusal(b"<html><body><script>1</script></body></html>", "a.html") == "fetch_empty"
    assert refusal(b"GIF89a", "a", "image/gif") == "fetch_unreadable"


def test_a_text_over_the_limit_is_refused() -> None:
    assert refusal(b"a" * 5_000_001, "a.txt") == "fetch_too_large"


def test_a_zip_bomb_is_refused_before_it_unpacks() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 70_000_000)
    assert len(out.getvalue()) < 100_000
    assert refusal(out.getvalue(), "a.docx") == "fetch_too_large"


@given(
    st.binary(max_size=300), st.sampled_from(["a.md", "a.html", "a.pdf", "a.docx", "a.ipynb", "a.rst", "a"])
)
def test_any_bytes_give_a_text_or_a_typed_refusal(raw: bytes, name: str) -> None:
    try:
        found = extract(raw, name=name)
    except FetchRefused:
        return
    assert "\0" not in found.text and "\r" not in found.text
    found.text.encode()
    for section in found.sections:
        assert 0 <= section.start <= section.end <= len(found.text)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"# " + b" " * 1_000_000 + b"x", "spaces.md"),
        (b"# " + b"[" * 1_000_000, "brackets.md"),
        (b"---\ntitle:" + b" " * 19_000 + b"x\n---\n" * 9_000, "front.md"),
        (b"<!-- -->" * 200_000, "comments"),
        (b"<ul><li>a</ul>" * 20_000, "lists.html"),
        (b"<table><tr><td>" * 20_000, "tables.html"),
        (b"<b>" * 100_000 + b"x", "deep.html"),
        (b"[" * 500_000, "deep.ipynb"),
        (b"a\n=\n" * 100_000, "titles.rst"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_document_never_takes_more_than_linear_time(raw: bytes, name: str) -> None:
    with contextlib.suppress(FetchRefused):
        extract(raw, name=name)


MIXED = "Où est l’été ? Déjà passé, naïve Zoë."
CHINESE = "密码必须至少有八个字符，验证者不得要求定期更改密码。"
JAPANESE = "パスワードは八文字以上でなければならない。定期的な変更を求めてはならない。"


@pytest.mark.parametrize(
    ("text", "charset", "header", "meta"),
    [
        (MIXED, "utf-8", "iso-8859-1", ""),
        (MIXED, "utf-8", "windows-1252", "utf-8"),
        (MIXED, "cp1252", "utf-8", ""),
        (MIXED, "cp1252", "utf-8", "windows-1252"),
        (MIXED, "cp1252", "", "iso-8859-1"),
        (CHINESE, "gbk", "", "gb2312"),
        (CHINESE, "gbk", "utf-8", "gbk"),
        (CHINESE, "gbk", "iso-8859-1", "gb2312"),
        (CHINESE, "gbk", "", ""),
        (CHINESE, "utf-8", "gbk", ""),
        (CHINESE, "utf-8", "iso-8859-1", "gb2312"),
        (CHINESE, "gb18030", "gb18030", "utf-8"),
        (JAPANESE, "cp932", "", "Shift_JIS"),
        (JAPANESE, "cp932", "utf-8", "shift_jis"),
        (JAPANESE, "cp932", "iso-8859-1", "x-sjis"),
        (JAPANESE, "euc_jp", "", "euc-jp"),
        (JAPANESE, "utf-8", "", "utf-16"),
        (JAPANESE, "utf-8-sig", "iso-8859-1", "shift_jis"),
        (JAPANESE, "utf-16", "text", ""),
    ],
)
def test_a_page_is_read_in_its_charset_whatever_is_declared(
    text: str, charset: str, header: str, meta: str
) -> None:
    stated = f'<meta charset="{meta}">' if meta else ""
    raw = f"<!doctype html><html><head>{stated}<title>{text}</title></head><body><p>{text * 4}</p></body></html>"
    declared = f"text/html; charset={header}" if header else "text/html"
    found = extract(raw.encode(charset), name="page", media_type=declared)
    assert (found.title, found.readable) == (text, True)
    assert text in found.text


@pytest.mark.parametrize(
    ("raw", "media_type", "kind"),
    [
        (pdf("Text of a page"), "text/html", "application/pdf"),
        (pdf("Text of a page"), "application/octet-stream", "application/pdf"),
        (PAGE.format(charset="utf-8").encode(), "application/pdf", "text/html"),
        (PAGE.format(charset="utf-8").encode(), "text/plain; charset=utf-8", "text/html"),
        (PAGE.format(charset="utf-8").encode("utf-8-sig"), "text/plain", "text/html"),
        (PAGE.format(charset="utf-8").encode(), "", "text/html"),
        (b"A note about %PDF- files.", "text/plain", "text/plain"),
        (word(), "application/octet-stream", DOCX),
        (word(), "", DOCX),
    ],
)
def test_a_document_is_what_its_bytes_say(raw: bytes, media_type: str, kind: str) -> None:
    assert extract(raw, name="download", media_type=media_type).media_type == kind
