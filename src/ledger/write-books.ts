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
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { type Books, judgeEntry, judgeResolution, type Pending } from "./judge-books.ts";
import {
  accountFirm,
  accountName,
  type Balance,
  balanceName,
  creditName,
  type Entry,
  entryKey,
  entryKinds,
  type EntryName,
  type EntryRefusal,
  findFault,
  misnamed,
  type MovementRow,
  parseAccount,
  type Resolution,
  type ResolutionRefusal,
  type Written,
} from "./rules.ts";
import {
  type AccountRow,
  addToBalances,
  type CreditKey,
  type EntryRow,
  findPending,
  findResolutions,
  findWritten,
  insertEntries,
  insertOwners,
  lockBalances,
  type LockedRow,
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
export async function writeBooks(tx: Tx, changes: BookChanges, now: Date): Promise<WrittenBooks> {
  return (await writeBooksBeside(tx, changes, now, nothingBeside)).written;
}

/** What a transaction asks for on the way, with the round trips that the books take anyway. */
export type Beside<First> = {
  /** Travels with the lock of the balances. */
  readonly first: Query<First>;
  /** Made of the answer to it, and travels with the entries. */
  readonly next: (first: First) => Query<void>;
};

const nothingBeside: Beside<void> = { first: known(undefined), next: () => known(undefined) };

/** The same, and something else of the transaction on the way. */
export async function writeBooksBeside<First>(
  tx: Tx,
  { resolutions = [], entries = [] }: BookChanges,
  now: Date,
  beside: Beside<First>,
): Promise<{ readonly written: WrittenBooks; readonly first: First }> {
  for (const entry of entries) refuseFault(entry, findFault(entry));
  for (const resolution of resolutions) refuseFault(resolution, misnamed(resolution));
  const pending = resolutions.length > 0 ? await loadPending(tx, resolutions) : new Map();
  const touched = touchedBy(entries, [...pending.values()]);
  const { balances, first } = await loadBalances(tx, touched, beside.first);
  const books = await openBooks(tx, { balances, entries, pending, touched });
  const owned = new Set(books.owners.keys());

  const ended = resolutions.map((resolution) => judgeResolution(books, resolution));
  const judged = entries.map((entry) => judgeEntry(books, entry));
  const rows = [
    ...ended.flatMap(({ accepted }) => (accepted ? [resolutionRow(accepted)] : [])),
    ...judged.flatMap(({ accepted }) => (accepted ? [entryRow(accepted)] : [])),
  ];
  const [numbers] = await tx.pipeline([
    storeEntries(rows, now),
    storeBalances(books, touched),
    beside.next(first),
  ]);
  await tx.pipeline(storeOwners(books, { touched, owned, numbers }));

  const written = {
    resolutions: resolutions.map((item, at) => toWritten(item, ended[at]?.refusal, numbers)),
    entries: entries.map((item, at) => toWritten(item, judged[at]?.refusal, numbers)),
  };
  return { written, first };
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

function refuseFault(name: EntryName, fault: string | undefined): void {
  if (fault !== undefined) throw new Error(`the entry ${entryKey(name)} ${fault}`);
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

/** What a set needs locked, by name. */
type Touched = {
  readonly accounts: ReadonlyMap<string, TouchedAccount>;
  readonly credits: ReadonlyMap<string, CreditKey>;
};

type TouchedAccount = {
  readonly environment: Environment;
  readonly account: string;
  /** The key of its balance: the name, and for those in stripes which one. */
  readonly balance: string;
};

function touchedBy(entries: readonly Entry[], pending: readonly Pending[]): Touched {
  const stripe = randomInt(stripes);
  const accounts = new Map<string, TouchedAccount>();
  const credits = new Map<string, CreditKey>();
  const touchAccount = (environment: Environment, account: string) => {
    const name = balanceName(environment, account);
    const known = accounts.get(name);
    if (known) return refuseOther(known, environment);
    const balance = accountFirm(account) === undefined ? `${name}:${stripe}` : name;
    accounts.set(name, { environment, account, balance });
  };
  const touchCredit = (environment: Environment, scripNo: string) =>
    credits.set(creditName(environment, scripNo), { environment, scrip_no: scripNo });
  for (const { environment, movements } of entries) {
    for (const movement of movements) {
      if ("scripNo" in movement) touchCredit(environment, movement.scripNo);
      else {
        touchAccount(environment, accountName(movement.from));
        touchAccount(environment, accountName(movement.to));
      }
    }
  }
  for (const { environment, movements } of pending) {
    for (const { from_account, to_account, scrip_no } of movements) {
      if (scrip_no !== null) touchCredit(environment, scrip_no);
      else {
        touchAccount(environment, from_account);
        touchAccount(environment, to_account);
      }
    }
  }
  return { accounts, credits };
}

async function openBooks(
  tx: Tx,
  {
    balances,
    entries,
    pending,
    touched,
  }: {
    /** Locked. */
    readonly balances: Books["balances"];
    readonly entries: readonly Entry[];
    readonly pending: ReadonlyMap<string, Pending>;
    readonly touched: Touched;
  },
): Promise<Books> {
  const credits = [...touched.credits.values()];
  // What has been written is certain only behind the locks, when nobody else can change it.
  const [owners, written, resolved] = await tx.pipelineBehind(
    credits.length > 0 ? lockOwners(credits) : known([]),
    [entries.length > 0 ? findWritten(entries) : known([]), findEnded(pending)],
  );
  return {
    balances,
    owners: new Map(
      owners.map(({ environment, scrip_no, account, pending_entry_no }) => [
        creditName(environment, scrip_no),
        { account, pendingKey: pending_entry_no === null ? null : `#${pending_entry_no}` },
      ]),
    ),
    pending,
    written: new Set(written.map(entryKey)),
    resolved,
    changes: new Map(),
    moves: new Map(),
  };
}

/** Locks all of them in one order, but for accounts that nobody has used before: those come after. */
async function loadBalances<First>(
  tx: Tx,
  { accounts }: Touched,
  beside: Query<First>,
): Promise<{ readonly balances: Map<string, Balance>; readonly first: First }> {
  const wanted = [...accounts.values()];
  const [locked, first] = await tx.pipeline([lockAccounts(wanted), beside]);
  const loaded = new Map(locked.map((row) => [row.balance, row]));
  const missing = wanted.filter(({ balance }) => !loaded.has(balance));
  if (missing.length > 0) {
    await openAccounts(tx, missing.map(accountRow));
    for (const row of await tx.run(lockAccounts(missing))) loaded.set(row.balance, row);
  }
  const balances = [...accounts].map(([name, touched]) => {
    return [name, requireBalance(loaded, touched)] as const;
  });
  return { balances: new Map(balances), first };
}

function lockAccounts(accounts: readonly TouchedAccount[]): Query<LockedRow[]> {
  return accounts.length > 0
    ? lockBalances(accounts.map(({ balance }) => balance))
    : known<LockedRow[]>([]);
}

function requireBalance(loaded: ReadonlyMap<string, LockedRow>, touched: TouchedAccount): Balance {
  const found = loaded.get(touched.balance);
  if (!found) throw new Error(`the balance ${touched.balance} could not be opened`);
  refuseOther(touched, found.environment);
  return found;
}

/** A firm's accounts are named without its environment, so a mix-up must not go unseen. */
function refuseOther({ account, environment }: TouchedAccount, other: Environment): void {
  if (environment !== other) throw new Error(`${account} is not in ${other} and ${environment}`);
}

function accountRow({ environment, account, balance }: TouchedAccount): AccountRow {
  return {
    balance,
    environment,
    account,
    kind: parseAccount(account).kind,
    firm_id: accountFirm(account) ?? null,
  };
}

function findEnded(pending: ReadonlyMap<string, Pending>): Query<Map<string, Resolution["as"]>> {
  if (pending.size === 0) return known(new Map());
  const keys = new Map([...pending].map(([key, { entryNo }]) => [entryNo, key]));
  return findResolutions([...keys.keys()]).map(
    (found) => new Map(found.map(({ resolves, phase }) => [keys.get(resolves) ?? "", phase])),
  );
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

/** The numbers that the entries got, by their keys. */
function storeEntries(rows: readonly EntryRow[], now: Date): Query<Map<string, number>> {
  if (rows.length === 0) return known(new Map());
  const concerned = rows.flatMap(({ phase, movements }, at) => {
    if (phase !== "posted") return [];
    const sides = movements.flatMap(({ from_account, to_account }) => [from_account, to_account]);
    const firms = new Set(sides.map(accountFirm).filter((firmId) => firmId !== undefined));
    return [...firms].map((firm_id) => ({ firm_id, position: at + 1 }));
  });
  return insertEntries(rows, concerned, now).map(
    (numbered) => new Map(rows.map((row, at) => [entryKey(row), numbered[at]?.entry_no ?? 0])),
  );
}

function storeBalances({ changes }: Books, { accounts }: Touched): Query<void> {
  const rows = [...changes].map(([name, change]) => {
    const { balance = name } = accounts.get(name) ?? {};
    return { balance, ...change };
  });
  return rows.length > 0 ? addToBalances(rows) : known(undefined);
}

function storeOwners(
  { moves }: Books,
  {
    touched,
    owned,
    numbers,
  }: {
    readonly touched: Touched;
    /** The credits that were in the books before. */
    readonly owned: ReadonlySet<string>;
    readonly numbers: ReadonlyMap<string, number>;
  },
): readonly Query<void>[] {
  const fresh: OwnerRow[] = [];
  const moved: OwnerRow[] = [];
  for (const [credit, { account, pendingKey }] of moves) {
    const key = touched.credits.get(credit);
    const pending_entry_no = pendingKey === null ? null : numbers.get(pendingKey);
    if (!key || pending_entry_no === undefined) throw new Error(`${credit} was not locked`);
    (owned.has(credit) ? moved : fresh).push({ ...key, account, pending_entry_no });
  }
  return [
    fresh.length > 0 ? insertOwners(fresh) : known(undefined),
    moved.length > 0 ? setOwners(moved) : known(undefined),
  ];
}

function toWritten<Refusal>(
  name: EntryName,
  refusal: Refusal | undefined,
  numbers: ReadonlyMap<string, number>,
): Written<Refusal> {
  if (refusal !== undefined) return { ok: false, refusal };
  const entryNo = numbers.get(entryKey(name));
  if (entryNo === undefined) throw new Error(`the entry ${entryKey(name)} got no number`);
  return { ok: true, entryNo };
}
