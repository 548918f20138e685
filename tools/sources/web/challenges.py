"""Pages that stand in a page's place: checks whether a reader is a person, demands for JavaScript, refusals.

They often come with status 200, and would be archived as what the page says. A page counts as one only where it
is short and says so in words, as texts about such checks are longer; headers that vendors set decide alone.
"""

import re
from collections.abc import Mapping

_HEADERS = (
    ("cf-mitigated", re.compile("challenge", re.IGNORECASE)),
    ("x-amzn-waf-action", re.compile("challenge|captcha", re.IGNORECASE)),
    ("x-datadome", re.compile("protected", re.IGNORECASE)),
    ("x-px-block", re.compile("1|true", re.IGNORECASE)),
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


# Longest text that is taken for such a page, and what it says: what nobody else says, and what a short note
# on another subject may say too.
_WORDS = (
    (
        1_500,
        _any(
            r"^\W*just a moment(?:\.\.\.|…|\W*$)",
            r"attention required! *\| *cloudflare",
            r"checking (?:if the site connection is secure|your browser before)",
            r"(?:verify|verifying|confirm|prove|make sure|check)(?:ing)? (?:that )?you(?:['’]re| are) "
            r"(?:an? |not an? )?(?:human|robot|bot|real person)",
            r"making sure you(?:['’]re| are) not a bot",
            r"needs to review the security of your connection",
            r"(?:please )?(?:enable|turn on|activate) (?:js|javascript) and (?:cookies|disable any ad ?blocker)",
            r"pardon our interruption",
            r"incapsula incident id",
            r"unusual traffic from your (?:computer )?network",
            r"ddos protection by",
            r"press (?:&|and) hold to confirm",
            r"the requested url was rejected\. please consult",
        ),
    ),
    (
        400,
        _any(
            r"(?:enable|turn on|activate|requires?|needs) (?:javascript|js)\b",
            r"javascript (?:is|has been|must be|appears to be|seems to be) "
            r"(?:disabled|turned off|required|enabled|switched off)",
            r"(?:doesn['’]t|does not|won['’]t|will not) work (?:properly )?without javascript",
            r"(?:enable|accept) cookies",
            r"^\W*(?:error )?(?:40[13]\W*)?(?:access (?:to this page has been )?denied|forbidden|unauthorized)\W*$",
            r"you don['’]t have permission to access",
            r"^\W*(?:sorry, )?you (?:have been|are|were) blocked",
            r"are you a (?:robot|human)\?",
            r"(?:complete|solve|enter) (?:the|this) (?:captcha|security check)",
            r"(?:启用|啟用|开启|開啟) ?javascript",
            r"javascript ?を有効",
            r"javascript (?:aktivieren|einschalten)|aktivieren sie (?:bitte )?javascript",
            r"activer (?:le )?javascript",
            r"(?:habilite|active|habilitar|activar) (?:o )?javascript",
            r"включите javascript",
        ),
    ),
)


def challenged_by(headers: Mapping[str, str]) -> bool:
    """Say whether an answer's headers announce a challenge."""
    return any(pattern.search(headers.get(name, "")[:200]) for name, pattern in _HEADERS)


def stands_in_the_way(*, title: str | None, text: str) -> str:
    """Give the words by which a short page turns its reader away; empty for any other page."""
    said = f"{(title or '')[:200]}\n{text[:2_000]}"
    for chars, words in _WORDS:
        if len(text) <= chars and (found := words.search(said)):
            return " ".join(found[0].split())[:100]
    return ""


_TAGS = re.compile(
    r"<(?:script|style)\b[^>]{0,2000}>.*?</(?:script|style)|<[^>]{0,2000}>", re.IGNORECASE | re.DOTALL
)


def says_without_text(markup: bytes) -> str:
    """As `stands_in_the_way`, for a page without text: what it tells a reader who runs no scripts."""
    words = " ".join(_TAGS.sub(" ", markup[:50_000].decode("utf-8", "replace")).split())
    return stands_in_the_way(title=None, text=words)
