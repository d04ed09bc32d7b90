// Writes the books. Every change is a set in the caller's transaction:
//
//   load     the pending entries to be resolved
//   lock     the balances and then the credits that the set touches, each in one order
//   judge    the items in order, on the effects of the items before
//   set off  what firms that owe have available after that (`dues.ts`)
//   store    one statement per table; entries get their numbers while everything is locked
//
// A refusal is a value and concerns only its own item. Balances of the house and of the outside have no
// floor; they are striped, and each transaction adds to one random stripe, so that sets seldom wait for
// each other.

import { randomInt } from "node:crypto";

import { recordBeside } from "../journal/record-changes.ts";
import type { Environment } from "../kernel/caller.ts";
import { all, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { findNextOrdinals, listDuesVersions, lockDues } from "./store.ts";
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
import {
  type Books,
  type Effect,
  type JudgedEntry,
  judgeEntry,
  judgeResolution,
  type Pending,
} from "./judge-books.ts";
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
  findNameFault,
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

export type BookChanges = {
  /** How pending entries end; takes effect before the new entries. */
  readonly resolutions?: readonly Resolution[];
  readonly entries?: readonly Entry[];
  /**
   * Firms whose dues are set off from what they had available before. Their money and the bank's
   * account are locked, so that their payouts can be taken back by another set of the transaction.
   */
  readonly owing?: readonly FirmOfBooks[];
};

export type WrittenBooks = {
  readonly resolutions: readonly Written<ResolutionRefusal>[];
  readonly entries: readonly Written<EntryRefusal>[];
  readonly setOffs: readonly SetOff[];
  /** The firms that owe after the set, of those whose money it touched. */
  readonly owing: ReadonlySet<string>;
};

/**
 * Writes a set of entries and resolutions; each item is written or refused. A transaction that needs
 * both passes them in one call, so that everything is locked in one order.
 */
export async function writeBooks(tx: Tx, changes: BookChanges, now: Date): Promise<WrittenBooks> {
  return (await writeBooksBeside(tx, changes, now, nothingBeside)).written;
}

/** Statements of the caller that share the round trips of the books. */
type Beside<First, Next> = {
  /** Sent with the lock of the balances. */
  readonly first: Query<First>;
  /**
   * Built from the answer to `first`, and sent with the entries. Their changes are known by then, so the
   * caller may lock what it records them by.
   */
  readonly next: (first: First) => Query<Next>;
};

const nothingBeside: Beside<void, void> = {
  first: known(undefined),
  next: () => known(undefined),
};

/** `writeBooks` with statements of the caller in the same round trips. */
export async function writeBooksBeside<First, Next>(
  tx: Tx,
  { resolutions = [], entries = [], owing = [] }: BookChanges,
  now: Date,
  beside: Beside<First, Next>,
): Promise<{ readonly written: WrittenBooks; readonly first: First; readonly next: Next }> {
  for (const entry of entries) refuseFault(entry, findFault(entry));
  for (const resolution of resolutions) refuseFault(resolution, findNameFault(resolution));
  const pending = resolutions.length > 0 ? await loadPending(tx, resolutions) : new Map();
  const stripe = chooseStripe(tx);
  const touched = findTouched(entries, [...pending.values()], { stripe, owing });
  const { books, first } = await openBooks(tx, { entries, pending, touched }, beside.first);
  const owned = new Set(books.owners.keys());

  const ended = resolutions.map((resolution) => judgeResolution(books, resolution));
  const judged = entries.map((entry) => judgeEntry(books, entry));
  const effects = [...ended, ...judged].flatMap(({ accepted }) => accepted?.effect ?? []);
  const settled = await settleDues(tx, books, { firms: listFirms(touched.accounts), effects });
  const rows = [
    ...ended.flatMap(({ accepted }) => (accepted ? [toResolutionRow(accepted)] : [])),
    ...judged.flatMap(({ accepted }) => (accepted ? [toEntryRow(accepted)] : [])),
    ...settled.entries.map(toEntryRow),
  ];
  tx.added("ledger_entries", rows.length);
  await recordDues(tx, books, settled, now);
  const [numbers, , next] = await tx.pipeline([
    storeEntries(rows, now),
    storeBalances(books, touched),
    beside.next(first),
  ]);
  storeOwners(tx, books, { touched, owned, numbers });

  const written = {
    resolutions: resolutions.map((item, at) => toWritten(item, ended[at]?.refusal, numbers)),
    entries: entries.map((item, at) => toWritten(item, judged[at]?.refusal, numbers)),
    setOffs: settled.setOffs,
    owing: settled.owing,
  };
  return { written, first, next };
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

/** Locks all that the set touches, and reads what it is judged by. */
async function openBooks<First>(
  tx: Tx,
  {
    entries,
    pending,
    touched,
  }: {
    readonly entries: readonly Entry[];
    readonly pending: ReadonlyMap<string, Pending>;
    readonly touched: TouchedRows;
  },
  beside: Query<First>,
): Promise<{ readonly books: Books; readonly first: First }> {
  const credits = [...touched.credits.values()];
  // Read after the locks: until then other transactions may write these entries.
  const behind = all([
    credits.length > 0 ? lockOwners(credits) : known([]),
    entries.length > 0 ? findWritten(entries) : known([]),
    findEnded(pending),
  ]);
  const { balances, first, behind: read } = await loadBalances(tx, touched, { beside, behind });
  const [owners, written, resolved] = read;
  const books = {
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
  return { books, first };
}

/**
 * Locks all balances in one order. Missing balances are inserted and locked after. What must run behind
 * these locks travels with them where every balance is known to be there.
 */
async function loadBalances<First, Behind>(
  tx: Tx,
  { accounts }: TouchedRows,
  { beside, behind }: { readonly beside: Query<First>; readonly behind: Query<Behind> },
): Promise<{
  readonly balances: Map<string, Balance>;
  readonly first: First;
  readonly behind: Behind;
}> {
  const wanted = [...accounts.values()];
  const firmIds = listFirms(accounts).map(({ firmId }) => firmId);
  const lockOwed = firmIds.length > 0 ? lockDues(firmIds) : known<LockedRow[]>([]);
  const areOpen = wanted.every(({ balance }) => tx.isLasting(balance));
  // What is owed is read by a statement of its own: it sees what was committed before the locks.
  const [locked, owedBefore, first, readAlong] = await tx.pipeline([
    lockAccounts(wanted),
    lockOwed,
    beside,
    areOpen ? behind : known(undefined),
  ]);
  let owed = owedBefore;
  const loaded = new Map(locked.map((row) => [row.balance, row]));
  const missing = wanted.filter(({ balance }) => !loaded.has(balance));
  if (missing.length > 0) {
    await openAccounts(tx, missing.map(toAccountRow));
    const [opened, owedNow] = await tx.pipeline([lockAccounts(missing), lockOwed]);
    for (const row of opened) loaded.set(row.balance, row);
    owed = owedNow;
  }
  const isAlong = missing.length === 0 && readAlong !== undefined;
  const read = isAlong ? readAlong : await tx.run(behind);
  if (!areOpen) tx.lasts([...loaded.keys()]);
  const balances = new Map<string, Balance>(owed.map((row) => [row.balance, row]));
  for (const [name, touched] of accounts) balances.set(name, requireBalance(loaded, touched));
  return { balances, first, behind: read };
}

function lockAccounts(accounts: readonly TouchedAccount[]): Query<LockedRow[]> {
  return accounts.length > 0
    ? lockBalances(accounts.map(({ balance }) => balance))
    : known<LockedRow[]>([]);
}

function requireBalance(loaded: ReadonlyMap<string, LockedRow>, touched: TouchedAccount): Balance {
  const found = loaded.get(touched.balance);
  if (!found) throw new Error(`the balance ${touched.balance} could not be opened`);
  refuseOtherEnvironment(touched, found.environment);
  return found;
}

function toAccountRow({ environment, account, balance }: TouchedAccount): AccountRow {
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

/** An entry, with what it posts, which is what it ends where it ends another. */
type JudgedRow = EntryRow & { readonly posted: readonly MovementRow[] };

function toEntryRow({
  entry,
  movements,
}: {
  entry: Entry;
  movements: readonly MovementRow[];
}): JudgedRow {
  const { environment, kind, subject, ordinal = 0, phase } = entry;
  const held_as = phase === "pending" ? entryKinds[kind] : null;
  const named = { environment, kind, subject, ordinal, phase, held_as, resolves: null };
  return { ...named, movements, posted: phase === "posted" ? movements : [] };
}

function toResolutionRow({
  resolution,
  pending,
}: {
  resolution: Resolution;
  pending: Pending;
}): JudgedRow {
  const { environment, kind, subject, ordinal = 0, as: phase } = resolution;
  const resolves = pending.entryNo;
  const named = { environment, kind, subject, ordinal, phase, held_as: null, resolves };
  return { ...named, movements: [], posted: phase === "posted" ? pending.movements : [] };
}

/** Returns the numbers of the entries, by their keys. */
function storeEntries(rows: readonly JudgedRow[], now: Date): Query<Map<string, number>> {
  if (rows.length === 0) return known(new Map());
  const concerned = rows.flatMap(({ posted }, at) => {
    const sides = posted.flatMap(({ from_account, to_account }) => [from_account, to_account]);
    const firms = new Set(sides.map(accountFirm).filter((firmId) => firmId !== undefined));
    return [...firms].map((firm_id) => ({ firm_id, position: at + 1 }));
  });
  return insertEntries(rows, concerned, now).map(
    (numbered) => new Map(rows.map((row, at) => [entryKey(row), numbered[at]?.entry_no ?? 0])),
  );
}

function storeBalances({ changes }: Books, { accounts }: TouchedRows): Query<void> {
  const rows = [...changes].map(([name, change]) => {
    const { balance = name } = accounts.get(name) ?? {};
    return { balance, ...change };
  });
  return rows.length > 0 ? addToBalances(rows) : known(undefined);
}

function storeOwners(
  tx: Tx,
  { moves }: Books,
  {
    touched,
    owned,
    numbers,
  }: {
    readonly touched: TouchedRows;
    /** The credits that were in the books before. */
    readonly owned: ReadonlySet<string>;
    readonly numbers: ReadonlyMap<string, number>;
  },
): void {
  const fresh: OwnerRow[] = [];
  const moved: OwnerRow[] = [];
  for (const [credit, { account, pendingKey }] of moves) {
    const key = touched.credits.get(credit);
    const pending_entry_no = pendingKey === null ? null : numbers.get(pendingKey);
    if (!key || pending_entry_no === undefined) throw new Error(`${credit} was not locked`);
    (owned.has(credit) ? moved : fresh).push({ ...key, account, pending_entry_no });
  }
  if (fresh.length > 0) tx.defer(insertOwners(fresh));
  if (moved.length > 0) tx.defer(setOwners(moved));
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

/** The dues set off at the end of a set, and what is still owed. */
type SettledDues = {
  readonly entries: readonly JudgedEntry[];
  readonly setOffs: readonly SetOff[];
  readonly owing: ReadonlySet<string>;
  readonly raised: readonly RaisedDues[];
};

/** Judges what is set off, as the last entries of the set. */
async function settleDues(
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
async function recordDues(
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

// Which balances and credits a set of the books locks.

const stripes = 16;

/** The accounts and credits that a set must lock, by name. */
type TouchedRows = {
  readonly accounts: ReadonlyMap<string, TouchedAccount>;
  readonly credits: ReadonlyMap<string, CreditKey>;
};

type TouchedAccount = {
  readonly environment: Environment;
  readonly account: string;
  /** The key of its balance: the name and, for a striped account, the stripe. */
  readonly balance: string;
};

const chosenStripes = new WeakMap<Tx, number>();

/** A transaction keeps its stripe, so that a later set waits for no other while rows are held. */
function chooseStripe(tx: Tx): number {
  const stripe = chosenStripes.get(tx) ?? randomInt(stripes);
  chosenStripes.set(tx, stripe);
  return stripe;
}

function findTouched(
  entries: readonly Entry[],
  pending: readonly Pending[],
  { stripe, owing }: { readonly stripe: number; readonly owing: readonly FirmOfBooks[] },
): TouchedRows {
  const accounts = new Map<string, TouchedAccount>();
  const credits = new Map<string, CreditKey>();
  const touchAccount = (environment: Environment, account: string) => {
    const name = balanceName(environment, account);
    const known = accounts.get(name);
    if (known) return refuseOtherEnvironment(known, environment);
    const balance = accountFirm(account) === undefined ? `${name}:${stripe}` : name;
    accounts.set(name, { environment, account, balance });
    const { kind } = parseAccount(account);
    const firmId = accountFirm(account);
    if (kind === "firm_dues" && firmId !== undefined) touchMoney({ environment, firmId });
  };
  // Whoever changes what a firm owes holds its money, so whoever holds its money knows what it owes.
  const touchMoney = ({ environment, firmId }: FirmOfBooks) => {
    touchAccount(environment, accountName({ kind: "firm_cash", firmId }));
    touchAccount(environment, accountName({ kind: "desk_commission", firmId }));
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
  for (const firm of owing) {
    touchMoney(firm);
    touchAccount(firm.environment, accountName({ kind: "external_bank" }));
  }
  return { accounts, credits };
}

/** The firms whose money is touched. */
function listFirms(accounts: TouchedRows["accounts"]): FirmOfBooks[] {
  const firms = new Map<string, FirmOfBooks>();
  for (const { environment, account } of accounts.values()) {
    const firmId = accountFirm(account);
    if (firmId !== undefined) firms.set(firmId, { environment, firmId });
  }
  return [...firms.values()];
}

/** Account names of firms do not contain the environment, so check it. */
function refuseOtherEnvironment(
  { account, environment }: TouchedAccount,
  other: Environment,
): void {
  if (environment !== other) throw new Error(`${account} is not in ${other} and ${environment}`);
}
