// The columns of the customs portal's report. Their headings are not documented, so a column is found by
// any of its names.

import { type FieldProblem, unprocessable } from "../kernel/failure.ts";

/** A row of a report as text, whatever it was written as. */
export type ReportRecord = {
  /** As a spreadsheet counts. */
  readonly row: number;
  readonly cells: readonly string[];
  /** Why the row cannot be read at all. */
  readonly problem?: string | undefined;
  /** Cells that are not what their columns need. */
  readonly problems?: readonly FieldProblem[];
};

/** The rows from the heading on; the others are only counted. */
export type ReportSheet = { readonly records: readonly ReportRecord[]; readonly blank: number };

/** A report as text, or as the rows of a workbook. */
export type ReportSource = { readonly csv: string } | { readonly sheet: ReportSheet };

/** A heading is looked for in the first rows only: above it may be a title and whose report it is. */
export const headingRowsMax = 20;

const aliases = {
  scrip_no: [
    "scripno",
    "scripnumber",
    "scripid",
    "scrip",
    "escripno",
    "escripnumber",
    "escripid",
    "creditscripno",
    "creditscripnumber",
  ],
  scheme: ["scheme", "schemename", "schemecode", "schemetype", "scripscheme"],
  issued: [
    "amount",
    "scripamount",
    "issuedamount",
    "issueamount",
    "issued",
    "scripvalue",
    "originalamount",
    "totalamount",
    "issuedrupees",
  ],
  face: [
    "balance",
    "balanceamount",
    "scripbalance",
    "availablebalance",
    "currentbalance",
    "face",
    "facevalue",
    "facerupees",
  ],
  port: ["port", "portcode", "customsport", "customsstation", "location", "locationcode"],
  issued_on: [
    "issuedon",
    "issuedate",
    "issueddate",
    "dateofissue",
    "scripdate",
    "scripissuedate",
    "creationdate",
    "createdon",
    "generationdate",
  ],
  expires_on: [
    "expireson",
    "expirydate",
    "dateofexpiry",
    "expiry",
    "scripexpirydate",
    "validupto",
    "validtill",
    "validuntil",
    "validitydate",
  ],
  iec: ["iec", "iecno", "ieccode", "iecnumber", "importerexportercode"],
} as const satisfies Record<string, readonly string[]>;

export type ReportColumn = keyof typeof aliases;
export type ReportColumns = Partial<Record<ReportColumn, number>>;

const columnsByTitle = new Map<string, ReportColumn>(
  Object.entries(aliases).flatMap(([column, names]) =>
    names.map((name): [string, ReportColumn] => [name, column as ReportColumn]),
  ),
);

/** No title is longer, with a note in brackets; a longer text is not looked at. */
const titleLengthMax = 200;

/** The column that a title names. */
export function nameColumn(title: string): ReportColumn | undefined {
  if (title.length > titleLengthMax) return undefined;
  return columnsByTitle.get(normalizeTitle(title));
}

/** Where the heading is: the first row that names the scrip number and two more columns. */
export function findHeading(rows: readonly (readonly string[])[]): number | undefined {
  const at = rows.slice(0, headingRowsMax).findIndex((cells) => {
    const named = new Set(cells.flatMap((title) => nameColumn(title) ?? []));
    return named.has("scrip_no") && named.size > 2;
  });
  return at < 0 ? undefined : at;
}

/** A report without the required columns is refused as a whole. */
export function findColumns(heading: readonly string[], path: "csv" | "xlsx"): ReportColumns {
  const columns: ReportColumns = {};
  const problems: FieldProblem[] = [];
  heading.forEach((title, index) => {
    const column = nameColumn(title);
    if (!column) return;
    if (columns[column] === undefined) columns[column] = index;
    else problems.push({ path, problem: `two columns mean ${column}` });
  });
  for (const column of ["scrip_no", "scheme", "issued_on", "expires_on"] as const) {
    if (columns[column] === undefined) {
      problems.push({ path, problem: `the heading has no column for ${column}` });
    }
  }
  if (columns.issued === undefined && columns.face === undefined) {
    problems.push({ path, problem: "the heading has no column for the amount" });
  }
  if (problems.length > 0) throw unprocessable(...problems);
  return columns;
}

/** `Balance Amount (Rs.)` and `balance_amount` are one title. */
function normalizeTitle(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/\([^)]{0,40}\)/g, "")
    .replaceAll(/[^a-z0-9]/g, "");
}
