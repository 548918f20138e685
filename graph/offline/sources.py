"""What is known of the archived sources of a view: names for readers, editions of one work, what their words count."""

import re
from collections.abc import Mapping

from researchdesk.graph.offline.gathering import ASIDE, Folders, folder_parts, is_aside
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.programs import is_program
from researchdesk.graph.offline.statements import Known
from researchdesk.graph.offline.view import Source, View
from researchdesk.state.locators import is_web, path_of

PROGRAM = 0.8
"""What a comment in a program counts beside a text that is written for readers."""
VERSION = re.compile(
    r"(?:draft|final|edition|version|release|revision|rev|v)?[\W_]*(?:0x[0-9a-f]+|v?\d+)[\W_]*(?:draft|final)?",
    re.I,
)
TITLE = 90


def known_of(view: View, *, with_asides: bool = False) -> Known:
    """What is known of the sources that the view shows.

    Args:
        with_asides: whether tests and examples are asked for, and count as much as any text.
    """
    return Known(
        sources={source.source_id: source for source in view.sources},
        names=document_names(view),
        works={source.source_id: work_of(source.locator) for source in view.sources},
        weights={source.source_id: weight_of(source, with_asides) for source in view.sources},
    )


def weight_of(source: Source, with_asides: bool) -> float:
    """What a quote of this source counts: a program less than a text, tests and examples less than both."""
    if is_aside(source.locator) and not with_asides:
        return ASIDE
    return PROGRAM if is_program(source.locator) else 1.0


def document_names(view: View) -> Mapping[str, str]:
    """A name for each source: its title, with the folders that tell editions apart; else its path."""
    folders = Folders.of(source.locator for source in view.sources)
    names = {}
    for source in view.sources:
        place = "" if is_web(source.locator) else "/".join(folder_parts(source.locator)[folders.depth :][:2])
        title = title_of(source)
        path = path_of(source.locator)
        named = f"{title} (`{place}`)" if place else title
        names[source.source_id] = named if title else "`" + path.replace("`", "'") + "`"
    return names


def title_of(source: Source) -> str:
    """The title on one line, "" where there is none but the locator."""
    name = source.own_title
    return " ".join(clean(name).replace('"', "'").replace("[", "(").replace("]", ")").split())[:TITLE]


def work_of(locator: str) -> str:
    """What the editions of one work share: its path without versions, "" where no folder has one."""
    *folders, name = locator.lower().split("/")
    if not any(re.search(r"\d", folder) for folder in folders):
        return ""
    parts = [" ".join(re.findall(r"[a-z]+", VERSION.sub(" ", part))) for part in (*folders, name)]
    return "/".join(parts)
