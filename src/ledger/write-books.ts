// Every change of the books goes through here, as a set in the caller's transaction:
//
//   load     what is to be resolved, as it was written
//   lock     the balances and then the credits that the set touches, each in one order
//   judge    item by item in its order, on what the items before it have left
//   store    one statement per table; entries get their numbers while everything is locked
//
// A refusal is a value and concerns its own item only. Balances of the house and of the outside are
// never refused anything, and each set adds to a stripe of them that it takes at random.

import { randomInt } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres.ts";
import {
  accountName,
  accountOf,
  type Books,
  type Entry,
  entryKey,
  entryKinds,
  type EntryName,
  type EntryRefusal,
  faultOf,
  judgeEntry,
  judgeResolution,
  type MovementRow,
  type Pending,
  placeOf,
  type Resolution,
  type ResolutionRefusal,
  type Written,
} from "./rules.ts";
import {
  addToBalances,
  type BalanceKey,
  type BalanceRow,
  type CreditKey,
  type EntryRow,
  findPending,
  findResolutions,
  findWritten,
  insertEntries,
  insertOwners,
  lockBalances,
  lockOwners,
  openAccounts,
  type OwnerRow,
  setOwners,
} from "./store.ts";

const stripes = 16;

export type BookChanges = {
  /** How pending entries end; takes effect before the new entries. */
  readonly resolutions?: readonly Resolution[];
  readonly entries?: readonly Entry[];
};

export type WrittenBooks = {
  readonly resolutions: readonly Written<ResolutionRefusal>[];
  readonly entries: readonly Written<EntryRefusal>[];
};

/**
 * Writes a set of entries and resolutions, each of them or its refusal. A transaction that needs
 * both gives them in one call, so that everything is locked in one order.
 */
export async function writeBooks(
  tx: Tx,
  { resolutions = [], entries = [] }: BookChanges,
  now: Date,
): Promise<WrittenBooks> {
  for (const entry of entries) {
    const fault = faultOf(entry);
    if (fault) throw new Error(`the entry ${entryKey(entry)} ${fault}`);
  }
  const pending = resolutions.length > 0 ? await loadPending(tx, resolutions) : new Map();
  const touched = touchedBy(entries, [...pending.values()]);
  const { books, known } = await openBooks(tx, { entries, pending, touched });

  const ended = resolutions.map((resolution) => judgeResolution(books, resolution));
  const judged = entries.map((entry) => judgeEntry(books, entry));
  const rows = [
    ...ended.flatMap(({ accepted }) => (accepted ? [resolutionRow(accepted)] : [])),
    ...judged.flatMap(({ accepted }) => (accepted ? [entryRow(accepted)] : [])),
  ];
  const numbered = rows.length > 0 ? await insertEntries(tx, rows, now) : [];
  const numbers = new Map(numbered.map((row) => [entryKey(row), row.entry_no]));
  await storeBalances(tx, books, touched);
  await storeOwners(tx, books, { touched, known, numbers });

  return {
    resolutions: resolutions.map((item, at) => writtenOf(item, ended[at]?.refusal, numbers)),
    entries: entries.map((item, at) => writtenOf(item, judged[at]?.refusal, numbers)),
  };
}

/** Entries only; see `writeBooks`. */
export async function postEntries(
  tx: Tx,
  entries: readonly Entry[],
  now: Date,
): Promise<WrittenBooks["entries"]> {
  return (await writeBooks(tx, { entries }, now)).entries;
}

/** Resolutions only; see `writeBooks`. */
export async function resolveEntries(
  tx: Tx,
  resolutions: readonly Resolution[],
  now: Date,
): Promise<WrittenBooks["resolutions"]> {
  return (await writeBooks(tx, { resolutions }, now)).resolutions;
}

async function loadPending(
  tx: Tx,
  resolutions: readonly Resolution[],
): Promise<Map<string, Pending>> {
  const asked = new Map(resolutions.map((resolution) => [entryKey(resolution), resolution]));
  const pending = new Map<string, Pending & { readonly movements: MovementRow[] }>();
  for (const row of await findPending(tx, [...asked.values()])) {
    const { entry_no: entryNo, environment, held_as: heldAs, ...movement } = row;
    const key = entryKey(row);
    const loaded = pending.get(key) ?? { entryNo, environment, heldAs, movements: [] };
    loaded.movements.push(movement);
    pending.set(key, loaded);
  }
  return pending;
}

/** What a set needs locked: balances and credits by their places, in one order for every set. */
type Touched = {
  readonly balances: ReadonlyMap<string, BalanceKey>;
  readonly credits: ReadonlyMap<string, CreditKey>;
};

function touchedBy(entries: readonly Entry[], pending: readonly Pending[]): Touched {
  const stripe = randomInt(stripes);
  const balances = new Map<string, BalanceKey>();
  const credits = new Map<string, CreditKey>();
  const touch = (environment: Environment, accounts: readonly string[], scripNo: string | null) => {
    if (scripNo !== null) {
      credits.set(placeOf(environment, scripNo), { environment, scrip_no: scripNo });
      return;
    }
    for (const account of accounts) {
      const key = { environment, account, stripe: isFirms(account) ? 0 : stripe };
      balances.set(placeOf(environment, account), key);
    }
  };
  for (const { environment, movements } of entries) {
    for (const movement of movements) {
      const accounts = [accountName(movement.from), accountName(movement.to)];
      touch(environment, accounts, "scripNo" in movement ? movement.scripNo : null);
    }
  }
  for (const { environment, movements } of pending) {
    for (const { from_account, to_account, scrip_no } of movements) {
      touch(environment, [from_account, to_account], scrip_no);
    }
  }
  return { balances, credits };
}

function isFirms(account: string): boolean {
  return "firmId" in accountOf(account);
}

async function openBooks(
  tx: Tx,
  {
    entries,
    pending,
    touched,
  }: {
    readonly entries: readonly Entry[];
    readonly pending: ReadonlyMap<string, Pending>;
    readonly touched: Touched;
  },
): Promise<{ books: Books; known: ReadonlySet<string> }> {
  const balances = await lockTouchedBalances(tx, [...touched.balances.values()]);
  const owners =
    touched.credits.size > 0 ? await lockOwners(tx, [...touched.credits.values()]) : [];
  // Only now that nobody else can change them is it certain what has been written.
  const written = entries.length > 0 ? await findWritten(tx, entries) : [];
  const ended = await findEnded(tx, pending);
  const books = {
    balances: new Map(balances.map((row) => [placeOf(row.environment, row.account), row])),
    owners: new Map(
      owners.map(({ environment, scrip_no, account, pending_entry_no }) => [
        placeOf(environment, scrip_no),
        { account, pendingKey: pending_entry_no === null ? null : `#${pending_entry_no}` },
      ]),
    ),
    pending,
    written: new Set(written.map(entryKey)),
    resolved: ended,
    changes: new Map(),
    moves: new Map(),
  };
  return { books, known: new Set(books.owners.keys()) };
}

async function lockTouchedBalances(tx: Tx, keys: readonly BalanceKey[]): Promise<BalanceRow[]> {
  if (keys.length === 0) return [];
  const accounts = keys.flatMap(({ environment, account }) => {
    const named = accountOf(account);
    return "firmId" in named
      ? [{ environment, account, kind: named.kind, firm_id: named.firmId }]
      : [];
  });
  if (accounts.length > 0) await openAccounts(tx, accounts);
  return await lockBalances(tx, keys);
}

async function findEnded(
  tx: Tx,
  pending: ReadonlyMap<string, Pending>,
): Promise<Map<string, Resolution["as"]>> {
  if (pending.size === 0) return new Map();
  const keys = new Map([...pending].map(([key, { entryNo }]) => [entryNo, key]));
  const found = await findResolutions(tx, [...keys.keys()]);
  return new Map(found.map(({ resolves, phase }) => [keys.get(resolves) ?? "", phase]));
}

function entryRow({
  entry,
  movements,
}: {
  entry: Entry;
  movements: readonly MovementRow[];
}): EntryRow {
  const { environment, kind, subject, ordinal = 0, phase } = entry;
  const held_as = phase === "pending" ? entryKinds[kind] : null;
  return { environment, kind, subject, ordinal, phase, held_as, resolves: null, movements };
}

function resolutionRow({
  resolution,
  pending,
}: {
  resolution: Resolution;
  pending: Pending;
}): EntryRow {
  const { environment, kind, subject, ordinal = 0, as: phase } = resolution;
  const movements = phase === "posted" ? pending.movements : [];
  const resolves = pending.entryNo;
  return { environment, kind, subject, ordinal, phase, held_as: null, resolves, movements };
}

async function storeBalances(tx: Tx, { changes }: Books, { balances }: Touched): Promise<void> {
  const rows = [...changes].map(([place, change]) => {
    const key = balances.get(place);
    if (!key) throw new Error(`the balance of ${place} was not locked`);
    return { ...key, ...change };
  });
  if (rows.length > 0) await addToBalances(tx, rows);
}

async function storeOwners(
  tx: Tx,
  { moves }: Books,
  {
    touched,
    known,
    numbers,
  }: {
    readonly touched: Touched;
    readonly known: ReadonlySet<string>;
    readonly numbers: ReadonlyMap<string, number>;
  },
): Promise<void> {
  const fresh: OwnerRow[] = [];
  const moved: OwnerRow[] = [];
  for (const [place, { account, pendingKey }] of moves) {
    const key = touched.credits.get(place);
    const pending_entry_no = pendingKey === null ? null : numbers.get(pendingKey);
    if (!key || pending_entry_no === undefined) throw new Error(`${place} was not locked`);
    (known.has(place) ? moved : fresh).push({ ...key, account, pending_entry_no });
  }
  if (fresh.length > 0) await insertOwners(tx, fresh);
  if (moved.length > 0) await setOwners(tx, moved);
}

function writtenOf<Refusal>(
  name: EntryName,
  refusal: Refusal | undefined,
  numbers: ReadonlyMap<string, number>,
): Written<Refusal> {
  if (refusal !== undefined) return { ok: false, refusal };
  const entryNo = numbers.get(entryKey(name));
  if (entryNo === undefined) throw new Error(`the entry ${entryKey(name)} got no number`);
  return { ok: true, entryNo };
}
