// The customs portal's report of transfers, read by an operator. It is the proof of what the parties say:
//
//   read      rows are compared with our open transfers; a preview ends here
//   see       since when a transfer is pending is noted, a step that it implies is taken, and a transfer
//             that somebody claimed and the report lacks is asked of its holder again
//   answer    what was transferred, refused, or not begun by its deadline is attested: large faces take two
//             people
//
// What does not fit waits for a person with its reason, and nothing is concluded from it. The same file
// again is answered without being noted again.

import { createHash } from "node:crypto";

import {
  openReport,
  readTableWorkbook,
  type ReportFile,
  transfersMax,
} from "../credits/read-workbook.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId, isHouse, newId } from "../kernel/ids.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { findOutage } from "../outside/ask.ts";
import {
  type AttestationKind,
  attestWithApproval,
  findAttestations,
  type Observation,
} from "../outside/attest.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { openPace } from "../platform/heavy/pace.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { readCsv } from "../platform/read-csv.ts";
import { followLegs, stepLeg, type When } from "./decide-legs.ts";
import {
  findForm,
  type Matched,
  matchReport,
  type ParsedReport,
  parseReport,
  type ReportedLeg,
  type ReportForm,
  type Sighting,
} from "./match-report.ts";
import { buildSettlementChanges } from "./move-settlement.ts";
import {
  findReport,
  insertReport,
  type LedgerReportRow,
  listBegunIds,
  listIdsOfCredits,
  listReports,
} from "./read-store.ts";
import {
  type DealRows,
  type LegRow,
  listLegs,
  listSettlementsById,
  lockSettlements,
} from "./store.ts";
import { findTransferIecs, type SettlementHooks, storeSteps } from "./transfer-legs.ts";

/** With a heading and what is above it. */
const recordsMax = transfersMax + 21;
/** Open transfers that one report is compared with. */
const openMax = 20_000;
const movesShown = 2_000;

type LedgerReport = {
  readonly environment: Environment;
  readonly file: ReportFile;
  /** When the portal made it. */
  readonly asOf: Date;
  /** Whether it has all transfers of our deals. */
  readonly isWhole: boolean;
  readonly form?: ReportForm | undefined;
  /** Shows what it would do, and does nothing. */
  readonly preview: boolean;
};

type Importing = {
  readonly settlementHooks: SettlementHooks;
  readonly attesting: AttestationKind;
  readonly twoFromPaise?: number;
};

export async function importLedgerReport(
  ctx: Pick<Context, "db" | "now" | "heavy">,
  operator: Actor,
  report: LedgerReport,
  { settlementHooks, attesting, twoFromPaise }: Importing,
) {
  const { environment, asOf, preview } = report;
  const now = ctx.now();
  if (asOf > now) throw unprocessable({ path: "as_of", problem: "must not be in the future" });
  await refuseWhileDown(ctx.db, environment, asOf);
  const parsed = await parseFile(ctx, report);
  if (preview) {
    const { matched } = await look(ctx.db, report, parsed, now);
    return {
      outcome: "preview" as const,
      report_id: null,
      approval_id: null,
      ...view(report, matched),
    };
  }
  const before = await look(ctx.db, report, parsed, now);
  const ids = [
    ...new Set(before.matched.sightings.map((one) => one.before.settlement_id)),
  ].toSorted();
  const { matched, reportId } = await ctx.db.transaction(async (tx) => {
    await lockSettlements(tx, ids);
    settlementHooks.lockCrosses(tx, ids);
    const looked = keepLocked(await look(tx, report, parsed, now), ids);
    const known = await findReport(tx, environment, toDigest(report));
    if (known) return { ...looked, reportId: known.report_id };
    const row = toRow(report, looked.matched, operator, now);
    const changes = await note(tx, row, looked, now);
    await insertReport(tx, [row]);
    await recordChanges(tx, operator, [...changes, toReportChange(row)], now);
    return { ...looked, reportId: row.report_id };
  });
  const shown = { report_id: reportId, ...view(report, matched) };
  const seen = matched.sightings.flatMap((sighting) => toObservation(sighting, reportId, asOf));
  if (seen.length === 0) return { outcome: "done" as const, approval_id: null, ...shown };
  const attestations = await findAttestations(ctx, { kind: "credit_transfer", seen });
  const attested = await attestWithApproval(ctx, operator, {
    attestations,
    kind: attesting,
    ...(twoFromPaise !== undefined && { twoFromPaise }),
  });
  const approval_id = attested.outcome === "proposed" ? attested.approval_id : null;
  return { outcome: attested.outcome, approval_id, ...shown };
}

/** The reports that were read, the newest first, each with the rows that it left for a person. */
export async function listLedgerReports(
  ctx: Pick<Context, "db">,
  asked: {
    readonly environment: Environment;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<Omit<LedgerReportRow, "digest">[]> {
  const { environment, after = null, limit } = asked;
  const rows = await listReports(ctx.db.planned, { environment, before: after, limit });
  return rows.map(({ digest: _digest, ...row }) => row);
}

/** What a portal showed while it was down proves nothing. */
async function refuseWhileDown(db: Db, environment: Environment, asOf: Date): Promise<void> {
  const outage = await findOutage(db, environment, "registry");
  if (!outage || outage.since > asOf) return;
  throw new Failure("conflict", "customs was down when this report was made", {
    detail: { reason: "port_down", since: istTimestamp(outage.since) },
  });
}

async function parseFile(
  ctx: Pick<Context, "heavy">,
  { environment, file, asOf, form = findForm(istDay(asOf)) }: LedgerReport,
): Promise<ParsedReport> {
  const by = { environment, deskId: houseFirmId[environment] };
  const source = await openReport(ctx.heavy, file, { by }, readTableWorkbook);
  const { records } =
    "csv" in source ? await readCsv(source.csv, { recordsMax, pace: openPace() }) : source.sheet;
  if (records.length >= recordsMax) {
    throw unprocessable({ path: "file", problem: `has more than ${transfersMax} rows` });
  }
  return parseReport(records, form);
}

type Looked = {
  readonly matched: Matched;
  readonly deals: ReadonlyMap<string, DealRows>;
  readonly when: When;
};

async function look(
  db: Db,
  { environment, asOf, isWhole }: LedgerReport,
  parsed: ParsedReport,
  now: Date,
): Promise<Looked> {
  const calendar = await readCalendar(db);
  const scripNos = [...new Set(parsed.lines.map(({ scripNo }) => scripNo))];
  const begun = isWhole ? await listBegunIds(db, environment, openMax) : [];
  const ofRows = await listIdsOfCredits(db, environment, scripNos);
  const ids = [...new Set([...begun, ...ofRows])];
  const settlements = new Map(
    (await listSettlementsById(db, ids)).map((row) => [row.settlement_id, row]),
  );
  const legs = Map.groupBy(await listLegs(db, ids), (leg) => leg.settlement_id);
  const deals = new Map(
    [...settlements].map(([id, settlement]) => [id, { settlement, legs: legs.get(id) ?? [] }]),
  );
  const transfers = [...deals.values()].map((deal) => ({ ...deal, asked: deal.legs }));
  const iecs = await db.run(findTransferIecs(environment, transfers, now));
  const reported = transfers.flatMap(({ settlement, asked }) =>
    asked.map((leg): ReportedLeg => ({
      leg,
      sellerIec: iecs.get(leg.seller_firm_id) ?? null,
      buyerIec: iecs.get(settlement.buyer_firm_id) ?? null,
      isBuyerHouse: isHouse(settlement.buyer_firm_id),
    })),
  );
  return {
    matched: matchReport(parsed, reported, { asOf, isWhole, calendar }),
    deals,
    when: { now, calendar },
  };
}

/** Without deals that began since; the next report is about those. */
function keepLocked({ matched, ...looked }: Looked, ids: readonly string[]): Looked {
  const isLocked = ({ before }: Sighting) => ids.includes(before.settlement_id);
  return { ...looked, matched: { ...matched, sightings: matched.sightings.filter(isLocked) } };
}

/** Notes what customs shows, and takes the steps that it implies. The deals and crosses are locked. */
async function note(
  tx: Tx,
  { environment, report_id: reference }: LedgerReportRow,
  { matched, deals, when }: Looked,
  now: Date,
): Promise<readonly Change[]> {
  const noted = matched.sightings.filter(({ move }) => move !== "refused" && move !== "absent");
  const byDeal = Map.groupBy(noted, ({ before }) => before.settlement_id);
  const stepped = [...byDeal].flatMap(([id, own]) => {
    const deal = deals.get(id);
    if (!deal) return [];
    const seen = new Map(own.map((one) => [one.before.ordinal, takeSighted(one, reference, when)]));
    return [
      followLegs(
        deal,
        deal.legs.map((leg) => seen.get(leg.ordinal) ?? leg),
        now,
      ),
    ];
  });
  const changes = await storeSteps(tx, environment, stepped, { now });
  const told = stepped.flatMap(({ before, after, legs }) =>
    before.state === after.state
      ? buildSettlementChanges({ action: "see_at_customs", before, after, legs })
      : [],
  );
  return [...changes, ...told];
}

/** The step that a sighting implies; what it proves of a leg that has ended so is in the leg. */
export function takeSighted(
  { move, seen }: Pick<Sighting, "move" | "seen">,
  reference: string,
  when: When,
): LegRow {
  const isUnbegun = seen.state === "to_initiate" || seen.state === "missing";
  if (move === "pending" && isUnbegun) {
    const { accept_due_at: dueAt, ...begun } = stepLeg(seen, { move: "initiate", reference }, when);
    return { ...begun, accept_due_at: dueAt };
  }
  if (move === "missing") {
    // The report shows that there is nothing to accept, so no receiver's deadline runs.
    const missed = stepLeg(seen, { move: "miss", reference, note: null }, when);
    return { ...missed, accept_due_at: null };
  }
  return seen;
}

const outcomes = {
  transferred: "transferred",
  refused: "refused",
  absent: "nothing_pending",
} as const;

function toObservation(
  { move, before, row }: Sighting,
  reportId: string,
  asOf: Date,
): Observation<"credit_transfer">[] {
  if (move === "pending" || move === "missing") return [];
  const reference = row === null ? reportId : `${reportId} row ${row}`;
  const answer = { outcome: outcomes[move] };
  const { settlement_id: subjectId, scrip_no } = before;
  const isMeant = (facts: { readonly scrip_no: string }) => facts.scrip_no === scrip_no;
  return [{ subjectId, isMeant, answer, reference, asOf }];
}

function view({ asOf }: LedgerReport, { sightings, known, queued }: Matched) {
  const count = (move: Sighting["move"]) => sightings.filter((one) => one.move === move).length;
  return {
    as_of: asOf,
    transferred: count("transferred"),
    refused: count("refused"),
    pending: count("pending"),
    absent: count("absent"),
    missing: count("missing"),
    known,
    queued,
    moves: sightings.slice(0, movesShown).map(({ move, row, before, late }) => ({
      settlement_id: before.settlement_id,
      scrip_no: before.scrip_no,
      face_paise: before.face_paise,
      row,
      says: move,
      late,
    })),
  };
}

function toDigest({ file: { csv, xlsx }, asOf }: LedgerReport): string {
  const text = `${asOf.toISOString()} ${csv ?? xlsx ?? ""}`;
  return createHash("sha256").update(text).digest("hex");
}

function toRow(
  report: LedgerReport,
  matched: Matched,
  operator: Actor,
  now: Date,
): LedgerReportRow {
  const { moves: _moves, ...counts } = view(report, matched);
  return {
    ...counts,
    report_id: newId("rep", now),
    environment: report.environment,
    digest: toDigest(report),
    is_whole: report.isWhole,
    imported_at: now,
    imported_by: operator.id,
  };
}

function toReportChange(row: LedgerReportRow): Change {
  const { environment, report_id, queued, as_of, imported_at, imported_by: _by, ...counts } = row;
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: "ledger_report.import",
    entity: { type: "ledger_report", id: report_id, version: 1, href: "/ops/ledger-reports" },
    after: {
      report_id,
      ...counts,
      as_of: istTimestamp(as_of),
      imported_at: istTimestamp(imported_at),
      queued: queued.length,
    },
  };
}
