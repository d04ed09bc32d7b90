import { firmOfDesk, type FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/house.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { judged, takeReport } from "./import-credits.ts";
import { resultOf, sumsOf } from "./result-of.ts";
import { type CreditFacts, type Declaration, issueDayOf } from "./rules.ts";
import type { DeclarationResults, ImportResults } from "./schema.ts";
import { takeDeclarations } from "./take-declarations.ts";

/** A credit of the house; its day of issue follows from its last day unless it is said. */
export type InventoryItem = Omit<Declaration, "issued_on"> & {
  readonly issued_on?: string | undefined;
};

/**
 * Credits that the house has to sell. The operator vouches for them, so they are listed at once, and
 * claims of others to their numbers are rejected. Each is answered by itself.
 */
export async function addInventory(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, items }: { environment: Environment; items: readonly InventoryItem[] },
): Promise<DeclarationResults> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => await takeInventory(tx, actor, { environment, items, now }),
  );
}

export async function takeInventory(
  tx: Tx,
  actor: Actor,
  {
    environment,
    items,
    now,
  }: { readonly environment: Environment; items: readonly InventoryItem[]; now: Date },
): Promise<DeclarationResults> {
  const today = istDay(now);
  const firm = await houseOf(tx, environment);
  const outcomes = await takeDeclarations(
    tx,
    { firm, actor, vouched: true, mode: { followsBalance: false }, now },
    judgeItems(items, today),
  );
  const view = { firmState: firm.connection_state, today };
  const results = outcomes.map((outcome, index) => ({
    index,
    ...resultOf(outcome, view, actor.requestId ?? ""),
  }));
  return { results, ...sumsOf(results) };
}

export function judgeItems(
  items: readonly InventoryItem[],
  today: string,
): (CreditFacts | Failure)[] {
  return items.map((item) =>
    judged({ ...item, issued_on: item.issued_on ?? issueDayOf(item.expires_on, today) }, today),
  );
}

/** The same from a report of the customs portal, row by row. */
export async function takeInventoryReport(
  tx: Tx,
  actor: Actor,
  { environment, csv, now }: { readonly environment: Environment; csv: string; now: Date },
): Promise<ImportResults> {
  const firm = await houseOf(tx, environment);
  return await takeReport(tx, { firm, actor, vouched: true, now }, csv);
}

export async function houseOf(db: Db, environment: Environment): Promise<FirmOfDesk> {
  return await firmOfDesk(db, houseFirmId[environment], houseFirmId[environment]);
}
