// Proves entries slice by slice and keeps what they add up to. A slice that was proved is read again
// from time to time, against the digest of it that was kept.

import { setTimeout } from "node:timers/promises";

import type { Database, Db } from "../platform/postgres/postgres.ts";
import type { CheckName } from "./check-store.ts";
import {
  addOwners,
  addSums,
  claimProof,
  deleteProof,
  digestSlice,
  findBrokenChain,
  findChangedEntry,
  findLastSlice,
  findMissingLine,
  findProof,
  findSliceEnd,
  findUnbalancedEntry,
  findWrongResolution,
  type Found,
  listSlices,
  type ProvedSlice,
  setProved,
  type Slice,
} from "./proof-store.ts";
import { isCutSettled, takeCut } from "./read-money.ts";

/** Entries of a slice: proving one takes some tenths of a second. */
export const entriesPerSlice = 5_000;
const cutLooks = 100;
const forgettingMsMax = 600_000;
const cutLookMs = 20;

export type SliceBreak = Found & { readonly check: CheckName };

/** How far proving came: to the end of the books, no further in time, or to a break. */
export type Proving =
  | { readonly came: "to the end" | "to its time" | "no further" }
  | { readonly came: "to a break"; readonly firstBreak: SliceBreak };

type ProofDb = Db & Pick<Database, "transaction">;

/** In this order: what is found first is the cause of most of what would follow. */
const entryChecks: readonly (readonly [
  CheckName,
  (db: Db, slice: Slice) => Promise<Found | undefined>,
])[] = [
  ["entry_unchanged", findChangedEntry],
  ["entry_sums_to_zero", findUnbalancedEntry],
  ["resolved_once", findWrongResolution],
  ["statement_complete", findMissingLine],
];

/** Proves what is not proved yet, until `deadline` by the clock of `performance`. */
export async function proveEntries(db: ProofDb, deadline: number): Promise<Proving> {
  const upTo = await settledNumber(db);
  if (upTo === undefined) return { came: "no further" };
  for (;;) {
    const step = await db.transaction(async (tx) => {
      const proof = await claimProof(tx);
      if (!proof) return { came: "no further" } as const;
      const from = proof.proved_to;
      const to = await findSliceEnd(tx, { after: from, upTo, limit: entriesPerSlice });
      if (to === undefined) return { came: "to the end" } as const;
      const slice = { from, to };
      const firstBreak = (await breakIn(tx, slice)) ?? (await chainBreakIn(tx, slice));
      if (firstBreak) return { came: "to a break", firstBreak } as const;
      await addSums(tx, slice);
      await addOwners(tx, slice);
      const last = await findLastSlice(tx);
      const grown = last && last.entries < entriesPerSlice ? { from: last.from, to } : slice;
      await setProved(tx, { ...grown, ...(await digestSlice(tx, grown)) });
      return undefined;
    });
    if (step) return step;
    if (performance.now() > deadline) return { came: "to its time" };
  }
}

/** The first break in a slice, by its entries alone. */
export async function breakIn(db: Db, slice: Slice): Promise<SliceBreak | undefined> {
  for (const [check, find] of entryChecks) {
    const found = await find(db, slice);
    if (found) return { check, ...found };
  }
  return undefined;
}

/** For a slice that follows what was proved. */
export async function chainBreakIn(db: Db, slice: Slice): Promise<SliceBreak | undefined> {
  const found = await findBrokenChain(db, slice);
  return found && { check: "owners_in_a_chain", ...found };
}

/** The last number up to which nothing can be added; undefined when something is under way for long. */
async function settledNumber(db: Db): Promise<number | undefined> {
  const cut = await takeCut(db);
  for (let look = 0; look < cutLooks; look++) {
    if (await isCutSettled(db, cut)) return cut.entryNo;
    await setTimeout(cutLookMs);
  }
  return undefined;
}

/** What reading proved slices again has found, and where it has come to; undefined after the last one. */
export type Reread = {
  readonly next: number | undefined;
  readonly firstBreak?: SliceBreak;
  /** The entries hold by themselves and are not those that were proved. */
  readonly changed?: ProvedSlice;
};

/** Reads slices again that begin from one number on and below another, until the deadline. */
export async function rereadSlices(
  db: Db,
  { from, below }: { readonly from: number; readonly below: number },
  deadline: number,
): Promise<Reread> {
  let next = from;
  for (;;) {
    const [slice] = await listSlices(db, next, 1);
    if (!slice || slice.from >= below) return { next: undefined };
    const firstBreak = await breakIn(db, slice);
    if (firstBreak) return { next, firstBreak };
    const { entries, digest } = await digestSlice(db, slice);
    if (entries !== slice.entries || !digest.equals(slice.digest)) {
      // The last slice grows; one that has grown since is read again.
      const [now] = await listSlices(db, slice.from, 1);
      if (now?.to === slice.to) return { next, changed: slice };
      continue;
    }
    next = slice.to;
    if (performance.now() > deadline) return { next };
  }
}

/** Everything is to be proved anew. */
export async function forgetProof(db: ProofDb): Promise<void> {
  await db.transaction(
    async (tx) => {
      if (await claimProof(tx)) await deleteProof(tx);
    },
    { statementMs: forgettingMsMax },
  );
}

export async function provedTo(db: Db): Promise<number> {
  return (await findProof(db)).proved_to;
}
