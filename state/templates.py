"""The checklist and the report sections that a run has to settle."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.errors import Refusal, UsageError
from researchdesk.state.limits import CHECKLIST_ITEMS
from researchdesk.state.names import clean_id

TITLE_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Part:
    """One checklist item or report section: its key and the words a reader sees."""

    key: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Template:
    """What a kind of question asks of a run; recorded whole in its first event."""

    name: str
    checklist: tuple[Part, ...]
    sections: tuple[Part, ...]
    handoff: tuple[Part, ...]
    """Titles of the four structured handoff lists, keyed by their argument names."""


def _parts(**titles: str) -> tuple[Part, ...]:
    return tuple(Part(key=key, title=title) for key, title in titles.items())


IMPLEMENTATION = Template(
    name="implementation",
    checklist=_parts(
        project_entrypoints="Project entry points",
        core_flow="Core flow",
        boundaries="Boundaries",
        verification_evidence="Verification evidence",
    ),
    sections=_parts(
        conclusion="Conclusion",
        source_evidence="Source evidence",
        borrow_diverge_risk_gate="What to borrow, where to diverge, risks and gates",
        implementation_recommendations="Implementation recommendations",
        verification="Verification",
    ),
    handoff=_parts(
        implementation_tasks="Implementation tasks",
        recommended_issues="Recommended issues",
        recommended_pull_requests="Recommended pull requests",
        verification_commands="Verification commands",
    ),
)

GENERAL = Template(
    name="general",
    checklist=_parts(
        scope_and_terms="Scope and terms",
        primary_sources="Primary sources",
        agreement_and_conflict="Agreement and conflict",
        gaps="Gaps",
    ),
    sections=_parts(
        key_takeaways="Key takeaways",
        background="Background",
        findings="Findings",
        disagreements_and_gaps="Disagreements and gaps",
        recommendations="Recommendations",
    ),
    handoff=_parts(
        implementation_tasks="Decisions",
        recommended_issues="Follow-up questions",
        recommended_pull_requests="Proposed changes",
        verification_commands="Checks to repeat",
    ),
)

HANDOFF_KEYS = tuple(part.key for part in IMPLEMENTATION.handoff)
_registered: dict[str, Template] = {t.name: t for t in (IMPLEMENTATION, GENERAL)}


def register_template(template: Template) -> None:
    """Make a template available by its name in this process.

    Raises:
        UsageError: the name is taken by another template, its parts are empty, repeated or too many, or its
            handoff lists are not the four of the completion.
    """
    if sorted(part.key for part in template.handoff) != sorted(HANDOFF_KEYS):
        raise UsageError(f"template '{template.name}' titles the handoff lists {', '.join(HANDOFF_KEYS)}")
    for part in (*template.checklist, *template.sections, *template.handoff):
        try:
            clean_id(part.key, "key")
        except Refusal as problem:
            raise UsageError(f"template '{template.name}': {problem.text}") from None
        if not 0 < len(part.title.strip()) <= TITLE_CHARS:
            raise UsageError(
                f"template '{template.name}': '{part.key}' needs a title of 1..{TITLE_CHARS} characters"
            )
    for parts in (template.checklist, template.sections):
        keys = [part.key for part in parts]
        if not 0 < len(keys) <= CHECKLIST_ITEMS or len(set(keys)) != len(keys):
            raise UsageError(
                f"template '{template.name}' needs 1..{CHECKLIST_ITEMS} distinct keys, has {keys}"
            )
    if _registered.get(template.name, template) != template:
        raise UsageError(f"a different template '{template.name}' is registered already")
    _registered[template.name] = template


def template_named(name: str) -> Template:
    """The registered template of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in _registered:
        raise UsageError(f"no template '{name}'; there are {', '.join(sorted(_registered))}")
    return _registered[name]
