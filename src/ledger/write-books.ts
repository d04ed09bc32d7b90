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

import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { lockDues } from "./dues-store.ts";
import type { FirmOfBooks, SetOff } from "./dues.ts";
import { type Books, judgeEntry, judgeResolution, type Pending } from "./judge-books.ts";
import {
  accountFirm,
  type Balance,
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
import { recordDues, settleDues } from "./settle-dues.ts";
import {
  type AccountRow,
  addToBalances,
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
import {
  chooseStripe,
  findTouched,
  listFirms,
  refuseOtherEnvironment,
  type TouchedAccount,
  type TouchedRows,
} from "./touched-rows.ts";

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
export type Beside<First> = {
  /** Sent with the lock of the balances. */
  readonly first: Query<First>;
  /** Built from the answer to `first`, and sent with the entries. */
  readonly next: (first: First) => Query<void>;
};

const nothingBeside: Beside<void> = { first: known(undefined), next: () => known(undefined) };

/** `writeBooks` with statements of the caller in the same round trips. */
export async function writeBooksBeside<First>(
  tx: Tx,
  { resolutions = [], entries = [], owing = [] }: BookChanges,
  now: Date,
  beside: Beside<First>,
): Promise<{ readonly written: WrittenBooks; readonly first: First }> {
  for (const entry of entries) refuseFault(entry, findFault(entry));
  for (const resolution of resolutions) refuseFault(resolution, findNameFault(resolution));
  const pending = resolutions.length > 0 ? await loadPending(tx, resolutions) : new Map();
  const stripe = chooseStripe(tx);
  const touched = findTouched(entries, [...pending.values()], { stripe, owing });
  const { balances, first } = await loadBalances(tx, touched, beside.first);
  const books = await openBooks(tx, { balances, entries, pending, touched });
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
  const [numbers] = await tx.pipeline([
    storeEntries(rows, now),
    storeBalances(books, touched),
    beside.next(first),
  ]);
  await tx.pipeline(storeOwners(books, { touched, owned, numbers }));
  await recordDues(tx, books, settled, now);

  const written = {
    resolutions: resolutions.map((item, at) => toWritten(item, ended[at]?.refusal, numbers)),
    entries: entries.map((item, at) => toWritten(item, judged[at]?.refusal, numbers)),
    setOffs: settled.setOffs,
    owing: settled.owing,
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
    readonly touched: TouchedRows;
  },
): Promise<Books> {
  const credits = [...touched.credits.values()];
  // Read after the locks: until then other transactions may write these entries.
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

/** Locks all balances in one order. Missing balances are inserted and locked after. */
async function loadBalances<First>(
  tx: Tx,
  { accounts }: TouchedRows,
  beside: Query<First>,
): Promise<{ readonly balances: Map<string, Balance>; readonly first: First }> {
  const wanted = [...accounts.values()];
  const firmIds = listFirms(accounts).map(({ firmId }) => firmId);
  const lockOwed = firmIds.length > 0 ? lockDues(firmIds) : known<LockedRow[]>([]);
  // What is owed is read by a statement of its own: it sees what was committed before the locks.
  const [locked, owedBefore, first] = await tx.pipeline([lockAccounts(wanted), lockOwed, beside]);
  let owed = owedBefore;
  const loaded = new Map(locked.map((row) => [row.balance, row]));
  const missing = wanted.filter(({ balance }) => !loaded.has(balance));
  if (missing.length > 0) {
    await openAccounts(tx, missing.map(toAccountRow));
    const [opened, owedNow] = await tx.pipeline([lockAccounts(missing), lockOwed]);
    for (const row of opened) loaded.set(row.balance, row);
    owed = owedNow;
  }
  const balances = new Map<string, Balance>(owed.map((row) => [row.balance, row]));
  for (const [name, touched] of accounts) balances.set(name, requireBalance(loaded, touched));
  return { balances, first };
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

function toEntryRow({
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

function toResolutionRow({
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

/** Returns the numbers of the entries, by their keys. */
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

function storeBalances({ changes }: Books, { accounts }: TouchedRows): Query<void> {
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
    readonly touched: TouchedRows;
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
