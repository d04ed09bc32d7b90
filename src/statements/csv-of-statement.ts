import { type Cell, csvText } from "../kernel/csv.ts";
import { rupeesPlain } from "../kernel/rupees.ts";
import type { PaiseSum } from "../kernel/sums.ts";
import { mapPaced, type Pace } from "../platform/pace.ts";
import type { Statement } from "./schema.ts";

const columns = [
  "line_no",
  "at",
  "kind",
  "description",
  "reference",
  "utr",
  "hsn",
  "scheme",
  "scrip_nos",
  "face_rupees",
  "price_percent",
  "amount_rupees",
  "balance_rupees",
] as const;

/** The lines between opening and closing, of which a part has what is its own; amounts are rupees, as the desk's own imports are. */
export async function csvOfStatement(statement: Statement, pace: Pace): Promise<string> {
  const lines = await mapPaced(statement.lines, (line) => csvText([listCells(line)]), pace);
  const [first, last] = [statement.lines.at(0)?.line_no ?? 1, statement.lines.at(-1)?.line_no];
  const isEnd = (last ?? statement.line_count) === statement.line_count;
  const opening = edge("opening", statement.from, statement.opening_paise);
  const closing = edge("closing", statement.as_of, statement.closing_paise);
  return [
    csvText([columns, ...(first === 1 ? [opening] : [])]),
    ...lines,
    csvText(isEnd ? [closing] : []),
  ].join("");
}

function listCells(line: Statement["lines"][number]): Cell[] {
  return [
    line.line_no,
    line.at,
    line.kind,
    line.description,
    line.reference,
    line.utr,
    line.hsn,
    line.scheme,
    line.scrip_nos.join(" "),
    line.face_paise === null ? null : rupeesPlain(line.face_paise),
    line.price_bps === null ? null : rupeesPlain(line.price_bps),
    rupeesPlain(line.amount_paise),
    rupeesPlain(line.balance_paise),
  ];
}

/** A balance that no line leaves. */
function edge(kind: "opening" | "closing", at: string, balance: PaiseSum): Cell[] {
  const description = kind === "opening" ? "Opening balance" : "Closing balance";
  const between = columns.slice(4, -1).map(() => null);
  return [null, at, kind, description, ...between, rupeesPlain(balance)];
}
