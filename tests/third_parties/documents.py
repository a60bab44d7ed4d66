# pyright: reportMissingImports=false, reportMissingModuleSource=false
"""Makes the files that the servers read: `python documents.py FOLDER`, in the environment of the servers."""

import sys
from pathlib import Path

import docx
import duckdb
import openpyxl

PARAGRAPHS = 400
ROWS = 900
CITIES = ("Ghent", "Porto", "Turku", "Brno", "Cork", "Split", "Lund")


def write_workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Orders", 0)
    sheet.append(["order", "city", "customer", "total", "note"])
    for n in range(ROWS):
        sheet.append([n, CITIES[n % 7], f"customer {n * 31 % 997}", n * 1.25, None if n % 3 else f"note {n}"])
    book.save(path)


def write_letter(path: Path) -> None:
    letter = docx.Document()
    letter.add_heading("Minutes of the council", 0)
    for n in range(PARAGRAPHS):
        if n % 8 == 0:
            letter.add_heading(f"Meeting {n // 8 + 1} in {CITIES[n // 8 % 7]}", 1)
        letter.add_paragraph(
            f"Point {n}: the council of {CITIES[n % 7]} spent {n * 7919 % 10_007} on item {n % 13}."
        )
    letter.save(path)


def write_database(path: Path) -> None:
    database = duckdb.connect(str(path))
    database.execute(
        "create table orders as select n as id, 'customer ' || n % 997 as customer, n * 1.25 as total,"
        " case when n % 3 = 0 then 'note ' || n end as note from range(5000) as numbers(n)"
    )
    for n in range(200):
        columns = ", ".join(f"column_{n}_{at} varchar" for at in range(20))
        database.execute(f"create table table_{n} (id integer, {columns})")
    database.close()


def write_pdf(path: Path) -> None:
    """Write pages of plain lines, as little of the format as a reader needs."""
    pages = 12
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{' '.join(f'{4 + 2 * n} 0 R' for n in range(pages))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page in range(pages):
        lines = "".join(
            f"(Line {at} of page {page}: {CITIES[at % 7]} reports {page * at * 37 % 991} ships and {at} ferries.) Tj T*\n"
            for at in range(50)
        )
        text = f"BT /F1 10 Tf 14 TL 50 790 Td\n{lines}ET"
        looks = f"/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * page} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R {looks} >>")
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    written, places = "%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    start, size = len(written), len(objects) + 1
    written += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    path.write_text(f"{written}startxref\n{start}\n%%EOF\n")


def main(folder: Path) -> None:
    write_workbook(folder / "orders.xlsx")
    write_letter(folder / "minutes.docx")
    write_database(folder / "orders.duckdb")
    write_pdf(folder / "ships.pdf")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
