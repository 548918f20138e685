"""Real documents made by hand: a PDF with and without text, a Word file, a notebook."""

import io
import json

import docx


def pdf(*pages: str, title: str = "") -> bytes:
    """Write a minimal PDF; a page with "" as text has no text layer."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 100 100 l S"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>"
    objects.append(f"<< /Title ({title}) >>")
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    out.write(f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def word() -> bytes:
    """Write a Word file with a title, a heading, a list and a table."""
    document = docx.Document()
    document.core_properties.title = ""
    document.add_heading("Password policy", 0)
    document.add_paragraph("Applies to all staff.")
    document.add_heading("Length", 1)
    document.add_paragraph("At least 15 characters.", style="List Bullet")
    table = document.add_table(2, 2)
    for row, column, text in ((0, 0, "Level"), (0, 1, "Length"), (1, 0, "AAL1"), (1, 1, "8 | more")):
        table.cell(row, column).text = text
    document.add_paragraph("End of policy.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def notebook() -> bytes:
    """Write a notebook with prose, code, printed output and a picture."""
    cells = [
        {"cell_type": "markdown", "source": ["# Entropy of passwords\n", "We measure it."]},
        {
            "cell_type": "code",
            "source": "print(2 ** 10)",
            "outputs": [
                {"output_type": "stream", "text": ["1024\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": ["<Figure>"]}},
            ],
        },
    ]
    language = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}).encode()
