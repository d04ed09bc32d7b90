// Decides the items of a set in order, on the loaded books and the effects of the items before. Pure: it
// changes only the in-memory books and the sums of changes.

import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum } from "../kernel/money.ts";
import {
  accountKinds,
  accountName,
  availableBalance,
  type Balance,
  balanceName,
  creditName,
  type Entry,
  entryKey,
  entryKinds,
  type EntryRefusal,
  type HeldAs,
  type MovementRow,
  parseAccount,
  type Resolution,
  type ResolutionRefusal,
} from "./rules.ts";

/** A pending entry as written. */
export type Pending = {
  readonly entryNo: number;
  readonly environment: Environment;
  readonly heldAs: HeldAs;
  readonly movements: readonly MovementRow[];
};

export type Owner = {
  readonly account: string;
  /** The pending entry that will move the credit, by its key. */
  readonly pendingKey: string | null;
};

const customs = accountName({ kind: "external_customs" });

/** The in-memory state of everything that a set touches. */
export type Books = {
  /** By name; all are locked. */
  readonly balances: Map<string, Balance>;
  /** By name; a credit without an entry here is with customs. */
  readonly owners: Map<string, Owner>;
  /** The pending entries to be resolved, by their key. */
  readonly pending: ReadonlyMap<string, Pending>;
  /** Keys of written entries. */
  readonly written: Set<string>;
  /** How pending entries ended, by their key. */
  readonly resolved: Map<string, Resolution["as"]>;
  /** The sums that the set adds to each balance. */
  readonly changes: Map<string, Balance>;
  /** The new owner of each credit that the set moves. */
  readonly moves: Map<string, Owner>;
};

/** What an accepted item is about, and what it changed, by account. */
export type Effect = {
  readonly subject: string;
  readonly changes: ReadonlyMap<string, Readonly<Balance>>;
};

export type JudgedEntry = {
  readonly entry: Entry;
  readonly movements: readonly MovementRow[];
  readonly effect: Effect;
};

type AcceptedOr<Accepted, Refusal> =
  | { readonly accepted: Accepted; readonly refusal?: undefined }
  | { readonly accepted?: undefined; readonly refusal: Refusal };

/**
 * Decides one entry and applies it to the in-memory books if accepted. A credit that is still with
 * customs enters the books with the same entry.
 */
export function judgeEntry(books: Books, entry: Entry): AcceptedOr<JudgedEntry, EntryRefusal> {
  const key = entryKey(entry);
  if (books.written.has(key)) return { refusal: { reason: "already_written" } };
  const chain = chainCredits(books, entry);
  if (!chain.accepted) return chain;
  const { movements, owners } = chain.accepted;
  const step = entry.phase === "pending" ? "hold" : "post";
  const changes = sumChanges(movements, step, entryKinds[entry.kind]);
  const refusal = findShortage(books, entry.environment, changes);
  if (refusal) return { refusal };

  books.written.add(key);
  applyChanges(books, entry.environment, changes);
  for (const [credit, to] of owners) {
    const isPending = entry.phase === "pending";
    const account = isPending ? (books.owners.get(credit)?.account ?? customs) : to;
    setOwner(books, credit, { account, pendingKey: isPending ? key : null });
  }
  return { accepted: { entry, movements, effect: { subject: entry.subject, changes } } };
}

/** Decides the end of a pending entry. Its money is held, so only its state can be a reason to refuse. */
export function judgeResolution(
  books: Books,
  resolution: Resolution,
): AcceptedOr<
  { readonly resolution: Resolution; readonly pending: Pending; readonly effect: Effect },
  ResolutionRefusal
> {
  const key = entryKey(resolution);
  const pending = books.pending.get(key);
  if (!pending) return { refusal: { reason: "not_pending" } };
  const earlier = books.resolved.get(key);
  if (earlier) return { refusal: { reason: `already_${earlier}` } };

  books.resolved.set(key, resolution.as);
  const { environment, movements, heldAs } = pending;
  const step = resolution.as === "posted" ? "postHeld" : "release";
  const changes = sumChanges(movements, step, heldAs);
  applyChanges(books, environment, changes);
  for (const { scrip_no, to_account } of movements) {
    if (scrip_no === null) continue;
    const credit = creditName(environment, scrip_no);
    const owner = books.owners.get(credit);
    const account = resolution.as === "posted" ? to_account : (owner?.account ?? customs);
    setOwner(books, credit, { account, pendingKey: null });
  }
  const effect = { subject: resolution.subject, changes };
  return { accepted: { resolution, pending, effect } };
}

/** The movements of an entry, with those that bring credits in from customs, and the new owners. */
function chainCredits(
  books: Books,
  { environment, movements }: Entry,
): AcceptedOr<{ movements: MovementRow[]; owners: Map<string, string> }, EntryRefusal> {
  const owners = new Map<string, string>();
  const rows: MovementRow[] = [];
  for (const movement of movements) {
    const from_account = accountName(movement.from);
    const to_account = accountName(movement.to);
    if ("paise" in movement) {
      rows.push({ from_account, to_account, scrip_no: null, amount: movement.paise });
      continue;
    }
    const { scripNo } = movement;
    const credit = creditName(environment, scripNo);
    const known = books.owners.get(credit);
    if (known?.pendingKey) return { refusal: { reason: "credit_pending", scripNo } };
    const owner = owners.get(credit) ?? known?.account ?? customs;
    const whole = { scrip_no: scripNo, amount: 1 };
    if (owner === customs && from_account !== customs) {
      rows.push({ from_account: customs, to_account: from_account, ...whole });
    } else if (owner !== from_account) {
      return { refusal: { reason: "wrong_owner", scripNo } };
    }
    rows.push({ from_account, to_account, ...whole });
    owners.set(credit, to_account);
  }
  return { accepted: { movements: rows, owners } };
}

type MoneyStep = "hold" | "post" | "postHeld" | "release";

/** The change of posted and held money per paisa moved. */
const effects: Readonly<Record<MoneyStep, { posted: 0 | 1; held: -1 | 0 | 1 }>> = {
  hold: { posted: 0, held: 1 },
  post: { posted: 1, held: 0 },
  postHeld: { posted: 1, held: -1 },
  release: { posted: 0, held: -1 },
};

function sumChanges(
  movements: readonly MovementRow[],
  step: MoneyStep,
  heldAs: HeldAs,
): Map<string, Balance> {
  const changes = new Map<string, Balance>();
  const { posted, held } = effects[step];
  for (const { from_account, to_account, scrip_no, amount } of movements) {
    if (scrip_no !== null) continue;
    const giver = openChange(changes, from_account);
    add(giver, "posted_paise", -posted * amount);
    add(giver, `${heldAs}_paise`, held * amount);
    const taker = openChange(changes, to_account);
    add(taker, "posted_paise", posted * amount);
    add(taker, "pending_in_paise", held * amount);
  }
  return changes;
}

function findShortage(
  books: Books,
  environment: Environment,
  changes: ReadonlyMap<string, Balance>,
): EntryRefusal | undefined {
  for (const [name, change] of changes) {
    const account = parseAccount(name);
    if (!accountKinds[account.kind].floor) continue;
    const availablePaise = availableBalance(balanceAt(books, balanceName(environment, name)));
    const leftPaise = addPaise(availablePaise, availableBalance(change));
    if (leftPaise >= 0) continue;
    const shortPaise = negatePaise(leftPaise);
    return { reason: "insufficient_funds", account, availablePaise, shortPaise };
  }
  return undefined;
}

function applyChanges(
  books: Books,
  environment: Environment,
  changes: ReadonlyMap<string, Balance>,
): void {
  for (const [name, change] of changes) {
    const balance = balanceAt(books, balanceName(environment, name));
    const total = openChange(books.changes, balanceName(environment, name));
    for (const field of balanceFields) {
      add(balance, field, change[field]);
      add(total, field, change[field]);
    }
  }
}

function setOwner(books: Books, credit: string, owner: Owner): void {
  books.owners.set(credit, owner);
  books.moves.set(credit, owner);
}

function balanceAt({ balances }: Books, name: string): Balance {
  const balance = balances.get(name);
  if (!balance) throw new Error(`the balance of ${name} was not loaded`);
  return balance;
}

const balanceFields = [
  "posted_paise",
  "escrow_paise",
  "pending_out_paise",
  "pending_in_paise",
] as const;

/** The change of an account so far, to be added to. */
function openChange(changes: Map<string, Balance>, account: string): Balance {
  let change = changes.get(account);
  if (!change) {
    change = { posted_paise: 0, escrow_paise: 0, pending_out_paise: 0, pending_in_paise: 0 };
    changes.set(account, change);
  }
  return change;
}

function add(balance: Balance, field: keyof Balance, paise: PaiseSum): void {
  balance[field] = addPaise(balance[field], paise);
}
