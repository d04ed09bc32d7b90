// Verifies the chains in the database: hashes every record again and compares the last one with the
// desk's head. Reads page by page in one snapshot.

import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type AuditRecord, chainForm, type Head, linkAfter, startOfChain } from "./audit-rules.ts";
import type { Desk } from "./audit-store.ts";
import { findHead, findNextDesk, listInOrder } from "./trail-store.ts";

const recordsPerPage = 2_000;

export type ChainBreak = Desk & {
  readonly seq: number;
  /** Null when the record is missing. */
  readonly record_id: string | null;
  readonly problem: string;
};

export type ChainVerdict = {
  readonly whole: boolean;
  readonly desks: number;
  readonly records: number;
  readonly first_break: ChainBreak | null;
};

export async function verifyChain({ db }: Pick<Context, "db">): Promise<ChainVerdict> {
  return await db.transaction(walkChains, { snapshot: true });
}

export async function walkChains(tx: Tx): Promise<ChainVerdict> {
  let desks = 0;
  let records = 0;
  let desk = await findNextDesk(tx, { environment: "", desk_id: "" });
  while (desk) {
    const { last, first_break } = await walkChain(tx, desk);
    desks += 1;
    records += last.seq;
    if (first_break) return { whole: false, desks, records, first_break };
    desk = await findNextDesk(tx, desk);
  }
  return { whole: true, desks, records, first_break: null };
}

type WalkResult = { readonly last: Head; readonly first_break: ChainBreak | null };

async function walkChain(tx: Tx, desk: Desk): Promise<WalkResult> {
  let last = startOfChain;
  for (;;) {
    const page = await listInOrder(tx, desk, {
      after: last.seq,
      upTo: Number.MAX_SAFE_INTEGER,
      limit: recordsPerPage,
    });
    for (const row of page) {
      const found = findProblem(row, last);
      if (found) return { last, first_break: { ...desk, seq: last.seq + 1, ...found } };
      last = { seq: row.seq, hash: row.hash };
    }
    if (page.length < recordsPerPage) break;
  }
  return { last, first_break: compareEnd(desk, last, await findHead(tx, desk)) };
}

function findProblem(
  row: AuditRecord & Head & { readonly form: number },
  last: Head,
): Pick<ChainBreak, "record_id" | "problem"> | undefined {
  const { record_id } = row;
  if (row.seq !== last.seq + 1) return { record_id: null, problem: "this record is missing" };
  if (row.form !== chainForm) {
    return { record_id, problem: `bytes of form ${row.form} are not known` };
  }
  if (linkAfter(last, row).hash === row.hash) return undefined;
  return { record_id, problem: "the record or its hash was changed" };
}

/** A chain whose links are right may still lack its last records, or have some too many. */
function compareEnd(desk: Desk, last: Head, head: Head): ChainBreak | null {
  if (head.seq === last.seq && head.hash === last.hash) return null;
  const seq = Math.min(head.seq, last.seq) + 1;
  return { ...desk, seq, record_id: null, problem: "the chain does not end where it is said to" };
}
