// Whether the database's own chains are whole: every link is hashed again from its record, and every
// record is asked for its link. All of it in one snapshot, page by page.

import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import type { Desk, Position } from "./chain-store.ts";
import { chainForm, type Head, linkAfter, startOfChain } from "./rules.ts";
import { findNextDesk, type LinkedRow, listLinked, listPlaces } from "./trail-store.ts";

const linksPerPage = 2_000;
const placesPerPage = 10_000;

export type ChainBreak = Desk & {
  /** Where in the chain; null for a record that has no place in it. */
  readonly seq: number | null;
  readonly record_id: string | null;
  readonly problem: string;
};

export type ChainVerdict = {
  readonly whole: boolean;
  readonly desks: number;
  readonly records: number;
  /** Committed, and still to be chained. */
  readonly pending: number;
  readonly first_break: ChainBreak | null;
};

export async function verifyChain({ db }: Pick<Context, "db">): Promise<ChainVerdict> {
  return await db.transaction(
    async (tx) => {
      const chains = await walkChains(tx);
      const places = chains.first_break ? { pending: 0, lost: null } : await walkRecords(tx);
      const first_break = chains.first_break ?? places.lost;
      return { ...chains, pending: places.pending, first_break, whole: first_break === null };
    },
    { snapshot: true },
  );
}

async function walkChains(
  tx: Tx,
): Promise<Pick<ChainVerdict, "desks" | "records" | "first_break">> {
  let desks = 0;
  let records = 0;
  let desk = await findNextDesk(tx, { environment: "", desk_id: "" });
  while (desk) {
    const { last, problem } = await walkChain(tx, desk);
    desks += 1;
    records += last.seq;
    if (problem) return { desks, records, first_break: problem };
    desk = await findNextDesk(tx, desk);
  }
  return { desks, records, first_break: null };
}

async function walkChain(tx: Tx, desk: Desk): Promise<{ last: Head; problem: ChainBreak | null }> {
  let last = startOfChain;
  for (;;) {
    const page = await listLinked(tx, desk, {
      after: last.seq,
      upTo: Number.MAX_SAFE_INTEGER,
      limit: linksPerPage,
    });
    for (const row of page) {
      const problem = problemOf(row, last);
      const { record_id } = row;
      if (problem) return { last, problem: { ...desk, seq: last.seq + 1, record_id, problem } };
      last = { seq: row.seq, hash: row.hash };
    }
    if (page.length < linksPerPage) return { last, problem: null };
  }
}

function problemOf(row: LinkedRow, last: Head): string | undefined {
  if (row.seq !== last.seq + 1) return "this link is missing";
  if (row.record_id === null) return "the record of this link is missing";
  if (row.form !== chainForm) return `bytes of form ${row.form} are not known`;
  if (linkAfter(last, row).hash !== row.hash) return "the record or its link was changed";
  return row.copies_hold ? undefined : "the link's copy of its record was changed";
}

async function walkRecords(tx: Tx): Promise<{ pending: number; lost: ChainBreak | null }> {
  let pending = 0;
  let after: Position = { recorded_in: "0", record_id: "" };
  for (;;) {
    const page = await listPlaces(tx, after, placesPerPage);
    for (const { environment, desk_id, record_id, chained, passed } of page) {
      if (chained) continue;
      const problem = "the record has no link and never gets one";
      if (passed) return { pending, lost: { environment, desk_id, record_id, seq: null, problem } };
      pending += 1;
    }
    after = page.at(-1) ?? after;
    if (page.length < placesPerPage) return { pending, lost: null };
  }
}
