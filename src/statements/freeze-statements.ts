// Makes the statements of months that are over, once and for good:
//
//   walk      over all firms that have or had money with us, a page a run, until none is left
//   hold      the firm's accounts, so that nothing is under way while its statement is made
//   make      every month that is missing up to the last one that is over, in order
//   keep      the text, its digest and the last entry that was seen; others may have been faster
//
// A firm whose accounts are too busy to be held keeps nobody waiting: the walk goes on, and is gone
// again until every firm has its statement.

import { createHash } from "node:crypto";

import { recordChanges } from "../events/record-changes.ts";
import { firmById } from "../firms/firm-by-id.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { exactJson } from "../kernel/json.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import { type IstMonth, istMonth, istTimestamp } from "../kernel/time.ts";
import { firmsWithMoney, firstEntryAt, holdMoneyOf } from "../ledger/read-money.ts";
import type { Context } from "../platform/context.ts";
import { accountFor } from "./account-for.ts";
import { lastClosedPeriod, nextPeriod, periodsBetween } from "./rules.ts";
import type { Statement } from "./schema.ts";
import { findLatestBefore, insertStatement, listFirmsFrozen } from "./store.ts";

const accountsPerRun = 100;
const freezer: Actor = { kind: "worker", id: "statements", requestId: null };

/** Where a walk has come to, for which month, and how many firms it could not do. */
type Walk = { readonly closed: IstMonth; after: string; missed: number };

/** One page of a walk; nothing more to do until another month is over. */
export function statementFreezer(
  ctx: Pick<Context, "db" | "now" | "log">,
  letterhead: Letterhead,
): () => Promise<"more" | "idle"> {
  let done: IstMonth | undefined;
  let walk: Walk | undefined;
  return async () => {
    const current = (walk ??= { closed: lastClosedPeriod(ctx.now()), after: "", missed: 0 });
    const { closed } = current;
    if (closed === done || (await takePage(ctx, current, letterhead)) === "last") {
      if (current.missed === 0) done = closed;
      walk = undefined;
      return "idle";
    }
    return "more";
  };
}

async function takePage(
  ctx: Pick<Context, "db" | "now" | "log">,
  walk: Walk,
  letterhead: Letterhead,
): Promise<"last" | "more"> {
  const { closed } = walk;
  const { firms, next } = await firmsWithMoney(ctx.db, walk.after, accountsPerRun);
  const firmIds = firms.map(({ firmId }) => firmId);
  const frozen = new Set(await listFirmsFrozen(ctx.db, firmIds, closed));
  for (const firmId of firmIds.filter((id) => !frozen.has(id))) {
    await freezeUpTo(ctx, firmId, { closed, letterhead }).catch((error: unknown) => {
      walk.missed += 1;
      ctx.log.warn({ err: error, firm_id: firmId }, "a statement could not be made yet");
    });
  }
  walk.after = next ?? "";
  return next === undefined ? "last" : "more";
}

type Freezing = { readonly closed: IstMonth; readonly letterhead: Letterhead };

async function freezeUpTo(
  ctx: Pick<Context, "db" | "now">,
  firmId: string,
  { closed, letterhead }: Freezing,
): Promise<void> {
  const last = await findLatestBefore(ctx.db, firmId, closed);
  const first = last ? undefined : await firstEntryAt(ctx.db, firmId);
  const next = last ? nextPeriod(last.period) : first && istMonth(first);
  for (const period of next === undefined ? [] : periodsBetween(next, closed)) {
    await freezePeriod(ctx, firmId, { period, letterhead });
  }
}

async function freezePeriod(
  ctx: Pick<Context, "db" | "now">,
  firmId: string,
  { period, letterhead }: { readonly period: IstMonth; readonly letterhead: Letterhead },
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    await holdMoneyOf(tx, firmId);
    const firm = await firmById(tx, firmId);
    const made = await accountFor(tx, { firm, period, letterhead, now });
    const statement: Statement = { ...made, status: "final", frozen_at: istTimestamp(now) };
    const body = exactJson(statement);
    const digest = createHash("sha256").update(body).digest();
    const isNew = await insertStatement(tx, {
      firm_id: firmId,
      period,
      environment: firm.environment,
      opening_paise: statement.opening_paise,
      closing_paise: statement.closing_paise,
      commission_paise: statement.commission_paise,
      dues_paise: statement.dues_paise,
      seen_entry_no: statement.version,
      frozen_at: now,
      digest,
      body,
    });
    if (!isNew) return;
    await recordChanges(tx, freezer, [changeOf(firm, statement, digest.toString("hex"))], now);
  });
}

function changeOf(firm: FirmOfDesk, statement: Statement, digest: string): Change {
  const { period, firm_id, version } = statement;
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    firmId: firm_id,
    action: "statement.freeze",
    entity: {
      type: "statement",
      id: statement.statement_no,
      version,
      href: `/v1/statements/${period}?firm_id=${firm_id}`,
    },
    before: null,
    after: { period, closing_paise: statement.closing_paise, digest },
  };
}
