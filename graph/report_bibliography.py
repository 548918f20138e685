"""The report's references for reference managers: BibTeX and CSL JSON."""

import re
from typing import Any
from urllib.parse import quote

import orjson

from researchdesk.graph.plain import one_line
from researchdesk.graph.report import Reference, Report

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_TEX_SPECIAL = re.compile("[" + re.escape("".join(_TEX)) + "]")
_URL_SAFE = "/:?#[]@!$&'()*+,;=-._~%"


def bibtex(report: Report) -> str:
    """One ``@misc`` entry for each cited source, in the order of the numbers."""
    return "\n".join(_entry(ref) for ref in report.references)


def _entry(ref: Reference) -> str:
    fields = {
        # Inner braces keep the title's capitals.
        "title": f"{{{_tex(ref.title or 'Untitled')}}}",
        "publisher": "" if ref.supplied else _tex(ref.publisher),
        "url": quote(ref.locator, safe=_URL_SAFE) if _is_web(ref) else "",
        "howpublished": "" if _is_web(ref) else _tex(ref.locator),
        "urldate": ref.read_at[:10],
        "note": _tex(_note(ref)),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{ref.source_id},", *lines, "}", ""])


def _tex(text: str) -> str:
    return _TEX_SPECIAL.sub(lambda found: _TEX[found.group()], one_line(text))


def _note(ref: Reference) -> str:
    archived = f"Archived text sha256 {ref.text_hash.partition(':')[2]}"
    return f"{archived}; supplied, not read by this program" if ref.supplied else archived


def _is_web(ref: Reference) -> bool:
    return ref.locator.startswith(("http://", "https://"))


def csl_json(report: Report) -> str:
    """The cited sources as CSL JSON items, in the order of the numbers."""
    return orjson.dumps([_item(ref) for ref in report.references], option=orjson.OPT_INDENT_2).decode() + "\n"


def _item(ref: Reference) -> dict[str, Any]:
    year, month, day = (int(part) for part in ref.read_at[:10].split("-"))
    item: dict[str, Any] = {
        "id": ref.source_id,
        "type": "webpage" if _is_web(ref) else "document",
        "title": one_line(ref.title) or "Untitled",
        "accessed": {"date-parts": [[year, month, day]]},
        "note": _note(ref),
    }
    if not ref.supplied:
        item["publisher"] = one_line(ref.publisher)
    item["URL" if _is_web(ref) else "archive_location"] = one_line(ref.locator)
    return item
