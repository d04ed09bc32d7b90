// What the customs portal's report of transfers says of our deals. The portal's form is data, as a bank's
// is: it names the headings and the words of each column. A row that cannot be read, or that is of no deal
// of ours or not as dealt, waits for a person with its reason; nothing is concluded from it.

import { parseDay, parseRupees } from "../credits/read-report.ts";
import type { ReportRecord } from "../credits/report-rules.ts";
import { type Failure, unprocessable } from "../kernel/failure.ts";
import { dayMs, type IstDay, istDayStart, parseInstant } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import { computeDueAt, findFault, isAtCustoms, type LegOutcome, type QueuedRow } from "./rules.ts";
import type { LegRow } from "./store.ts";

/** The headings of a report, and the words of its status; several words are divided by `|`. */
export type ReportForm = {
  readonly name: string;
  /** The first day on which the portal writes it. */
  readonly since: IstDay;
  readonly scrip_no: string;
  readonly face: string;
  readonly from_iec: string;
  readonly to_iec: string;
  readonly status: string;
  readonly initiated: string;
  /** When it was accepted or ended, where the form has that. */
  readonly ended?: string | undefined;
  readonly pending: string;
  readonly transferred: string;
  readonly refused: string;
};

/** The forms that are known; the portal documents none, so each is to be checked against a report. */
const reportForms: readonly ReportForm[] = [
  {
    name: "icegate",
    since: "2021-10-01",
    scrip_no: "Scrip No",
    face: "Scrip Amount",
    from_iec: "Transferor IEC",
    to_iec: "Transferee IEC",
    status: "Status",
    initiated: "Initiated On",
    ended: "Accepted On",
    pending: "Pending|Pending for acceptance|Initiated",
    transferred: "Transferred|Accepted|Completed",
    refused: "Rejected|Refused|Cancelled",
  },
];

const formFields = [
  "name",
  "since",
  "scrip_no",
  "face",
  "from_iec",
  "to_iec",
  "status",
  "initiated",
  "ended",
  "pending",
  "transferred",
  "refused",
] as const satisfies readonly (keyof ReportForm)[];

/** The form of a day; an older day has the first. */
export function findForm(day: IstDay): ReportForm {
  const form = reportForms.findLast(({ since }) => since <= day) ?? reportForms[0];
  if (!form) throw new Error("a form is known");
  return form;
}

const lineStatuses = ["pending", "transferred", "refused"] as const;

type LineStatus = (typeof lineStatuses)[number];

/** A time of the portal, which may tell the day only. */
type Moment = { readonly from: Date; readonly to: Date };

export type ReportLine = {
  readonly row: number;
  readonly scripNo: string;
  readonly facePaise: number;
  readonly fromIec: string;
  readonly toIec: string;
  readonly status: LineStatus;
  readonly initiated: Moment | null;
  readonly ended: Moment | null;
};

export type ParsedReport = {
  readonly lines: readonly ReportLine[];
  readonly queued: readonly QueuedRow[];
};

/** The rows below the heading; a report without the form's headings is refused as a whole. */
export function parseReport(records: readonly ReportRecord[], form: ReportForm): ParsedReport {
  const isHeading = ({ cells }: ReportRecord) => findPlace(cells, form.scrip_no) >= 0;
  const at = records.findIndex(isHeading);
  const heading = records[at];
  const places = new Map<string, number>();
  for (const field of headingFields) {
    const title = form[field];
    if (title === undefined) continue;
    const place = heading ? findPlace(heading.cells, title) : -1;
    if (place < 0) throw badForm(`has no column "${title}"`);
    places.set(field, place);
  }
  const parsed = records
    .slice(at + 1)
    .filter(({ cells, problem }) => problem !== undefined || cells.some((cell) => cell.trim()))
    .map((record) =>
      parseLine(record, (field) => record.cells[places.get(field) ?? -1] ?? "", form),
    );
  return {
    lines: parsed.flatMap((one) => ("scripNo" in one ? one : [])),
    queued: parsed.flatMap((one) => ("scripNo" in one ? [] : one)),
  };
}

const headingFields = [
  "scrip_no",
  "face",
  "from_iec",
  "to_iec",
  "status",
  "initiated",
  "ended",
] as const;

type HeadingField = (typeof headingFields)[number];

function findPlace(cells: readonly string[], title: string): number {
  return cells.findIndex((cell) => toWord(cell) === toWord(title));
}

function toWord(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, " ");
}

function parseLine(
  { row, problem, problems = [] }: ReportRecord,
  readCell: (field: HeadingField) => string,
  form: ReportForm,
): ReportLine | QueuedRow {
  const cell = (field: HeadingField) => readCell(field).trim();
  const scripNo = cell("scrip_no");
  const refuse = (said: string): QueuedRow => ({
    row,
    scrip_no: scripNo === "" ? null : scripNo.slice(0, 64),
    reason: "unreadable",
    problem: said,
  });
  const [unfit] = problems;
  if (problem !== undefined) return refuse(problem);
  if (unfit) return refuse(`${unfit.path} ${unfit.problem}`);
  if (scripNo === "") return refuse("has no scrip number");
  const facePaise = parseRupees(cell("face"));
  if (facePaise === undefined) return refuse("has no amount in rupees");
  const word = toWord(cell("status"));
  const status = lineStatuses.find((one) => form[one].split("|").map(toWord).includes(word));
  if (!status) return refuse(`has an unknown status: "${cell("status").slice(0, 40)}"`);
  const initiated = parseMoment(cell("initiated"));
  const ended = parseMoment(cell("ended"));
  if (initiated === undefined || ended === undefined)
    return refuse("has a day that cannot be read");
  const [fromIec, toIec] = [cell("from_iec").toUpperCase(), cell("to_iec").toUpperCase()];
  return { row, scripNo, facePaise, fromIec, toIec, status, initiated, ended };
}

/** `17/11/2026`, or with a time of IST; null for nothing. */
function parseMoment(text: string): Moment | null | undefined {
  if (text === "" || text === "-") return null;
  const [dayPart = "", timePart] = text.split(/[ T]/, 2);
  const day = parseDay(dayPart);
  if (day === undefined) return undefined;
  if (timePart === undefined) {
    const from = istDayStart(day);
    return { from, to: new Date(from.getTime() + dayMs - 1) };
  }
  const at = parseInstant(`${day}T${timePart.slice(0, 8).padEnd(8, ":00")}+05:30`);
  return at && { from: at, to: at };
}

/** A leg of ours with the codes of its parties. */
export type ReportedLeg = {
  readonly leg: LegRow;
  readonly sellerIec: string | null;
  readonly buyerIec: string | null;
  readonly isBuyerHouse: boolean;
};

export const moves = ["transferred", "refused", "pending", "absent", "missing"] as const;

/** What the report says of a leg, and the leg with what it shows. */
export type Sighting = {
  readonly move: (typeof moves)[number];
  readonly row: number | null;
  readonly before: LegRow;
  /** With the times that the portal shows; a step that they imply is not taken yet. */
  readonly seen: LegRow;
  /** The side that is late by it, were the leg to end so. */
  readonly late: "sell" | "buy" | null;
};

export type Matched = {
  readonly sightings: readonly Sighting[];
  /** Rows of deals that ended as they say. */
  readonly known: number;
  readonly queued: readonly QueuedRow[];
};

type Looking = {
  readonly asOf: Date;
  /** Whether it has all transfers of our deals, so that what it lacks is not there. */
  readonly isWhole: boolean;
  readonly calendar: Calendar;
};

/** Compares a report with the legs of its credits, of which one is open at a time, and with all open ones. */
export function matchReport(
  { lines, queued: unreadable }: ParsedReport,
  legs: readonly ReportedLeg[],
  looking: Looking,
): Matched {
  const byScrip = Map.groupBy(legs, ({ leg }) => leg.scrip_no);
  const sightings: Sighting[] = [];
  const queued: QueuedRow[] = [...unreadable];
  let known = 0;
  for (const [scripNo, own] of Map.groupBy(lines, (line) => line.scripNo)) {
    const dealt = byScrip.get(scripNo) ?? [];
    const open = dealt.find(({ leg }) => isReported(leg));
    const ofOpen: ReportLine[] = [];
    for (const line of own) {
      if (open && !isBefore(line, open.leg)) ofOpen.push(line);
      else {
        const reason = judgeEnded(line, dealt);
        if (reason === undefined) known += 1;
        else queued.push(toQueued(line, reason));
      }
    }
    if (!open) continue;
    const [line, another] = ofOpen;
    const reason = another ? ("several_rows" as const) : line && findMismatch(line, open);
    if (reason !== undefined) queued.push(...ofOpen.map((one) => toQueued(one, reason)));
    else if (line) sightings.push(see(open, line, looking));
  }
  const named = new Set([
    ...lines.map(({ scripNo }) => scripNo),
    ...queued.map((row) => row.scrip_no),
  ]);
  const lacking = looking.isWhole
    ? legs.filter(({ leg }) => isReported(leg) && !named.has(leg.scrip_no))
    : [];
  // A row without a number may be of any of them.
  const isBlind = queued.some((row) => row.scrip_no === null);
  return {
    sightings: [
      ...sightings,
      ...(isBlind ? [] : lacking.flatMap((one) => judgeAbsent(one, looking))),
    ],
    known,
    queued: queued.toSorted((one, other) => one.row - other.row),
  };
}

/** Whether the portal is where a leg goes on. */
function isReported({ state }: LegRow): boolean {
  return state === "to_initiate" || isAtCustoms(state);
}

/** Whether a row is of an earlier transfer of the same credit. */
function isBefore({ ended, initiated, status }: ReportLine, { dealt_at }: LegRow): boolean {
  const last = status === "pending" ? initiated : (ended ?? initiated);
  return last !== null && last.to < dealt_at;
}

function toQueued({ row, scripNo }: ReportLine, reason: QueuedRow["reason"]): QueuedRow {
  return { row, scrip_no: scripNo.slice(0, 64), reason, problem: null };
}

/** Why a row without an open leg is for a person; undefined where its deal ended as it says. */
function judgeEnded(
  line: ReportLine,
  dealt: readonly ReportedLeg[],
): QueuedRow["reason"] | undefined {
  const own = dealt.filter(
    (one) => findMismatch(line, one) === undefined && !isBefore(line, one.leg),
  );
  if (own.length === 0) return "no_deal";
  if (own.some(({ leg }) => leg.state === "delivered")) return undefined;
  if (line.status === "refused") return undefined;
  return line.status === "pending" ? "pending_after_end" : "transferred_after_refund";
}

function findMismatch(
  line: ReportLine,
  { leg, sellerIec, buyerIec }: ReportedLeg,
): QueuedRow["reason"] | undefined {
  if (line.facePaise !== leg.face_paise) return "other_face";
  if (line.fromIec !== sellerIec) return "other_holder";
  return line.toIec === buyerIec ? undefined : "other_receiver";
}

function see(one: ReportedLeg, line: ReportLine, { asOf, calendar }: Looking): Sighting {
  const { leg } = one;
  const from =
    line.initiated?.from ?? leg.pending_from ?? (line.status === "pending" ? asOf : null);
  const lastSeen = line.status === "pending" ? asOf : (line.ended?.from ?? null);
  const until = latest(leg.pending_until, lastSeen, from);
  const dueAt =
    leg.accept_due_at && line.initiated
      ? latest(
          leg.accept_due_at,
          computeDueAt("accept", leg.environment, line.initiated.to, calendar),
        )
      : leg.accept_due_at;
  const seen = {
    ...leg,
    accept_due_at: dueAt,
    pending_from: from,
    pending_until: from && until,
  };
  const ends: LegOutcome =
    line.status === "refused"
      ? { move: "refuse", reason: "refused" }
      : { move: "deliver", reason: null };
  const { isBuyerHouse } = one;
  const late = findFault(seen, ends, { isBuyerHouse });
  return { move: line.status, row: line.row, before: leg, seen, late };
}

/**
 * What the report's silence says of a leg. After its receiver's deadline it says nothing: the transfer may
 * have been there and be gone.
 */
function judgeAbsent({ leg, isBuyerHouse }: ReportedLeg, { asOf }: Looking): Sighting[] {
  const { initiate_due_at, accept_due_at, pending_from, state } = leg;
  const wasDue = initiate_due_at !== null && asOf > initiate_due_at;
  const isClear = pending_from === null && (accept_due_at === null || asOf <= accept_due_at);
  if (!wasDue || !isClear || state === "transferring") return [];
  const late = findFault(
    leg,
    { move: "refuse", reason: "timeout", absentAt: asOf },
    { isBuyerHouse },
  );
  const move = state === "to_accept" ? ("missing" as const) : ("absent" as const);
  return [{ move, row: null, before: leg, seen: leg, late }];
}

function latest(...times: readonly (Date | null)[]): Date | null {
  const known = times.flatMap((at) => at?.getTime() ?? []);
  return known.length === 0 ? null : new Date(Math.max(...known));
}

/** Parses an operator's form; throws for the first problem. */
export function parseReportForm(value: Readonly<Record<string, unknown>>): ReportForm {
  for (const [field, text] of Object.entries(value)) {
    if (!formFields.some((known) => known === field)) {
      throw badForm(`${field} is none of ${formFields.join(", ")}`);
    }
    if (typeof text !== "string" || text === "" || text.length > 200) {
      throw badForm(`${field} must be a short text`);
    }
  }
  const lacking = formFields.find((field) => field !== "ended" && value[field] === undefined);
  if (lacking !== undefined) throw badForm(`${lacking} is required`);
  return value as ReportForm; // Checked field by field.
}

function badForm(problem: string): Failure {
  return unprocessable({ path: "form", problem });
}
