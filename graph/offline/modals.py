"""What a sentence requires, allows, forbids or leaves free, by its modal words, in languages whose words are listed."""

import re
from dataclasses import dataclass
from functools import cached_property

from researchdesk.graph.offline.language import LATIN_WORD, STOP_WORDS, language_of
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.terms import UNSPACED

FORBIDS, REQUIRES, ALLOWS, EXEMPTS = "forbids", "requires", "allows", "exempts"
MIXED = "mixed"
OPPOSED = frozenset(
    {frozenset({FORBIDS, REQUIRES}), frozenset({FORBIDS, ALLOWS}), frozenset({REQUIRES, EXEMPTS})}
)
CLAUSE = re.compile(
    r"[;()]|,(?!\d)|\s(?:although|but|however|whereas|while|aber|sondern|mais|pero|ma|mas|maar|но)\s"
)


@dataclass(frozen=True)
class Modals:
    """Modal words of a language as alternatives of a pattern.

    Args:
        denials: words that turn a modal round.
        before: whether they stand right before it, else anywhere in its clause.
        denied: what a denied "must" says: ``forbids`` or ``exempts``.
        free: phrases that leave free whatever stands around them.
        negated: phrases that forbid whatever stands around them.
    """

    must: str
    may: str
    denials: str
    negated: str
    free: str = "(?!)"
    before: bool = False
    denied: str = FORBIDS

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        groups = {"free": self.free, "negated": self.negated, "must": self.must, "may": self.may}
        told = "|".join(f"(?P<{name}>{words})" for name, words in groups.items())
        return re.compile(rf"(?<!\w)(?:{told})(?!\w)", re.IGNORECASE)

    @cached_property
    def denial(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{self.denials})(?!\w)", re.IGNORECASE)


MODALS = {
    "english": Modals(
        must=r"shall|should|must|(?:is|are|be) (?:required|mandatory|obligatory)|requires?|ha(?:s|ve) to"
        r"|needs? (?:to|an?)",
        may=r"may|(?:is|are|be) (?:allowed|permitted|acceptable|accepted)|allows?|permits?",
        denials=r"(?!)",
        free=r"need(?:s)? not|(?:do|does) not (?:have|need|require)(?: to)?|(?:is|are|be) not (?:\w+ )?"
        r"(?:required|necessary|mandatory|needed)|no need|optional"
        r"|not (?:mandatory|required|necessary)|no longer (?:required|necessary)",
        negated=r"(?:shall|should|must|may|can)(?: \w+ly)? not|cannot|(?:must|should|can|sha|wo)n['’]t"
        r"|(?:must|should|may|shall) (?:never|no longer)|never|(?:do|does) not|don['’]t|avoid(?:s|ed|ing)?|prohibit\w*"
        r"|forbid\w*|forbidden|disallow\w*|(?:is|are|be) not (?:\w+ )?(?:allowed|permitted|acceptable)"
        r"|not (?:allowed|permitted|acceptable)|(?:is|are) no longer|there (?:is|are|should be|must be) no",
    ),
    "german": Modals(
        must=r"muss|müssen|musst|müsst|soll|sollen|sollte|sollten"
        r"|(?:ist|sind) (?:erforderlich|vorgeschrieben|verpflichtend)",
        may=r"darf|dürfen|kann|können|erlaubt|zulässig|gestattet",
        denials=r"nicht|kein\w*|nie|niemals|weder",
        negated=r"verboten|untersagt|unzulässig|vermeiden|(?:soll|sollen|sollte|sollten)\b[^.;,]*\b(?:nicht|kein\w*)",
        free=r"brauch\w* (?:[^.;,]* )?(?:nicht|kein\w*)|nicht (?:erforderlich|nötig|notwendig|vorgeschrieben)",
        denied=EXEMPTS,
    ),
    "dutch": Modals(
        must=r"moet|moeten|dient|dienen|verplicht|vereist",
        may=r"mag|mogen|kan|kunnen|toegestaan",
        denials=r"niet|geen|nooit",
        negated=r"verboden|vermijd\w*",
        free=r"hoef\w* (?:[^.;,]* )?(?:niet|geen)|niet (?:nodig|verplicht|vereist)",
    ),
    "french": Modals(
        must=r"doit|doivent|devrai\w+|faut|obligatoires?|exigée?s?",
        may=r"peut|peuvent|autorisée?s?|permise?s?",
        denials=r"ne|n['’]|pas|jamais|non",
        negated=r"interdite?s?|éviter|évitez",
        free=r"pas (?:besoin|nécessaire|obligatoire)s?",
        before=True,
    ),
    "spanish": Modals(
        must=r"deben?|debería\w*|hay que|obligatori[oa]s?", may=r"pueden?|permitid[oa]s?", denials=r"no|nunca",
        negated=r"prohibid[oa]s?|evitar|evite", free=r"no (?:es|son) (?:necesari|obligatori)[oa]s?", before=True,
    ),
    "italian": Modals(
        must=r"deve|devono|dovrebbe\w*|obbligatori[oae]?", may=r"può|possono|consentit[oaie]|permess[oaie]",
        denials=r"non|mai", negated=r"vietat[oaie]|evitare", free=r"non (?:è|sono) (?:necessari|obbligatori)\w*",
        before=True,
    ),
    "portuguese": Modals(
        must=r"deve|devem|deveria\w*|obrigatóri[oa]s?", may=r"pode|podem|permitid[oa]s?", denials=r"não|nunca",
        negated=r"proibid[oa]s?|evitar|evite", free=r"não (?:é|são) (?:necessári|obrigatóri)[oa]s?", before=True,
    ),
    "russian": Modals(
        must=r"долж\w+|следует|необходимо|обязательн\w+", may=r"может|могут|можно|разреш\w+|допуска\w+",
        denials=r"не|никогда", negated=r"нельзя|запрещ\w+", free=r"не (?:нужно|обязательн\w+|требуется)", before=True,
    ),
}  # fmt: skip
SUBJECT_NO = re.compile(
    r"\s*(?:no|neither|kein\w*|geen|aucune?|ningun\w*|nessun\w*|nenhum\w*)\s", re.IGNORECASE
)
BEFORE = 2
"""Words before a modal among which its denial stands."""


def can_read(text: str) -> bool:
    """Whether the text is in a language whose modal words are known here."""
    found = LATIN_WORD.findall(text.lower())
    known = {word for stop in STOP_WORDS.values() for word in stop}
    return not re.search(f"[{UNSPACED}]", text) and (len(found) < 4 or any(word in known for word in found))


def modal(text: str, *, language: str = "") -> str:
    """``requires``, ``allows``, ``forbids``, ``exempts``, or "" where modal words are missing or say several things.

    Args:
        language: that of a text whose own words tell none.
    """
    told = {found for clause in CLAUSE.split(clean(text)) if (found := of_clause(clause, language))}
    return told.pop() if len(told) == 1 and MIXED not in told else ""


def of_clause(clause: str, language: str = "") -> str:
    """The same for one clause; "mixed" where it says several things."""
    own = language_of(clause)
    known = MODALS[language if own == "english" and language else own]
    told: list[str] = []
    for found in known.pattern.finditer(clause):
        kind = kind_of(found, clause, known)
        # What follows a denial is denied: "should not be required".
        if not told or told[-1] not in {FORBIDS, EXEMPTS} or kind in {FORBIDS, EXEMPTS}:
            told.append(kind)
    if told and told[0] in {REQUIRES, ALLOWS} and SUBJECT_NO.match(clause):
        return FORBIDS
    kinds = set(told)
    return (kinds.pop() if len(kinds) == 1 else MIXED) if kinds else ""


def kind_of(found: re.Match[str], clause: str, known: Modals) -> str:
    if found["free"] or found["negated"]:
        return EXEMPTS if found["free"] else FORBIDS
    around = clause
    if known.before:
        around = " ".join(clause[: found.start()].split()[-BEFORE:])
    denied = bool(known.denial.search(around))
    if found["must"]:
        return known.denied if denied else REQUIRES
    return FORBIDS if denied else ALLOWS


def are_opposed(one: str, other: str) -> bool:
    """Whether two modal readings cannot both hold of one thing."""
    return frozenset({one, other}) in OPPOSED
