// Proves entries slice by slice and stores their sums. A proved slice is read again from time to time
// and compared with its stored digest.

import { setTimeout } from "node:timers/promises";

import type { Database, Db } from "../platform/postgres/postgres.ts";
import type { LedgerCheckName } from "./check-store.ts";
import { findMissingLine } from "./compare-store.ts";
import {
  addOwners,
  addSums,
  claimProof,
  deleteProof,
  digestSlice,
  findBrokenChain,
  findChangedEntry,
  findLastSlice,
  findProof,
  findSliceEnd,
  findUnbalancedEntry,
  findWrongResolution,
  type Mismatch,
  listSlices,
  type ProvedSlice,
  setProved,
  type Slice,
} from "./proof-store.ts";
import { isCutSettled, takeCut } from "./read-money.ts";

/** Proving a slice of this size takes some tenths of a second. */
export const entriesPerSlice = 5_000;
const cutLooks = 100;
const forgettingMsMax = 600_000;
const cutLookMs = 20;

export type SliceBreak = Mismatch & { readonly check: LedgerCheckName };

/** How far proving came: to the end of the books, to its deadline, to a break, or not at all. */
export type ProofResult =
  | { readonly came: "to the end" | "to its time" | "no further" }
  | { readonly came: "to a break"; readonly firstBreak: SliceBreak };

type ProofDb = Db & Pick<Database, "transaction">;

/** In this order: the first break found causes most of the later ones. */
const entryChecks: readonly (readonly [
  LedgerCheckName,
  (db: Db, slice: Slice) => Promise<Mismatch | undefined>,
])[] = [
  ["entry_unchanged", findChangedEntry],
  ["entry_sums_to_zero", findUnbalancedEntry],
  ["resolved_once", findWrongResolution],
  ["statement_complete", findMissingLine],
];

/** Proves new entries until `deadline` (`performance.now()`). */
export async function proveEntries(db: ProofDb, deadline: number): Promise<ProofResult> {
  const upTo = await findSettledNumber(db);
  if (upTo === undefined) return { came: "no further" };
  for (;;) {
    const step = await db.transaction(async (tx) => {
      const proof = await claimProof(tx);
      if (!proof) return { came: "no further" } as const;
      const from = proof.proved_to;
      const to = await findSliceEnd(tx, { after: from, upTo, limit: entriesPerSlice });
      if (to === undefined) return { came: "to the end" } as const;
      const slice = { from, to };
      const firstBreak = (await findBreakIn(tx, slice)) ?? (await findChainBreakIn(tx, slice));
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
export async function findBreakIn(db: Db, slice: Slice): Promise<SliceBreak | undefined> {
  for (const [check, find] of entryChecks) {
    const found = await find(db, slice);
    if (found) return { check, ...found };
  }
  return undefined;
}

/** The first broken chain of owners; only for the slice after the proof. */
export async function findChainBreakIn(db: Db, slice: Slice): Promise<SliceBreak | undefined> {
  const found = await findBrokenChain(db, slice);
  return found && { check: "owners_in_a_chain", ...found };
}

/** The result of reading proved slices again; `next` is undefined after the last slice. */
export type RereadResult = {
  readonly next: number | undefined;
  readonly firstBreak?: SliceBreak;
  /** A slice whose entries are consistent but differ from the proved ones. */
  readonly changed?: ProvedSlice;
};

/** Reads at most so many of the slices that begin between two numbers again. */
export async function rereadSlices(
  db: Db,
  { from, below }: { readonly from: number; readonly below: number },
  slicesMax: number,
): Promise<RereadResult> {
  let next = from;
  for (let read = 0; read < slicesMax;) {
    const [slice] = await listSlices(db, next, 1);
    if (!slice || slice.from >= below) return { next: undefined };
    const firstBreak = await findBreakIn(db, slice);
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
export async function forgetProof(db: ProofDb): Promise<void> {
  await db.transaction(
    async (tx) => {
      if (await claimProof(tx)) await deleteProof(tx);
    },
    { statementMs: forgettingMsMax },
  );
}

export async function readProvedNumber(db: Db): Promise<number> {
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
