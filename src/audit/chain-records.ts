// The sequencer: gives every audit record its place in the chain of its desk, after its commit.
//
//   lock     one transaction of all processes is the sequencer; it ends with it, also when it dies
//   look     the next records without a link, as one snapshot sees them
//   link     in the order found, each after the last link of its desk
//   move     the cursor to where nothing is left behind: what is older than every transaction that
//            was still running, and no further than what was linked
//
// Links and cursor commit together. Any record that can be seen may be linked: the order of links is
// the sequencer's own, and a transaction that commits late only gets a later place. The worker runs
// it all the time; whoever reads the trail first has what is left linked, so that a reader sees all
// that was committed before it asked.

import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import { isLockTimeout, type Tx } from "../platform/postgres.ts";
import {
  insertLinks,
  type LinkRow,
  listHeads,
  listUnchained,
  lockSequencer,
  type Look,
  type Position,
  setCursor,
  tryLockSequencer,
  type UnchainedRow,
} from "./chain-store.ts";
import { chainForm, type Head, linkAfter, startOfChain } from "./rules.ts";

const linksPerSet = 4_000;
/** How long a reader helps before it takes what there is. */
const catchUpMs = 3_000;
const readersMax = 10_000;

/** The worker's part. */
export async function chainRecords(
  { db }: Pick<Context, "db">,
  setSize = linksPerSet,
): Promise<"more" | "idle"> {
  return await db.transaction(async (tx) =>
    (await tryLockSequencer(tx)) ? await linkNext(tx, setSize) : "idle",
  );
}

/** Links what is left; whether nothing was left in the end. */
export type CatchUp = () => Promise<boolean>;

/** Those who come while one catches up share the next turn. */
export function catcherUp({ db }: Pick<Context, "db">): CatchUp {
  const turn = coalesce(
    async (readers: readonly null[]) => {
      const done = await catchUp(db);
      return readers.map(() => done);
    },
    { setSizeMax: readersMax, queueMax: readersMax, mayRetry: () => false },
  );
  return async () => await turn(null);
}

async function catchUp(db: Context["db"]): Promise<boolean> {
  const startedMs = performance.now();
  try {
    while (performance.now() - startedMs < catchUpMs) {
      const left = await db.transaction(async (tx) => {
        await lockSequencer(tx);
        return await linkNext(tx, linksPerSet);
      });
      if (left === "idle") return true;
    }
  } catch (error) {
    if (!isLockTimeout(error)) throw error; // Another process is at it, and has much to do.
  }
  return false;
}

async function linkNext(tx: Tx, setSize: number): Promise<"more" | "idle"> {
  const look = await listUnchained(tx, setSize);
  const { rows, restored } = look;
  const isFull = rows.length === setSize;
  if (rows.length > 0) await insertLinks(tx, await linksOf(tx, rows));
  // While a restored database is searched the cursor stays ahead, which is how that is known.
  const moves = restored ? !isFull : rows.length > 0;
  if (moves) await setCursor(tx, cursorAfter(look, isFull));
  return isFull ? "more" : "idle";
}

async function linksOf(tx: Tx, rows: readonly UnchainedRow[]): Promise<LinkRow[]> {
  const desks = new Map(rows.map((row) => [deskOf(row), row]));
  const heads = new Map<string, Head>(
    (await listHeads(tx, [...desks.values()])).map((head) => [deskOf(head), head]),
  );
  return rows.map((row) => {
    const { environment, desk_id, recorded_in, record_id, at_text, entity_id } = row;
    const link = linkAfter(heads.get(deskOf(row)) ?? startOfChain, row);
    heads.set(deskOf(row), link);
    return {
      environment,
      desk_id,
      recorded_in,
      record_id,
      at_text,
      entity_id,
      form: chainForm,
      ...link,
    };
  });
}

function deskOf({ environment, desk_id }: { environment: string; desk_id: string }): string {
  return `${environment} ${desk_id}`;
}

function cursorAfter({ rows, horizon }: Look, isFull: boolean): Position {
  const last = rows.at(-1);
  if (isFull && last && BigInt(last.recorded_in) < BigInt(horizon)) return last;
  return { recorded_in: horizon, record_id: "" };
}
