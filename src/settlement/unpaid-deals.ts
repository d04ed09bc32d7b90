// Deals that wait for their buyer's money past the deadline, and firms that did not do their part. In live the bank's statement says whether
// the money came in time, so they end once it has been read. The sandbox's bank answers by itself.
//
// Who lets a deal fail for want of money, or is proved late at customs, buys with money that is there, until the working days of its
// plan are over or a person lifts it.
//
//   remember   in the transaction that ends the deal, by firm and by PAN
//   ask        with the money of buyers, before an order is decided
//   lift       all that counts against the firm and the PAN of a deal, with a reason
//
// What came for a part does not count: a rupee must not buy a day of the shelf. A cross is left out:
// its seller has chosen the buyer.

import type { FastifyBaseLogger } from "fastify";

import { loadUnpaidDays } from "../access/money-limits.ts";
import { findPans } from "../firms/find-firms.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, refuseBadReason } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import { addWorkingDays } from "../kernel/working-days.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { listUnfunded } from "./read-store.ts";
import { noSettlement, type TaskKind, type UnpaidDeal } from "./rules.ts";
import {
  listPastDueRows,
  type SettlementRow,
  findUnpaid,
  insertUnpaid,
  listBarred,
  listUnpaid,
  lockUnpaid,
  setLifted,
  type UnpaidRow,
} from "./store.ts";

/** What an upper room, which reads the bank's statements, says about unpaid deals. */
export type BankWatch = {
  /** No deal that is due later may end now. */
  readonly readHorizon: (db: Db, environment: Environment, now: Date) => Promise<Date>;
  /** Those that may end, and those of them whose deadline no statement reaches past. */
  readonly judge: (
    db: Db,
    environment: Environment,
    due: { readonly deals: readonly UnpaidDeal[]; readonly now: Date },
  ) => Promise<{ readonly mayEnd: readonly string[]; readonly unread: readonly string[] }>;
};

/** Deals that are looked at together; the rest waits for the next run. */
export const unpaidDealsMax = 2_000;

/** The unpaid settlements that are due by an instant, the oldest first. */
export async function listPastDue(
  db: Db,
  environment: Environment,
  {
    dueUntil,
    firmIds = null,
  }: { readonly dueUntil: Date; readonly firmIds?: readonly string[] | null },
): Promise<UnpaidDeal[]> {
  const rows = await listPastDueRows(db, environment, { dueUntil, firmIds, limit: unpaidDealsMax });
  return rows.map(({ settlement_id, buyer_firm_id, buyer_paise, created_at, due_at }) => ({
    dealId: settlement_id,
    firmId: buyer_firm_id,
    paise: buyer_paise,
    dealtAt: created_at,
    dueAt: due_at,
  }));
}

type Overdue = {
  readonly environment: Environment;
  /** Deadlines up to this instant have passed. */
  readonly lateUntil: Date;
  readonly now: Date;
  readonly list: (dueUntil: Date) => Promise<readonly UnpaidDeal[]>;
};

type OverdueDeals = {
  /** The unpaid deals that may end; null for all that are due. */
  readonly mayEnd: readonly string[] | null;
  /** Tells people which of the deals that ended did so without a statement. */
  readonly tell: (endedIds: readonly string[]) => void;
};

export async function judgeOverdue(
  { db, log }: { readonly db: Db; readonly log?: FastifyBaseLogger | undefined },
  bankWatch: BankWatch,
  { environment, lateUntil, now, list }: Overdue,
): Promise<OverdueDeals> {
  if (environment === "sandbox") return { mayEnd: null, tell: () => undefined };
  const horizon = await bankWatch.readHorizon(db, environment, now);
  const deals = await list(horizon < lateUntil ? horizon : lateUntil);
  if (deals.length === 0) return { mayEnd: [], tell: () => undefined };
  const { mayEnd, unread } = await bankWatch.judge(db, environment, { deals, now });
  return {
    mayEnd,
    tell(endedIds) {
      const unseen = endedIds.filter((id) => unread.includes(id));
      if (unseen.length === 0) return;
      log?.error(
        { deals: unseen },
        "deals ended unpaid, and no bank statement reaches past their deadline",
      );
    },
  };
}

/** A firm that did not do its part of a deal, and what it did not do. */
export type Defaulter = {
  readonly settlement: SettlementRow;
  readonly deskId: string;
  readonly firmId: string;
  readonly step: TaskKind;
};

export function toUnpaidBuyer(settlement: SettlementRow): Defaulter {
  const { buyer_desk_id: deskId, buyer_firm_id: firmId } = settlement;
  return { settlement, deskId, firmId, step: "pay" };
}

/** Remembers who let these deals fail, or was late at customs. */
export async function rememberUnpaid(
  tx: Tx,
  environment: Environment,
  failed: readonly Defaulter[],
  now: Date,
): Promise<void> {
  const dealt = failed.filter(({ settlement }) => settlement.origin_kind !== "cross");
  if (dealt.length === 0) return;
  const deskIds = [...new Set(dealt.map(({ deskId }) => deskId))];
  const days = await tx.run(loadUnpaidDays(environment, deskIds));
  const counted = dealt.filter(({ deskId }) => (days.get(deskId) ?? 0) > 0);
  if (counted.length === 0) return;
  const pans = await findPans(tx, [...new Set(counted.map(({ firmId }) => firmId))]);
  const calendar = await readCalendar(tx);
  const rows = counted.map(({ settlement, deskId, firmId, step }) => ({
    settlement_id: settlement.settlement_id,
    environment,
    desk_id: deskId,
    firm_id: firmId,
    pan: pans.get(firmId) ?? null,
    buyer_paise: settlement.buyer_paise,
    failed_step: step,
    failed_at: now,
    until: addWorkingDays(now, days.get(deskId) ?? 0, "bank", calendar),
    lifted_at: null,
    lifted_by: null,
    lift_reason: null,
  }));
  await insertUnpaid(tx, rows);
}

/**
 * A firm keeps its PAN while a deal of it waits for money: the memory is of the PAN, and another firm of
 * it would buy as if nothing had been.
 */
export async function refuseUnpaid(
  tx: Tx,
  {
    environment,
    firm_id: firmId,
    pan,
  }: { environment: Environment; firm_id: string; pan: string | null },
  changes: { readonly pan?: string | null | undefined },
): Promise<void> {
  if (changes.pan === undefined || pan === null) return;
  const [waiting] = await tx.run(listUnfunded(environment, [firmId]));
  if (!waiting) return;
  throw new Failure("conflict", "a deal of the firm waits for its money, so its PAN stays", {
    detail: { reason: "deal_unpaid", unfunded_paise: waiting.unfunded_paise },
  });
}

/** Those of the firms that buy only with money that is there. */
export function findBarred(
  environment: Environment,
  firmIds: readonly string[],
  now: Date,
): Query<ReadonlySet<string>> {
  if (firmIds.length === 0) return known(new Set());
  return listBarred(environment, firmIds, now).map(
    (rows) => new Set(rows.map((row) => row.firm_id)),
  );
}

/** Whether an unpaid deal still counts. */
function isCounted({ lifted_at, until }: UnpaidRow, now: Date): boolean {
  return lifted_at === null && until > now;
}

/** The deals that failed for want of money, newest first. */
export async function listUnpaidDeals(
  ctx: Pick<Context, "db" | "now">,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<(UnpaidRow & { readonly counts: boolean })[]> {
  const now = ctx.now();
  const rows = await listUnpaid(ctx.db.planned, { environment, before: after ?? null, limit });
  return rows.map((row) => ({ ...row, counts: isCounted(row, now) }));
}

/** Lets the firms of a deal's PAN buy before they pay again; returns the deals that count no more. */
export async function liftUnpaid(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { settlementId, reason }: { readonly settlementId: string; readonly reason: string },
): Promise<readonly string[]> {
  refuseBadReason(reason);
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const deals = await findUnpaid(tx, settlementId);
    const [deal] = deals;
    if (!deal) throw noSettlement(settlementId);
    const rows = await lockUnpaid(tx, deal.environment, deals, now);
    if (rows.length === 0) throw countsNoMore(settlementId);
    const ids = [...new Set(rows.map((row) => row.settlement_id))];
    const firmIds = rows.map((row) => row.firm_id);
    await tx.run(setLifted({ ids, firmIds }, { by: actor.id, reason, now }));
    const lifted = { lifted_at: now, lifted_by: actor.id, lift_reason: reason };
    const changes = rows.map((row) => buildLiftChange(row, { ...row, ...lifted }));
    await recordChanges(tx, actor, changes, now);
    return ids;
  });
}

function countsNoMore(settlementId: string): Failure {
  return new Failure("conflict", `${settlementId} counts against nobody any more`, {
    detail: { reason: "counts_no_more", settlement_id: settlementId },
  });
}

/** Recorded on the house's desk: it can be about firms of several desks. */
function buildLiftChange(before: UnpaidRow, after: UnpaidRow) {
  const house = houseFirmId[before.environment];
  return {
    environment: before.environment,
    deskId: house,
    firmId: house,
    action: "unpaid_deal.lift",
    entity: {
      type: "unpaid_deal",
      id: before.settlement_id,
      version: 2,
      href: `/ops/settlements/${before.settlement_id}`,
    },
    before: toAuditView(before),
    after: toAuditView(after),
  };
}

/** Without the PAN, which the firm has. */
function toAuditView({ pan: _pan, failed_at, until, lifted_at, ...told }: UnpaidRow): object {
  return {
    ...told,
    failed_at: istTimestamp(failed_at),
    until: istTimestamp(until),
    lifted_at: lifted_at && istTimestamp(lifted_at),
  };
}
