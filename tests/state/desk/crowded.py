"""A desk of 300 files with names of 80 characters and 40 open panels, in any script; prints its prompts as JSON."""

import json
import random
import sys

from researchdesk.state.desk.effects import PanelMeta
from researchdesk.state.desk.layout import Panel, PanelLayout
from researchdesk.state.desk.prompt import DecisionShown, DeskView, Focus, PendingShown, desk_prompt
from researchdesk.state.desk.tree import ListedFile

COMMON = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子"
SCRIPTS = {
    "common chinese": COMMON,
    "chinese": "".join(map(chr, range(0x4E00, 0x9FA6))),
    "rare chinese": "".join(map(chr, range(0x3400, 0x4DB6))),
    "hangul": "".join(map(chr, range(0xAC00, 0xD7A4))),
    "kana": "".join(map(chr, range(0x3041, 0x3097))),
    "thai": "".join(map(chr, range(0x0E01, 0x0E2F))),
    "arabic": "".join(map(chr, range(0x0621, 0x064B))),
    "devanagari": "".join(map(chr, range(0x0905, 0x093A))),
    "amharic": "".join(map(chr, range(0x1200, 0x1248))),
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "russian": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "letters": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
}


def crowded(script: str) -> DeskView:
    """The desk with names in this script; the same each time."""
    dice = random.Random(script)

    def name(length: int = 80) -> str:
        return "".join(dice.choices(SCRIPTS[script], k=length))

    files = tuple(
        ListedFile(
            id=f"f_{number:012x}",
            kind=("spreadsheet", "markdown")[number % 2],
            path=name() if number % 3 else f"{name()}/{name()}",
            rev=number % 9 + 1,
            size=number * 997,
        )
        for number in range(300)
    )
    panels = tuple(
        Panel(id=f"panel_{file.id}", type=file.kind, title=file.path, meta=PanelMeta(file_id=file.id))
        for file in files[:40]
    )
    return DeskView(
        files=files,
        panels=PanelLayout(panels=panels, focused=panels[7].id),
        focus=Focus(
            selection=name(200), titles=tuple(f"# {name()}" for _ in range(20)), dimensions="A1:ZZ900"
        ),
        decisions=tuple(
            DecisionShown(
                proposal_id=f"p_{number:012x}",
                verb="change",
                path=files[number].path,
                status="rejected",
                actor="human:ann",
                reason=name(240),
            )
            for number in range(15)
        ),
        pending=tuple(
            PendingShown(proposal_id=f"p_{number:012x}", verb="rename", path=files[number].path)
            for number in range(15, 30)
        ),
    )


if __name__ == "__main__":
    json.dump(
        [{"name": script, "text": desk_prompt(crowded(script))} for script in SCRIPTS],
        sys.stdout,
        ensure_ascii=False,
    )
