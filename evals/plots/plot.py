"""A plot: a chart with what it counts, shown in a notebook as SVG, and written as SVG, PNG or one HTML page."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import altair as alt
import vl_convert as vlc
from lxml import etree

from researchdesk.state.errors import UsageError
from researchdesk.tools.writing import whole_file

Rows = list[dict[str, Any]]
Chart = Any
"""A chart of Altair: what its builders give has no exact type."""
FORMATS: Final = (".svg", ".html", ".png")
_SVG: Final = "{http://www.w3.org/2000/svg}"
_PNG_SCALE: Final = 2.0
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE: Final = """
:root { color-scheme: light dark; }
body { margin: 2rem; font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
figure { margin: 0 auto; width: fit-content; max-width: 100%; overflow-x: auto; padding: 1rem; background: #fff; }
svg { display: block; max-width: 100%; height: auto; }
@media print { body { margin: 0; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart of Altair, the rows that it shows, and in ``caption`` what it is and what is counted.

    It draws nothing but its rows and loads nothing from anywhere. In SVG and HTML each mark tells by its title what it
    stands for.
    """

    chart: Chart
    rows: Rows
    caption: str

    def svg(self) -> str:
        """The picture as SVG."""
        return _titled(vlc.vegalite_to_svg(self._spec(), vl_version=_version(), allowed_base_urls=[]))

    def png(self) -> bytes:
        """The picture as PNG, with twice as many dots as the SVG has units; letters need a font of the system."""
        return vlc.vegalite_to_png(
            self._spec(), vl_version=_version(), scale=_PNG_SCALE, allowed_base_urls=[]
        )

    def html(self) -> str:
        """The picture as one page without a script, which loads nothing."""
        return (
            '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.caption.splitlines()[0])}</title>\n<style>{_STYLE}</style>\n</head>\n"
            f"<body>\n<figure>\n{self.svg()}\n</figure>\n</body>\n</html>\n"
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file in the format that its name ends with: ``.svg``, ``.html`` or ``.png``.

        Raises:
            UsageError: it ends otherwise, or is a folder.
            Unavailable: it cannot be written.
        """
        target = Path(path)
        body = self._written(target.suffix.lower(), str(path))
        with whole_file(target) as file:
            file.write(body)
        return target

    def _written(self, suffix: str, name: str) -> bytes:
        match suffix:
            case ".svg":
                return self.svg().encode()
            case ".html":
                return self.html().encode()
            case ".png":
                return self.png()
        raise UsageError(
            f"a plot is written to a file that ends with {', '.join(FORMATS)}; got '{name[:300]}'"
        )

    def _spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.chart.to_dict()
        return spec

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.caption}


def _version() -> str | None:
    """The version of Vega-Lite that the charts are written in, where the converter has it."""
    wanted = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
    return wanted if wanted in vlc.get_vegalite_versions() else None


def _titled(svg: str) -> str:
    """The SVG with each mark's description as its title too, which is what a browser shows under the pointer."""
    root = etree.fromstring(
        svg.encode(), etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True)
    )
    for mark in root.iter(f"{_SVG}path", f"{_SVG}text", f"{_SVG}line", f"{_SVG}rect"):
        told = mark.get("aria-label")
        if told and mark.get("role") == "graphics-symbol":
            title = etree.Element(f"{_SVG}title")
            title.text = told
            mark.insert(0, title)
            title.tail, mark.text = mark.text, None
    return str(etree.tostring(root, encoding="unicode"))
