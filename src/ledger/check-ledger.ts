// Checks the books: proves the entries, and compares balances, owners and statement lines with them.
// The same check runs from the command line, after tests and every minute.
//
//   prove     new entries, slice by slice, each read once; their sums are stored
//   reread    proved entries, against the digest of their slice
//   compare   statement lines, balances and owners with the proved sums and the entries since
//
// No step holds a snapshot longer than one statement, so the check delays nobody. The command reads
// everything. The worker proves new entries and compares every balance each time; its rounds over
// proved entries, lines, payouts and owners take a fixed number each minute and resume where they
// stopped, so that a check takes no longer on large books; those of ten million entries are read once
// a night.
//
// What it proves: no entry differs from its digest; each movement gives what it takes; each pending
// entry ended at most once and as it was written; statement lines are complete; balances are the sums
// of postings and open holds; nothing is below zero that must not be; no buyer of a leg pays less than
// its seller gets; nobody who owes has money available or a payout that has not left; what left went to
// an account that the bank has confirmed; each credit's owners form a chain that ends at its owner, who
// holds it; each part of a credit that paid duty is a part of what was left. It names the first break. Without a good verdict of the last two hours no payout leaves
// (`ledgerIsSound`).

import { setTimeout } from "node:timers/promises";

import type { Context } from "../platform/context.ts";
import type { Database, Db } from "../platform/postgres/postgres.ts";
import {
  type Break,
  claimCheck,
  findMoneyBesideDues,
  findPayoutsEnd,
  findUnconfirmedPayee,
  findUnderpaidLeg,
  findUnexplainedUse,
  findUsesEnd,
  findVerdict,
  findWhetherDue,
  type LedgerCheckName,
  setVerdict,
  type UsesPlace,
} from "./check-store.ts";
import {
  countLineBlocks,
  findAbsentHolder,
  findAccountsEnd,
  findCreditsEnd,
  findMissingLine,
  findOverdrawn,
  findWrongBalance,
  findWrongHouseBalance,
  findWrongLine,
  findWrongOwner,
} from "./compare-store.ts";
import {
  findBrokenChain,
  type JudgedEntries,
  judgeNext,
  judgeNone,
  type Mismatch,
  moveOwners,
  type PrintedEntry,
} from "./slice-rules.ts";
import {
  addSums,
  claimProof,
  countAfter,
  countProved,
  type CreditPlace,
  deleteProof,
  digestSlice,
  findLastSlice,
  findProof,
  listPrinted,
  listPrintedByNumber,
  listProvedOwners,
  listSlices,
  type ProvedSlice,
  setProved,
  setProvedOwners,
  setRounds,
  type Slice,
} from "./proof-store.ts";
import { isCutSettled, takeCut } from "./read-money.ts";

/** Every minute, and on large books at most a tenth of one connection's time. */
const pace = { everyMs: 60_000, shareOfTime: 0.1 };
/** What the rounds of one run read: slices of proved entries, and statements over the rest. */
const round = { slices: 5, lines: 5, payouts: 2, owners: 2, uses: 1 };
/** The time for proving new entries in one run. */
const provingMs = 5_000;
/** An older verdict does not count. */
const verdictAgeMaxMs = 2 * 3_600_000;
const rowsPerStatement = 10_000;
/** A block holds a hundred statement lines. */
const lineBlocksPerStatement = rowsPerStatement / 100;
const lastNumber = Number.MAX_SAFE_INTEGER;
const everything: typeof round = {
  slices: Infinity,
  lines: Infinity,
  payouts: Infinity,
  owners: Infinity,
  uses: Infinity,
};

type LedgerVerdict = {
  readonly sound: boolean;
  readonly entries: number;
  readonly tookMs: number;
  readonly checkedAt: Date;
  readonly firstBreak: Break | null;
};

type CheckContext = Pick<Context, "db" | "now">;

/** Reads everything. If proved entries have changed, the proof is deleted and made again. */
export async function checkLedger(ctx: CheckContext): Promise<LedgerVerdict> {
  return await runTimed(ctx, async () => {
    // Slices proved by this run need not be read again.
    const below = await readProvedNumber(ctx.db);
    const proving = await proveEntries(ctx.db, Infinity);
    if (proving.came === "to a break") return proving.firstBreak;
    const reread = await rereadSlices(ctx.db, { from: 0, below }, everything.slices);
    if (reread.firstBreak) return reread.firstBreak;
    if (reread.changed) {
      await forgetProof(ctx.db);
      const anew = await proveEntries(ctx.db, Infinity);
      if (anew.came === "to a break") return anew.firstBreak;
    }
    const found = await compareAll(ctx.db, beginning, everything);
    return found.firstBreak;
  });
}

/** The worker: checks when a check is due and no other process has claimed it. */
export async function checkLedgerWhenDue(ctx: Context): Promise<"more" | "idle"> {
  if (!(await findWhetherDue(ctx.db, ctx.now(), pace))) return "idle";
  const proving = await proveEntries(ctx.db, performance.now() + provingMs);
  if (proving.came === "to its time") return "more";
  if (!(await claimCheck(ctx.db, ctx.now(), pace))) return "idle";
  const verdict = await runTimed(ctx, async () =>
    proving.came === "to a break" ? proving.firstBreak : await checkInRounds(ctx),
  );
  await recordVerdict(ctx.db, verdict);
  if (!verdict.sound) ctx.log.error({ verdict }, "the ledger is broken: payouts stop");
  return "idle";
}

type RoundPlaces = {
  readonly lineBlock: number;
  readonly payouts: string;
  readonly owners: CreditPlace;
  readonly uses: UsesPlace;
};

const beginning: RoundPlaces = {
  lineBlock: 0,
  payouts: "",
  owners: { environment: "", scripNo: "" },
  uses: { firmId: "", scripNo: "" },
};

export async function recordVerdict(db: Db, verdict: LedgerVerdict): Promise<void> {
  await setVerdict(db, {
    checked_at: verdict.checkedAt,
    took_ms: verdict.tookMs,
    entries: verdict.entries,
    sound: verdict.sound,
    first_break: verdict.firstBreak,
  });
}

/** Whether the books were ever checked. */
export async function ledgerWasChecked(db: Db): Promise<boolean> {
  return (await findVerdict(db)) !== undefined;
}

/** Whether money may leave: the last check found no break and is recent. */
export async function ledgerIsSound(db: Db, now: Date): Promise<boolean> {
  const verdict = await findVerdict(db);
  if (!verdict?.sound) return false;
  return now.getTime() - verdict.checked_at.getTime() <= verdictAgeMaxMs;
}

async function runTimed(
  { db, now }: CheckContext,
  find: () => Promise<Break | undefined>,
): Promise<LedgerVerdict> {
  const checkedAt = now();
  const startedMs = performance.now();
  const firstBreak = (await find()) ?? null;
  // The comparison may fail because the proof is wrong: the next check proves again, unless the last
  // check was already broken.
  if (firstBreak && (await findVerdict(db))?.sound !== false) await forgetProof(db);
  const entries = (await countProved(db)) + (await countAfter(db, await readProvedNumber(db)));
  const tookMs = Math.ceil(performance.now() - startedMs);
  return { sound: firstBreak === null, entries, tookMs, checkedAt, firstBreak };
}

type Comparison = {
  readonly firstBreak?: Break;
  /** The positions of the rounds; undefined after their end. */
  readonly places?: { readonly [Round in keyof RoundPlaces]: RoundPlaces[Round] | undefined };
};

/** Compares all balances, and lines, payouts and owners by at most so many statements. */
async function compareAll(
  db: Database,
  from: RoundPlaces,
  most: typeof round,
): Promise<Comparison> {
  const recent = await findRecentBreak(db);
  if (recent) return { firstBreak: recent };
  const blocks = await countLineBlocks(db);
  const lines = await walk(from.lineBlock, most.lines, async (block) => {
    const below = block + lineBlocksPerStatement;
    const firstBreak = await findBreak(
      "statement_complete",
      findWrongLine(db, { from: block, below }),
    );
    return { upTo: below < blocks ? below : undefined, firstBreak };
  });
  if (lines.firstBreak) return lines;
  const house = await findWrongHouseBalance(db);
  if (house) return { firstBreak: toBreak("balance_is_sum", house) };
  const balances = await walk("", Infinity, async (after) => {
    await proveRecent(db);
    const upTo = await findAccountsEnd(db, after, rowsPerStatement);
    const firstBreak =
      (await findBreak("balance_is_sum", findWrongBalance(db, { after, upTo }))) ??
      (await findBreak("nothing_below_zero", findOverdrawn(db, { after, upTo })));
    return { upTo, firstBreak };
  });
  if (balances.firstBreak) return balances;
  const underpaid = await findBreak("buyer_pays_seller", findUnderpaidLeg(db));
  if (underpaid) return { firstBreak: underpaid };
  const beside = await findBreak("dues_come_first", findMoneyBesideDues(db));
  if (beside) return { firstBreak: beside };
  const payouts = await walk(from.payouts, most.payouts, async (after) => {
    const upTo = await findPayoutsEnd(db, after, rowsPerStatement);
    const firstBreak = await findBreak(
      "payee_confirmed",
      findUnconfirmedPayee(db, { after, upTo }),
    );
    return { upTo, firstBreak };
  });
  if (payouts.firstBreak) return payouts;
  const owners = await walk(from.owners, most.owners, async (after) => {
    await proveRecent(db);
    const upTo = await findCreditsEnd(db, after, rowsPerStatement);
    const firstBreak =
      (await findBreak("one_owner", findWrongOwner(db, { after, upTo }))) ??
      (await findBreak("owner_holds", findAbsentHolder(db, { after, upTo })));
    return { upTo, firstBreak };
  });
  if (owners.firstBreak) return owners;
  const uses = await walk(from.uses, most.uses, async (after) => {
    const upTo = await findUsesEnd(db, after, rowsPerStatement);
    const firstBreak = await findBreak("uses_explained", findUnexplainedUse(db, { after, upTo }));
    return { upTo, firstBreak };
  });
  if (uses.firstBreak) return uses;
  const [lineBlock, owner, use] = [lines.next, owners.next, uses.next];
  return { places: { lineBlock, payouts: payouts.next, owners: owner, uses: use } };
}

/** The first break in the entries since the proof, which the comparisons add to it. */
async function findRecentBreak(db: Database): Promise<Break | undefined> {
  // Meanwhile others write entries, also between those that are there.
  return await db.transaction(
    async (tx) => {
      const slice = { from: await readProvedNumber(tx), to: lastNumber };
      const judged = await judgeEntries(tx, slice);
      const owners = await listProvedOwners(tx, judged.credits.values());
      return (await findBreakIn(tx, judged, slice)) ?? findChainBreakIn(judged, owners);
    },
    { snapshot: true },
  );
}

type CheckedSlice<Place> = {
  readonly upTo: Place | undefined;
  readonly firstBreak: Break | undefined;
};

/** Steps until the end or a break, at most so many times. */
async function walk<Place>(
  from: Place,
  stepsMax: number,
  step: (after: Place) => Promise<CheckedSlice<Place>>,
): Promise<{ readonly next?: Place; readonly firstBreak?: Break }> {
  let after = from;
  for (let steps = 0; steps < stepsMax; steps++) {
    const { upTo, firstBreak } = await step(after);
    if (firstBreak) return { firstBreak };
    if (upTo === undefined) return {};
    after = upTo;
  }
  return { next: after };
}

function toBreak(check: LedgerCheckName, found: Mismatch): Break {
  return { check, ...found };
}

/** Every comparison sums the entries since the proof, so they must stay few. */
async function proveRecent(db: Database): Promise<void> {
  const recent = await countAfter(db, await readProvedNumber(db));
  if (recent > entriesPerSlice) await proveEntries(db, performance.now() + provingMs);
}

async function findBreak(
  check: LedgerCheckName,
  finding: Promise<Mismatch | undefined>,
): Promise<Break | undefined> {
  const found = await finding;
  return found && toBreak(check, found);
}

async function checkInRounds({ db }: CheckContext): Promise<Break | undefined> {
  const { rounds } = await findProof(db);
  const all = { from: rounds.slices ?? 0, below: lastNumber };
  const reread = await rereadSlices(db, all, round.slices);
  if (reread.firstBreak) return reread.firstBreak;
  if (reread.changed) {
    const { from, to, digest } = reread.changed;
    return {
      check: "entry_unchanged",
      place: `entries after ${from} up to ${to}`,
      found: "other entries than those that were proved",
      expected: digest.toString("hex"),
    };
  }
  const { firstBreak, places } = await compareAll(db, { ...beginning, ...rounds }, round);
  await setRounds(db, { slices: reread.next, ...places });
  return firstBreak;
}

// Proves entries slice by slice and stores their sums. A proved slice is read again from time to time
// and compared with its stored digest.

/** Proving a slice of this size takes some tenths of a second. */
export const entriesPerSlice = 5_000;
const cutLooks = 100;
const forgettingMsMax = 600_000;
const cutLookMs = 20;

/** So many entries are read at once that judging them holds up nobody. */
const entriesPerStatement = 500;

type SliceBreak = Mismatch & { readonly check: LedgerCheckName };

/** How far proving came: to the end of the books, to its deadline, to a break, or not at all. */
type ProofResult =
  | { readonly came: "to the end" | "to its time" | "no further" }
  | { readonly came: "to a break"; readonly firstBreak: SliceBreak };

type ProofDb = Db & Pick<Database, "transaction">;

/** Proves new entries until `deadline` (`performance.now()`). */
export async function proveEntries(db: ProofDb, deadline: number): Promise<ProofResult> {
  const upTo = await findSettledNumber(db);
  if (upTo === undefined) return { came: "no further" };
  for (;;) {
    const step = await db.transaction(async (tx) => {
      const proof = await claimProof(tx);
      if (!proof) return { came: "no further" } as const;
      const from = proof.proved_to;
      const judged = await judgeEntries(tx, { from, to: upTo }, entriesPerSlice);
      if (judged.count === 0) return { came: "to the end" } as const;
      const slice = { from, to: judged.last };
      const owners = await listProvedOwners(tx, judged.credits.values());
      const firstBreak = (await findBreakIn(tx, judged, slice)) ?? findChainBreakIn(judged, owners);
      if (firstBreak) return { came: "to a break", firstBreak } as const;
      await addSums(
        tx,
        Object.values(judged.sums).flatMap((sums) => [...sums.values()]),
      );
      await setProvedOwners(tx, moveOwners(judged, owners));
      const { to } = slice;
      const last = await findLastSlice(tx);
      const grown = last && last.entries < entriesPerSlice ? { from: last.from, to } : slice;
      await setProved(tx, { ...grown, ...(await digestSlice(tx, grown)) });
      return undefined;
    });
    if (step) return step;
    if (performance.now() > deadline) return { came: "to its time" };
  }
}

/** Reads the entries of a slice, at most so many, and what they end. */
async function judgeEntries(db: Db, { from, to }: Slice, most = Infinity): Promise<JudgedEntries> {
  const judged = judgeNone(from);
  const pending = new Map<number, PrintedEntry>();
  for (;;) {
    const limit = Math.min(entriesPerStatement, most - judged.count);
    const entries = await listPrinted(db, { from: judged.last, to }, limit);
    for (const entry of entries) if (entry.phase === "pending") pending.set(entry.entry_no, entry);
    const earlier = entries.flatMap(({ resolves }) =>
      resolves === null || pending.has(resolves) ? [] : [resolves],
    );
    for (const entry of earlier.length > 0 ? await listPrintedByNumber(db, earlier) : []) {
      pending.set(entry.entry_no, entry);
    }
    for (const entry of entries) {
      judgeNext(judged, entry, entry.resolves === null ? undefined : pending.get(entry.resolves));
    }
    if (entries.length < entriesPerStatement || judged.count === most) return judged;
  }
}

/** In this order: the first break found causes most of the later ones. */
const entryChecks = ["entry_unchanged", "entry_sums_to_zero", "resolved_once"] as const;

/** The first break in a slice, by its entries alone. */
async function findBreakIn(
  db: Db,
  { breaks }: JudgedEntries,
  slice: Slice,
): Promise<SliceBreak | undefined> {
  for (const check of entryChecks) {
    const found = breaks.get(check);
    if (found) return { check, ...found };
  }
  const missing = await findMissingLine(db, slice);
  return missing && { check: "statement_complete", ...missing };
}

function findChainBreakIn(...chain: Parameters<typeof findBrokenChain>): SliceBreak | undefined {
  const found = findBrokenChain(...chain);
  return found && { check: "owners_in_a_chain", ...found };
}

/** The result of reading proved slices again; `next` is undefined after the last slice. */
type RereadResult = {
  readonly next: number | undefined;
  readonly firstBreak?: SliceBreak;
  /** A slice whose entries are consistent but differ from the proved ones. */
  readonly changed?: ProvedSlice;
};

/** Reads at most so many of the slices that begin between two numbers again. */
async function rereadSlices(
  db: Db,
  { from, below }: { readonly from: number; readonly below: number },
  slicesMax: number,
): Promise<RereadResult> {
  let next = from;
  for (let read = 0; read < slicesMax;) {
    const [slice] = await listSlices(db, next, 1);
    if (!slice || slice.from >= below) return { next: undefined };
    const firstBreak = await findBreakIn(db, await judgeEntries(db, slice), slice);
    if (firstBreak) return { next, firstBreak };
    const { entries, digest } = await digestSlice(db, slice);
    if (entries !== slice.entries || !digest.equals(slice.digest)) {
      // The last slice may have grown meanwhile: then read it again.
      const [now] = await listSlices(db, slice.from, 1);
      if (now?.to === slice.to) return { next, changed: slice };
      continue;
    }
    next = slice.to;
    read += 1;
  }
  return { next };
}

/** Deletes the proof, so that everything is proved again. */
async function forgetProof(db: ProofDb): Promise<void> {
  await db.transaction(
    async (tx) => {
      if (await claimProof(tx)) await deleteProof(tx);
    },
    { statementMs: forgettingMsMax },
  );
}

async function readProvedNumber(db: Db): Promise<number> {
  return (await findProof(db)).proved_to;
}

/** The last number below which no entry can appear any more; undefined while a transaction is open. */
async function findSettledNumber(db: Db): Promise<number | undefined> {
  const cut = await takeCut(db);
  for (let look = 0; look < cutLooks; look++) {
    if (await isCutSettled(db, cut)) return cut.entryNo;
    await setTimeout(cutLookMs);
  }
  return undefined;
}
