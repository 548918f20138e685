"""What a question asks for, as far as its words tell: terms, frame, quantity."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.feedback import COMMON
from researchdesk.graph.offline.terms import Vocabulary, words

FRAMES: tuple[tuple[str, str], ...] = (
    (
        "minimum min least shortest lowest",
        "minimum|at least|no less|not less|no fewer|or more|shorter than|less than|≥|>=",
    ),
    (
        "maximum max most longest highest limit",
        "maximum|at most|up to|no more|not exceed|or fewer|or less|longer than|≤|<=",
    ),
    (
        "regular interval periodic frequency often rotate schedule",
        "periodic|regular|every |interval|rotat|schedul|per day",
    ),
    ("force require mandatory enforce must shall oblige need", "requir|must|shall|enforce|mandat|force|need"),
    (
        "allow acceptable accept permit may still valid use",
        "allow|permit|accept|may |restrict|suitable|recogni",
    ),
    (
        "deprecate obsolete remove still outdated legacy",
        "deprecat|obsolete|removed|no longer|restrict|legacy|supersed|withdrawn",
    ),
    ("forbid prohibit ban avoid disallow", "not |avoid|never|forbid|prohibit|disallow"),
    ("recommend should best advise guideline", "recommend|should|advis|prefer|best practice|encourag"),
    ("default", "default|unless|if not set|if omitted"),
    ("why reason cause because", "because|since|due to|reason|therefore|so that|in order to"),
    ("define mean definition", " is a | is an | are a|means|refers to|defined as|known as"),
    ("when date year version since", "since|version|in \\d{4}|until|added in|as of|release"),
    (
        "difference differ compare versus better",
        "unlike|whereas|instead|in contrast|while|rather than|compared|differ",
    ),
    ("how configure set install enable step", "set |use |add |configur|enable|install|call "),
    (
        "risk danger attack threat weakness problem",
        "risk|attack|threat|vulnerab|weak|danger|expose|compromis",
    ),
    ("benefit advantage strength", "benefit|advantage|improv|strength|increase|reduce"),
    ("many much number count", "\\d"),
    ("long duration timeout lifetime expire", "second|minute|hour|day|week|month|year|expir"),
    ("fail error wrong happen", "error|fail|throw|raise|exception|reject"),
)
"""Words that frame a question, and what an answer to it then says: patterns over folded English text."""

FRAME_WEIGHT, LEARNED_WEIGHT = 0.4, 0.4
POLAR = re.compile(
    r"\s*(?:should|must|may|can|could|is|are|does|do|did|will|would|has|have|were|shall|need|ought|was (?!ist\b|sind\b)"
    r"|muss|müssen|darf|dürfen|soll(?:en|te|ten)?|kann|können|ist|sind|doit|doivent|faut|peut|est-ce|deben?|pueden?"
    r"|deve|devono|può|devem|pode|moet|moeten|mag|mogen|можно|нужно|должн\w+)\b",
    re.IGNORECASE,
)
BOUNDED = re.compile(
    r"\b(?:minimum|maximum|at least|at most|how (?:many|much|often|long|large|big|fast))\b", re.IGNORECASE
)
DEFINITION = re.compile(
    r"\s*(?:what (?:is|are)|what does \S+ mean|was (?:ist|sind)|wat (?:is|zijn)|qu['’]est-ce que?|qué (?:es|son)"
    r"|cos['’]è|o que é|что такое)\s+(?:an? |the |eine? |une? |el |la )?\S+(?: \S+){0,2}\s*\?*\s*$",
    re.IGNORECASE,
)
PHRASES = {
    "go on": "resume resumes resumed resuming continue continues continued",
    "carry on": "resume resumes resumed resuming continue continues continued",
    "start over": "restart restarts restarted reset resets",
    "log in": "login logins sign-in",
}
"""Phrases of words that every text holds, and what texts say for them."""
HEADS = tuple(
    frozenset(names.split())
    for names in (
        "last lasts lasted lasting life lifetime runtime run runs ran",
        "take takes took taken taking duration",
        "keep keeps kept keeping retain retains retained retention store stored",
        "weigh weighs weighed weight",
        "cost costs price priced fee",
        "hold holds held capacity",
    )
)
"""Verbs by which a quantity of something is asked for, with words that tell the same."""
BRACKETS = re.compile(r"\([^()]*\)")
DESCRIBED = re.compile(
    r"\s*(?:how|why|where|when|who|what (?:is|are|was|were))\b(?:(?!\b(?:should|must|may|shall|ought|required)\b).)*$",
    re.IGNORECASE | re.DOTALL,
)
META = """agree disagree consensus current guideline guidance advice source publisher document according question answer
    compare difference opinion say practice sure project repository codebase program"""
QUANTITIES: tuple[tuple[str, str], ...] = (
    ("length long short character", "character byte bit digit letter word symbol meter metre"),
    ("duration long time timeout lifetime period age expire expiry interval often frequency retention soon lock",
     "millisecond second minute hour day week month year ms"),
    ("size large big memory big storage limit", "byte bit kb mb gb kib mib gib character"),
    ("cost price expensive fee", "dollar euro usd eur cent"),
    ("entropy strength", "bit"),
    ("rate share percentage fraction probability accuracy", "percent % time"),
    ("attempt retry try failure lockout", "attempt failure try retry time request"),
    ("rate limit quota throttling throughput", "request call message transaction query"),
    ("thickness thick width wide height tall depth deep distance diameter radius spacing clearance",
     "millimetre centimetre metre kilometre inch foot"),
    ("weight mass heavy load", "kilogram gram tonne pound newton"),
    ("temperature hot cold warm", "degree celsius fahrenheit kelvin"),
    ("voltage power", "volt watt kilowatt ampere"),
    ("speed velocity fast", "kilometre mile knot"),
    ("lang länge longueur longitud lunghezza comprimento lengte длина",
     "zeichen stelle bit byte caractère carácter carattere caractere teken символ meter millimeter zentimeter"),
    ("lang lange dauer oft häufig durée duración durata duração duur срок",
     "sekunde minute stunde tag woche monat jahr seconde heure jour mois segundo hora día mes año ora giorno mese anno"
     " dia uur dag maand день месяц год час"),
    ("hoch höhe groß größe breit breite tief dick", "meter millimeter zentimeter kilometer byte"),
    ("schwer gewicht", "kilogramm gramm tonne"),
    ("heiß kalt warm temperatur", "grad"),
    ("teuer kosten preis", "euro"),
)  # fmt: skip
COUNTED = re.compile(
    r"\b(?:wie ?viele?n?|combien d[e'’]|cuánt[ao]s|quant[ie]|quant[ao]s|hoeveel|сколько)\s*(\w+(?:\s+\w+){0,2})"
    r"|(?:何|幾|いくつの|多少|几|몇\s?)(?=(\w{1,2}))",
    re.IGNORECASE,
)
"""How a number is asked for in other languages, and the words or characters of its unit."""
ANY_UNIT = "*"
"""Words for a quantity, and the units in which it is told."""


@dataclass(frozen=True, slots=True)
class Question:
    """An objective in the shape in which sentences are scored against it.

    Args:
        terms: its content terms in order, each once.
        learned: terms that feedback added to its searches.
        frames: for each frame its terms in the question (none where a stop word asked) and the pattern of what
            an answer then says.
        is_polar: true where yes or no would answer.
        bounds: kinds of bound that answer: of ``min``, ``max``, ``permit`` and ``exact``.
        learned_words: the learned terms as they were searched for.
        focus: terms without frame, meta and quantity words: what it is about.
        subject: the focus without names of quantities: the thing itself.
        aliases: other names of the subject that documents gave, each as its terms.
        heads: words, as written, by which a sentence tells what the question asks of its subject; none where its last
            word is no such verb.
        units: terms of units in which the answer may be told; empty when no quantity is asked for.
    """

    text: str
    vocabulary: Vocabulary
    terms: tuple[str, ...]
    learned: tuple[str, ...]
    frames: tuple[tuple[frozenset[str], str], ...]
    focus: tuple[str, ...]
    units: frozenset[str]
    is_polar: bool
    bounds: frozenset[str]
    learned_words: tuple[str, ...]
    subject: tuple[str, ...]
    aliases: tuple[frozenset[str], ...] = ()
    heads: frozenset[str] = frozenset()

    def has_head(self, text: str) -> bool:
        """True where a sentence says what the question asks of its subject."""
        return bool(self.heads & set(words(text)))

    def names_subject(self, held: Collection[str]) -> bool:
        """True where the terms name half of what the question is about, or another name of it."""
        by_name = 2 * sum(term in held for term in self.subject) >= len(self.subject)
        return by_name or self.is_named_otherwise(held)

    def is_named_otherwise(self, held: Collection[str]) -> bool:
        """True where the terms hold most of another name of the subject."""
        return any(len(name & set(held)) * 3 >= len(name) * 2 for name in self.aliases)

    def answers_in(self, unit: str) -> bool:
        """True where a value in this unit may be the answer; a rate answers in its first unit or in both."""
        return bool(unit) and (ANY_UNIT in self.units or any(part in self.units for part in unit.split("/")))

    @property
    def is_definition(self) -> bool:
        """True where the question asks what something is."""
        return bool(DEFINITION.match(self.text))

    @property
    def wants_number(self) -> bool:
        return bool(self.units)

    @property
    def wants_rule(self) -> bool:
        """True where the answer says what is to be done or not; how something works is told without "must"."""
        return self.is_polar or self.wants_number or not DESCRIBED.match(self.text)

    @property
    def asked_units(self) -> tuple[str, ...]:
        """Words of the units that would answer, for a search."""
        return tuple(sorted(self.units - set(self.terms) - {ANY_UNIT}))

    def weight(self, term: str) -> float:
        """How much a term of the question counts: what it is about in full, its frame and learned words less."""
        if term in self.focus:
            return 1.0
        return FRAME_WEIGHT if term in self.terms else LEARNED_WEIGHT


def read_question(
    text: str, *, queries: Sequence[str] = (), aliases: Sequence[str] = (), publishers: Sequence[str] = ()
) -> Question:
    """A question from its text and what its searches added.

    Args:
        queries: widened queries; words that only they hold were learned.
        aliases: other names of its subject.
        publishers: names of publishers; a question is not about them, whom it asks.
    """
    vocabulary = Vocabulary.of(text)
    terms = tuple(dict.fromkeys(vocabulary.terms(text)))
    asked = [word for query in queries for word in vocabulary.terms(query)]
    learned = tuple(term for term in dict.fromkeys(asked) if term not in terms)
    forms = {vocabulary.term(word): word for query in queries for word in words(query)}
    stems = frozenset((*terms, *words(text)))  # stop words frame a question too
    framing = [(stems & names, pattern) for names, pattern in stemmed_frames(vocabulary) if stems & names]
    frame_terms = frozenset[str]().union(*(names for names, _ in framing))
    aside = frame_terms | stems_of(META, vocabulary) | {vocabulary.term(name) for name in publishers}
    focus = tuple(term for term in terms if term not in aside) or terms
    quantities = frozenset[str]().union(*(stems_of(names, vocabulary) for names, _ in QUANTITIES))
    in_english = vocabulary.language == "english"
    return Question(
        text=text,
        vocabulary=vocabulary,
        terms=terms,
        learned=learned,
        frames=tuple((names & set(terms), pattern) for names, pattern in framing) if in_english else (),
        focus=focus,
        units=units_of(text, vocabulary),
        is_polar=bool(POLAR.match(text)),
        bounds=bounds_of(text),
        learned_words=tuple(forms[term] for term in learned),
        subject=subject_of(text, focus, quantities, vocabulary),
        aliases=tuple(parts for name in aliases if (parts := frozenset(vocabulary.terms(name)))),
        heads=heads_of(text),
    )


def heads_of(text: str) -> frozenset[str]:
    """What tells the question's last verb, where that is a word of every text."""
    asked = words(text)
    phrase = PHRASES.get(" ".join(asked[-2:]), "")
    return frozenset(phrase.split()) or next(
        (names for names in HEADS if names & set(asked[-1:])), frozenset()
    )


def subject_of(
    text: str, focus: tuple[str, ...], quantities: frozenset[str], vocabulary: Vocabulary
) -> tuple[str, ...]:
    """The focus without quantities, words of every text, and what stands in brackets to explain the rest."""
    outside = vocabulary.terms(BRACKETS.sub(" ", text))
    common = {vocabulary.term(word) for word in COMMON}
    telling = [term for term in focus if term not in quantities and term not in common]
    return tuple(term for term in telling if term in outside) or tuple(telling) or focus


def stemmed_frames(vocabulary: Vocabulary) -> list[tuple[frozenset[str], str]]:
    return [(stems_of(names, vocabulary), pattern) for names, pattern in FRAMES]


def stems_of(names: str, vocabulary: Vocabulary) -> frozenset[str]:
    return frozenset(vocabulary.term(word) or word for word in names.split())


def bounds_of(text: str) -> frozenset[str]:
    """Which bounds a question asks for; all of them where it names none."""
    if re.search(
        r"\b(?:minimum|min|least|shortest|lowest|smallest|mindestens|wenigstens|minim\w+|au moins|al menos|almeno)\b",
        text,
        re.IGNORECASE,
    ):
        return frozenset({"min", "exact"})
    if re.search(
        r"\b(?:maximum|max|most|longest|highest|largest|limit|höchstens|maxim\w+|au plus|al massimo)\b",
        text,
        re.IGNORECASE,
    ):
        return frozenset({"max", "permit", "exact"})
    return frozenset({"min", "max", "permit", "exact"})


def units_of(text: str, vocabulary: Vocabulary) -> frozenset[str]:
    """Terms of the units that would answer, by the words "how many X" and by the quantity's name."""
    asked = words(text)
    stems = {vocabulary.term(word) or word for word in asked}
    units: set[str] = set()
    for at, word in enumerate(asked[:-2]):
        if word == "how" and asked[at + 1] in {"many", "much", "few"}:
            units |= {vocabulary.term(one) for one in asked[at + 2 : at + 7] if vocabulary.term(one)}
    for found in COUNTED.finditer(text):
        units |= {vocabulary.term(one) for one in words(found[1] or found[2])[:3] if vocabulary.term(one)}
    if units:
        return frozenset(units)
    quantified = vocabulary.language != "english" or bool(
        {"how", "minimum", "maximum", "what", "which", "default"} & set(asked)
    )
    for names, told in QUANTITIES:
        if quantified and stems & stems_of(names, vocabulary):
            units |= stems_of(told, vocabulary)
    return frozenset(units or ({ANY_UNIT} if BOUNDED.search(text) else ()))
