import { recordBeside } from "../journal/record-changes.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  buildDuesChanges,
  buildSetOffEntries,
  decideSetOffs,
  findOwed,
  type FirmOfBooks,
  listRaisedDues,
  type RaisedDues,
  type SetOff,
} from "./dues.ts";
import { findNextOrdinals, listDuesVersions } from "./dues-store.ts";
import { type Books, type Effect, judgeEntry, type JudgedEntry } from "./judge-books.ts";

/** The dues set off at the end of a set, and what is still owed. */
export type SettledDues = {
  readonly entries: readonly JudgedEntry[];
  readonly setOffs: readonly SetOff[];
  readonly owing: ReadonlySet<string>;
  readonly raised: readonly RaisedDues[];
};

/** Judges what is set off, as the last entries of the set. */
export async function settleDues(
  tx: Tx,
  books: Books,
  {
    firms,
    effects,
  }: { readonly firms: readonly FirmOfBooks[]; readonly effects: readonly Effect[] },
): Promise<SettledDues> {
  const raised = listRaisedDues(firms, effects);
  const setOffs = decideSetOffs(books, firms, effects);
  const [first] = setOffs;
  const subjects = [...new Set(setOffs.map(({ subject }) => subject))];
  const next = first
    ? await findNextOrdinals(tx, { environment: first.environment, kind: "dues" }, subjects)
    : new Map<string, number>();
  const entries = buildSetOffEntries(setOffs, next).map((entry) => {
    const { accepted } = judgeEntry(books, entry);
    if (!accepted) throw new Error("what is available can be set off");
    return accepted;
  });
  const owing = firms.filter(({ firmId }) => findOwed(books, firmId) > 0);
  return { entries, setOffs, owing: new Set(owing.map(({ firmId }) => firmId)), raised };
}

/** Journals what firms came to owe and what was set off, with the other changes of the transaction. */
export async function recordDues(
  tx: Tx,
  books: Books,
  { raised, setOffs }: SettledDues,
  now: Date,
): Promise<void> {
  if (raised.length + setOffs.length === 0) return;
  const firmIds = [...new Set([...raised, ...setOffs].map(({ firmId }) => firmId))];
  const versions = await listDuesVersions(tx, firmIds);
  const firms = new Map(versions.map((row) => [row.firm_id, row]));
  const owed = (firmId: string) => findOwed(books, firmId);
  recordBeside(tx, buildDuesChanges({ raised, setOffs, firms, owed }), now);
}
