// The proof that the books hold, made from the entries alone and compared with everything that is
// kept beside them. The same check runs from the command line, after tests and by the minute.

import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import {
  type Break,
  type CheckName,
  claimCheck,
  countEntries,
  findAbsentHolder,
  findBrokenChain,
  findChangedEntry,
  findOverdrawn,
  findUnbalancedEntry,
  findUnderpaidLeg,
  findVerdict,
  findWrongBalance,
  findWrongOwner,
  findWrongResolution,
  findWrongStatement,
  openSnapshot,
  setVerdict,
} from "./check-store.ts";

/** In this order: what is found first is the cause of most of what would follow. */
const checks: Readonly<Record<CheckName, (tx: Tx) => Promise<Omit<Break, "check"> | undefined>>> = {
  entry_unchanged: findChangedEntry,
  entry_sums_to_zero: findUnbalancedEntry,
  resolved_once: findWrongResolution,
  statement_complete: findWrongStatement,
  balance_is_sum: findWrongBalance,
  nothing_below_zero: findOverdrawn,
  buyer_pays_seller: findUnderpaidLeg,
  owners_in_a_chain: findBrokenChain,
  one_owner: findWrongOwner,
  owner_holds: findAbsentHolder,
};

/** By the minute, and on large books never more than a tenth of the time of one connection. */
const checkEveryMs = 60_000;
const shareOfTime = 0.1;
/** A verdict that is older says nothing any more. */
const verdictAgeMaxMs = 2 * 3_600_000;

export type Verdict = {
  readonly sound: boolean;
  readonly entries: number;
  readonly tookMs: number;
  readonly checkedAt: Date;
  readonly firstBreak: Break | null;
};

export async function checkLedger(ctx: Pick<Context, "db" | "now">): Promise<Verdict> {
  const checkedAt = ctx.now();
  const startedMs = performance.now();
  const { entries, firstBreak } = await ctx.db.transaction(async (tx) => {
    await openSnapshot(tx);
    return { entries: await countEntries(tx), firstBreak: await findFirstBreak(tx) };
  });
  const tookMs = Math.ceil(performance.now() - startedMs);
  return { sound: firstBreak === null, entries, tookMs, checkedAt, firstBreak };
}

async function findFirstBreak(tx: Tx): Promise<Break | null> {
  for (const check of Object.keys(checks) as CheckName[]) {
    const found = await checks[check](tx);
    if (found) return { check, ...found };
  }
  return null;
}

/** The worker's part: checks when it is time and no other process has begun, and records it. */
export async function checkLedgerWhenDue(ctx: Context): Promise<"idle"> {
  if (!(await claimCheck(ctx.db, ctx.now(), { everyMs: checkEveryMs, shareOfTime }))) return "idle";
  const verdict = await checkLedger(ctx);
  await recordVerdict(ctx.db, verdict);
  if (!verdict.sound) ctx.log.error({ verdict }, "the ledger is broken: payouts stop");
  return "idle";
}

export async function recordVerdict(db: Db, verdict: Verdict): Promise<void> {
  await setVerdict(db, {
    checked_at: verdict.checkedAt,
    took_ms: verdict.tookMs,
    entries: verdict.entries,
    sound: verdict.sound,
    first_break: verdict.firstBreak,
  });
}

/** Whether the books were ever checked: until then nobody can say whether they are sound. */
export async function ledgerWasChecked(db: Db): Promise<boolean> {
  return (await findVerdict(db)) !== undefined;
}

/** Whether money may leave: the last check found nothing, and is not too long ago. */
export async function ledgerIsSound(db: Db, now: Date): Promise<boolean> {
  const verdict = await findVerdict(db);
  if (!verdict?.sound) return false;
  return now.getTime() - verdict.checked_at.getTime() <= verdictAgeMaxMs;
}
