"""The report as one HTML page that is safe to open: no scripts, no ids, nothing loaded from anywhere."""

from html import escape

import nh3
from markdown_it import MarkdownIt

from researchdesk.graph.plain import one_line
from researchdesk.graph.report import Report
from researchdesk.graph.report_markdown import markdown

_TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("strong", "em", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; line-height: 1.6;
  font-family: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; font-size: 1.08rem;
  color: #1d2126; background: #fdfdfb; overflow-wrap: break-word; }
h1, h2, h3, h4 { line-height: 1.25; font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 1.2rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .7rem; padding-top: .9rem; border-top: 1px solid #d9d9d3; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
h1 + ul { list-style: none; margin: 0 0 1rem; padding: .8rem 1.1rem; border-left: 3px solid #4a6b8a;
  background: #f1f3f4; font-size: .95rem; }
li { margin: .3rem 0; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid #d9d9d3; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .85em; }
pre { overflow-x: auto; padding: .8rem; background: #f1f3f4; line-height: 1.4; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #d9d9d3; padding: .3rem .6rem; text-align: left; }
a { color: #2b5c8a; }
@media (prefers-color-scheme: dark) {
  body { color: #dcdfe2; background: #16181a; }
  h1 + ul, pre { background: #202427; }
  h2, th, td, blockquote { border-color: #3a3f44; }
  a { color: #8ab6dc; }
}
@media print { body { max-width: none; margin: 0; font-size: 10.5pt; } h2 { break-after: avoid; } }
"""
_RENDERER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def html(report: Report) -> str:
    """The whole page, UTF-8."""
    return (
        "<!doctype html>\n<html>\n<head>\n"
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(one_line(report.objective, limit=120))}</title>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{_content(markdown(report))}</body>\n</html>\n"
    )


def _content(document: str) -> str:
    return nh3.clean(
        _RENDERER.render(document),
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
