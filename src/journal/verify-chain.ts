// Verifies the chains in the database: hashes every record or block again and compares the last one with the
// desk's head. Reads page by page in one snapshot: the records of before first, then the blocks, and
// whether each is found by what its records are about.

import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  blockForm,
  formerForm,
  hashPart,
  type Head,
  linkAfter,
  readRecord,
  recordForm,
  startOfChain,
} from "./audit-rules.ts";
import { type ChainDesk, findHead, findNextDesk } from "./audit-store.ts";
import {
  type Block,
  type BlockRecord,
  BrokenBlock,
  isErased,
  isFoundRight,
  readBlock,
  recordsPerBlockMax,
  toLink,
  writeBlock,
} from "./block-rules.ts";
import { type IndexedBlock, listIndexedBlocks } from "./block-store.ts";
import { type ChainedLink, listFormerLinks } from "./find-records.ts";

const recordsPerPage = 2_000;
const blocksPerPage = Math.floor((8 * recordsPerPage) / recordsPerBlockMax);

export type ChainBreak = ChainDesk & {
  readonly seq: number;
  /** Null when the record is missing. */
  readonly record_id: string | null;
  readonly problem: string;
};

export type ChainVerdict = {
  readonly whole: boolean;
  readonly desks: number;
  readonly records: number;
  /** Events of which the hash alone is left. */
  readonly erased: number;
  readonly first_break: ChainBreak | null;
};

export async function verifyChain({ db }: Pick<Context, "db">): Promise<ChainVerdict> {
  return await db.transaction(walkChains, { snapshot: true });
}

export async function walkChains(tx: Tx): Promise<ChainVerdict> {
  let desks = 0;
  let records = 0;
  let erased = 0;
  let desk = await findNextDesk(tx, { environment: "", desk_id: "" });
  while (desk) {
    const { last, first_break, ...walked } = await walkChain(tx, desk);
    desks += 1;
    records += last.seq;
    erased += walked.erased;
    if (first_break) return { whole: false, desks, records, erased, first_break };
    desk = await findNextDesk(tx, desk);
  }
  return { whole: true, desks, records, erased, first_break: null };
}

type Break = Pick<ChainBreak, "record_id" | "problem">;
type WalkResult = {
  readonly last: Head;
  readonly erased: number;
  readonly first_break: ChainBreak | null;
};

async function walkChain(tx: Tx, desk: ChainDesk): Promise<WalkResult> {
  const former = await walkFormer(tx, desk);
  const walked = former.found ? former : await walkBlocks(tx, desk, former.last);
  const { last, found, erased = 0 } = walked;
  const first_break = found
    ? { ...desk, seq: last.seq + 1, ...found }
    : compareEnd(desk, last, await findHead(tx, desk));
  return { last, erased, first_break };
}

type Walked = {
  readonly last: Head;
  readonly erased?: number | undefined;
  readonly found?: Break | undefined;
};

async function walkFormer(tx: Tx, desk: ChainDesk): Promise<Walked> {
  let last = startOfChain;
  for (;;) {
    const range = { after: last.seq, upTo: Number.MAX_SAFE_INTEGER, limit: recordsPerPage };
    const page = await listFormerLinks(tx, desk, range);
    for (const link of page) {
      const found = findProblem(link, last, formerForm);
      if (found) return { last, found };
      last = { seq: link.seq, hash: link.hash };
    }
    if (page.length < recordsPerPage) return { last };
  }
}

async function walkBlocks(tx: Tx, desk: ChainDesk, from: Head): Promise<Walked> {
  let last = from;
  let erased = 0;
  for (;;) {
    const page = await listIndexedBlocks(tx, desk, { after: last.seq, limit: blocksPerPage });
    for (const block of page) {
      const walked = walkBlock(block, last);
      if (walked.found) return walked;
      last = walked.last;
      erased += walked.erased ?? 0;
    }
    if (page.length < blocksPerPage) return { last, erased };
  }
}

function walkBlock(block: IndexedBlock, before: Head): Walked {
  const records = readWhole(block);
  const broken = (problem: string): Walked => ({
    last: before,
    found: { record_id: null, problem },
  });
  if (records instanceof BrokenBlock) return broken(records.message);
  const walked =
    block.form === blockForm
      ? walkAsOne(block, records, before)
      : walkRecords(block, records, before);
  if (walked.found || isFoundRight(records, block)) return walked;
  return broken("its block is found by other things");
}

function walkAsOne(block: Block, records: readonly BlockRecord[], last: Head): Walked {
  const broken = (problem: string): Walked => ({ last, found: { record_id: null, problem } });
  if (block.first_seq !== last.seq + 1) return broken("this record is missing");
  const { part } = writeBlock(block, records, last.hash);
  if (hashPart(part) !== block.hashes) return broken("its block or the block's hash was changed");
  return { last: { seq: block.last_seq, hash: block.hashes }, erased: countErased(records) };
}

function walkRecords(block: Block, records: readonly BlockRecord[], before: Head): Walked {
  let last = before;
  for (const record of records) {
    const { seq, hash } = record;
    const found = findProblem({ ...toLink(block, record), seq, hash }, last, recordForm);
    if (found) return { last, found };
    if (readRecord(record.text).at !== block.at_text) {
      return { last, found: { record_id: null, problem: "its block is of another time" } };
    }
    last = { seq, hash };
  }
  return { last, erased: countErased(records) };
}

function countErased(records: readonly BlockRecord[]): number {
  return records.filter(({ event }) => event !== null && isErased(event)).length;
}

function readWhole(block: IndexedBlock): BlockRecord[] | BrokenBlock {
  try {
    return readBlock(block);
  } catch (error) {
    if (error instanceof BrokenBlock) return error;
    throw error;
  }
}

function findProblem(link: ChainedLink, last: Head, form: number): Break | undefined {
  if (link.seq !== last.seq + 1) return { record_id: null, problem: "this record is missing" };
  const record_id = readId(link.text);
  if (link.form !== form) return { record_id, problem: `bytes of form ${link.form} are not known` };
  if (linkAfter(last, link).hash === link.hash) return undefined;
  return { record_id, problem: "the record or its hash was changed" };
}

/** The id of a record, whatever else became of its text. */
function readId(text: string): string | null {
  return /^\{"record_id":"([^"]*)"/.exec(text)?.[1] ?? null;
}

/** A chain whose links are right may still lack its last records, or have some too many. */
function compareEnd(desk: ChainDesk, last: Head, head: Head): ChainBreak | null {
  if (head.seq === last.seq && head.hash === last.hash) return null;
  const seq = Math.min(head.seq, last.seq) + 1;
  return { ...desk, seq, record_id: null, problem: "the chain does not end where it is said to" };
}
