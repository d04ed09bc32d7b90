import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { addPaise, type PaiseSum } from "../kernel/money.ts";
import { assertWritten, type Resolution } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import { type AttestationKind, attestWithApproval, findAttestations } from "../outside/attest.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { buildResolution, type MovedPayout, recallAll, listUnsent } from "./decide-payouts.ts";
import { buildPayoutChange } from "./move-payout.ts";
import { readAnyPayout } from "./read-payouts.ts";
import { lockUnsent } from "./dues-store.ts";
import { noPayout } from "./rules.ts";
import { lockPayouts, lockPayoutsBySettlement, type PayoutRow, setPayouts } from "./store.ts";

/** The caller writes the resolutions with its own and records the changes. */
type RecalledPayouts = {
  readonly rows: readonly PayoutRow[];
  readonly resolutions: readonly Resolution[];
  readonly changes: readonly Change[];
  /** The money that returns to each firm's balance. */
  readonly paiseByFirm: ReadonlyMap<string, PaiseSum>;
};

/**
 * Blocks resends of a settlement's payouts, and what of its firms' payouts has not left: it may have to
 * pay what they come to owe. Must come before the settlement's own lock.
 */
export async function lockPayoutsOfSettlement(
  tx: Tx,
  settlementId: string,
  firmIds: readonly string[],
): Promise<void> {
  await lockUnsent(tx, firmIds, settlementId);
}

/** Recalls the unsent payouts of a settlement, whose payout chain is locked. */
export async function recallPayoutsOfSettlement(
  tx: Tx,
  settlementId: string,
  now: Date,
): Promise<RecalledPayouts> {
  const rows = await lockPayoutsBySettlement(tx, settlementId);
  return await storeRecall(tx, recallAll(listUnsent(rows), "reversed", now));
}

/** Recalls an unsent payout by order of an operator. */
export async function recallPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { payoutId, reason }: { readonly payoutId: string; readonly reason: string },
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const [row] = await lockPayouts(tx, [payoutId]);
    if (!row) throw noPayout(payoutId);
    const { resolutions, changes } = await storeRecall(tx, recallAll([row], reason, now));
    assertWritten(await resolveEntries(tx, resolutions, now));
    await recordChanges(tx, operator, changes, now);
  });
}

export async function storeRecall(
  tx: Tx,
  recalled: readonly MovedPayout[],
): Promise<RecalledPayouts> {
  if (recalled.length > 0) {
    await setPayouts(
      tx,
      recalled.map(({ after }) => after),
    );
  }
  const paiseByFirm = new Map<string, PaiseSum>();
  for (const { after } of recalled) {
    const { firm_id, paise } = after;
    paiseByFirm.set(firm_id, addPaise(paiseByFirm.get(firm_id) ?? 0, paise));
  }
  return {
    rows: recalled.map(({ after }) => after),
    resolutions: recalled.map(({ after }) => buildResolution(after)),
    changes: recalled.map(buildPayoutChange),
    paiseByFirm,
  };
}

type ReturnedPayout =
  | { readonly outcome: "returned" }
  | { readonly outcome: "proposed"; readonly approval_id: string };

/** Records that the bank returned a sent payout, or recalls an unsent one. */
export async function returnPayout(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    payoutId,
    reason,
    kind,
    twoFromPaise,
  }: {
    readonly payoutId: string;
    readonly reason: string;
    readonly kind: AttestationKind;
    readonly twoFromPaise: number;
  },
): Promise<ReturnedPayout> {
  const { state } = await readAnyPayout(ctx.db, payoutId);
  if (state !== "sent") {
    await recallPayout(ctx, actor, { payoutId, reason });
    return { outcome: "returned" };
  }
  const answer = { outcome: "returned" as const, reason };
  const seen = [{ subjectId: payoutId, answer, reference: reason }];
  const attestations = await findAttestations(ctx, { kind: "payout", seen });
  const attested = await attestWithApproval(ctx, actor, { attestations, kind, twoFromPaise });
  return attested.outcome === "done" ? { outcome: "returned" } : attested;
}
