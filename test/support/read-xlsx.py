"""Reads a workbook from standard input with nothing of the service: every cell with its type, style and
text, as JSON. It knows as much of the format as a spreadsheet needs to show a cell."""

import io
import json
import sys
import zipfile
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
BUILT_IN = {0: "General", 1: "0", 2: "0.00", 4: "#,##0.00", 49: "@"}

package = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert package.testzip() is None


def part(name):
    return ElementTree.fromstring(package.read(name))


styles = part("xl/styles.xml")
codes = dict(BUILT_IN)
for own in styles.iter(MAIN + "numFmt"):
    codes[int(own.get("numFmtId"))] = own.get("formatCode")
formats = [
    {"format": codes[int(xf.get("numFmtId"))], "guarded": xf.get("quotePrefix") == "1"}
    for xf in styles.find(MAIN + "cellXfs")
]
sheet = part("xl/worksheets/sheet1.xml")
rows = []
for row in sheet.iter(MAIN + "row"):
    cells = {}
    for cell in row:
        kind = cell.get("t", "n")
        text = "".join(t.text or "" for t in cell.iter(MAIN + "t"))
        value = text if kind == "inlineStr" else cell.findtext(MAIN + "v")
        column = cell.get("r").rstrip("0123456789")
        formula = cell.find(MAIN + "f") is not None
        cells[column] = {"kind": kind, "value": value, "formula": formula, **formats[int(cell.get("s"))]}
    rows.append(cells)
pane = sheet.find(f"{MAIN}sheetViews/{MAIN}sheetView/{MAIN}pane")
print(
    json.dumps(
        {
            "sheet": part("xl/workbook.xml").find(f"{MAIN}sheets/{MAIN}sheet").get("name"),
            "title": part("docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title"),
            "frozen": pane.get("state") == "frozen" and pane.get("ySplit") == "1",
            "widths": [float(col.get("width")) for col in sheet.iter(MAIN + "col")],
            "rows": rows,
        }
    )
)
