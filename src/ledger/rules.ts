// The words and the arithmetic of the books.
//
//   account    named by its kind and, where it is one firm's, by the firm
//   movement   an amount from one account to another: two postings that sum to zero
//   entry      movements that take effect together, or not at all
//
//   pending ──┬── posted      held back on the giver's side, then moved
//             └── voided      let go without effect; either happens once
//   posted                    moved at once

import type { Environment } from "../kernel/caller.ts";

type AccountTraits = {
  readonly of: "firm" | "house" | "outside";
  readonly holds: "paise" | "credits";
  /** Whether it may fall below zero. What belongs to a firm may not. */
  readonly floor: boolean;
};

export const accountKinds = {
  /** What a firm has with us. */
  firm_cash: { of: "firm", holds: "paise", floor: true },
  /** What a desk has earned on its clients' deals. */
  desk_commission: { of: "firm", holds: "paise", floor: true },
  /** Below zero: what a firm owes the house, as after the reversal of a deal that was paid out. */
  firm_dues: { of: "firm", holds: "paise", floor: false },
  firm_credits: { of: "firm", holds: "credits", floor: true },
  house_cash: { of: "house", holds: "paise", floor: false },
  house_fees: { of: "house", holds: "paise", floor: false },
  gst_payable: { of: "house", holds: "paise", floor: false },
  house_credits: { of: "house", holds: "credits", floor: true },
  /** The banks' side of deposits and payouts: below zero by what is with us. */
  external_bank: { of: "outside", holds: "paise", floor: false },
  /** Where credits come from and leave to. */
  external_customs: { of: "outside", holds: "credits", floor: false },
} as const satisfies Readonly<Record<string, AccountTraits>>;

export type AccountKind = keyof typeof accountKinds;
type KindOf<Of> = {
  [Kind in AccountKind]: (typeof accountKinds)[Kind]["of"] extends Of ? Kind : never;
}[AccountKind];

export type Account =
  | { readonly kind: KindOf<"firm">; readonly firmId: string }
  | { readonly kind: KindOf<"house" | "outside"> };

/** What a pending entry of each kind keeps back: money of a deal, or money on its way out. */
export const entryKinds = {
  deposit: "escrow",
  deal_hold: "escrow",
  deal_settlement: "escrow",
  commission: "escrow",
  fee: "escrow",
  refund: "escrow",
  payout: "pending_out",
  payout_return: "escrow",
  reversal: "escrow",
  /** A credit that its owner used or moved elsewhere, as customs knows it. */
  credit_exit: "escrow",
} as const satisfies Readonly<Record<string, "escrow" | "pending_out">>;

export type EntryKind = keyof typeof entryKinds;
export type HeldAs = (typeof entryKinds)[EntryKind];

export type Movement = { readonly from: Account; readonly to: Account } & (
  | { readonly paise: number }
  | { readonly scripNo: string }
);

/** What names an entry: written under the same name again, it is the same entry. */
export type EntryName = {
  readonly environment: Environment;
  readonly kind: EntryKind;
  /** The id of the order, settlement, cross or payout that it is about. */
  readonly subject: string;
  /** Tells entries of one kind about one subject apart. */
  readonly ordinal?: number;
};

export type Entry = EntryName & {
  readonly phase: "posted" | "pending";
  readonly movements: readonly Movement[];
};

export type Resolution = EntryName & { readonly as: "posted" | "voided" };

export type EntryRefusal =
  | { readonly reason: "already_written" }
  | { readonly reason: "wrong_owner"; readonly scripNo: string }
  /** Another entry that is pending will move this credit. */
  | { readonly reason: "credit_pending"; readonly scripNo: string }
  | {
      readonly reason: "insufficient_funds";
      readonly account: Account;
      readonly availablePaise: number;
      readonly shortPaise: number;
    };

export type ResolutionRefusal = {
  readonly reason: "not_pending" | "already_posted" | "already_voided";
};

export type Written<Refusal> =
  | { readonly ok: true; readonly entryNo: number }
  | { readonly ok: false; readonly refusal: Refusal };

export function accountName(account: Account): string {
  return "firmId" in account ? `${account.kind}:${account.firmId}` : account.kind;
}

export function accountOf(name: string): Account {
  const [kind, firmId] = name.split(":");
  return (firmId === undefined ? { kind } : { kind, firmId }) as Account; // Written by accountName.
}

export function entryKey({ environment, kind, subject, ordinal = 0 }: EntryName): string {
  return `${environment} ${kind} ${ordinal} ${subject}`;
}

const namePattern = /^[A-Za-z0-9_/.-]{1,64}$/;

/** What is wrong with an entry whoever's books it is for; an entry like that is a bug of ours. */
export function faultOf({ movements }: Pick<Entry, "movements">): string | undefined {
  if (movements.length === 0) return "moves nothing";
  for (const movement of movements) {
    const { from, to } = movement;
    const moved = "paise" in movement ? "paise" : "credits";
    if (accountName(from) === accountName(to)) return `moves within ${accountName(from)}`;
    for (const account of [from, to]) {
      const traits: AccountTraits = accountKinds[account.kind];
      if (traits.holds !== moved) return `moves ${moved} on ${account.kind}`;
      if ((traits.of === "firm") !== "firmId" in account) return `misnames ${account.kind}`;
      if ("firmId" in account && !namePattern.test(account.firmId)) return "misnames a firm";
    }
    if ("paise" in movement && !(Number.isSafeInteger(movement.paise) && movement.paise > 0)) {
      return `moves ${movement.paise} paise`;
    }
    if ("scripNo" in movement && !namePattern.test(movement.scripNo)) return "misnames a credit";
  }
  return undefined;
}

/** Throws at the first item that was refused, for callers whose own rules have ruled that out. */
export function assertWritten(results: readonly Written<{ readonly reason: string }>[]): void {
  for (const result of results) {
    if (!result.ok) throw new Error(`the books refused: ${JSON.stringify(result.refusal)}`);
  }
}

export type Balance = {
  readonly posted_paise: number;
  readonly escrow_paise: number;
  readonly pending_out_paise: number;
  readonly pending_in_paise: number;
};

/** What a balance still allows to be taken: everything posted that no hold keeps back. */
export function availableOf({ posted_paise, escrow_paise, pending_out_paise }: Balance): number {
  return posted_paise - escrow_paise - pending_out_paise;
}

/** A movement as the books keep it: the amount is paise, or the one credit that is named. */
export type MovementRow = {
  readonly from_account: string;
  readonly to_account: string;
  readonly scrip_no: string | null;
  readonly amount: number;
};

/** A pending entry as it was written. */
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

export const customs = accountName({ kind: "external_customs" });

/** What the books say of everything that a set touches, while it is being judged. */
export type Books = {
  /** By environment and account; all of them locked. */
  readonly balances: Map<string, Balance>;
  /** By environment and scrip number; a credit that is not in here is still with customs. */
  readonly owners: Map<string, Owner>;
  /** The pending entries that are to be resolved, by their key. */
  readonly pending: ReadonlyMap<string, Pending>;
  /** Keys of entries that are written already. */
  readonly written: Set<string>;
  /** How pending entries ended, by their key. */
  readonly resolved: Map<string, Resolution["as"]>;
  /** What the set adds to each balance. */
  readonly changes: Map<string, Balance>;
  /** Where the set leaves each credit it touches. */
  readonly moves: Map<string, Owner>;
};

/** The place of an account or a credit in the books. */
export function placeOf(environment: Environment, name: string): string {
  return `${environment} ${name}`;
}

export type Judged<Accepted, Refusal> =
  | { readonly accepted: Accepted; readonly refusal?: undefined }
  | { readonly accepted?: undefined; readonly refusal: Refusal };

/**
 * Judges one entry by the books as the set has left them so far, and enters it when nothing speaks
 * against it. A credit that is still with customs enters the books by the same entry.
 */
export function judgeEntry(
  books: Books,
  entry: Entry,
): Judged<{ readonly entry: Entry; readonly movements: readonly MovementRow[] }, EntryRefusal> {
  const key = entryKey(entry);
  if (books.written.has(key)) return { refusal: { reason: "already_written" } };
  const chain = chainOf(books, entry);
  if (!chain.accepted) return chain;
  const { movements, owners } = chain.accepted;
  const step = entry.phase === "pending" ? "hold" : "post";
  const changes = changesOf(movements, step, entryKinds[entry.kind]);
  const refusal = shortageOf(books, entry.environment, changes);
  if (refusal) return { refusal };

  books.written.add(key);
  applyChanges(books, entry.environment, changes);
  for (const [place, to] of owners) {
    const isPending = entry.phase === "pending";
    const account = isPending ? (books.owners.get(place)?.account ?? customs) : to;
    setOwner(books, place, { account, pendingKey: isPending ? key : null });
  }
  return { accepted: { entry, movements } };
}

/** Judges how a pending entry is to end. What it held is there, so only its state can refuse. */
export function judgeResolution(
  books: Books,
  resolution: Resolution,
): Judged<{ readonly resolution: Resolution; readonly pending: Pending }, ResolutionRefusal> {
  const key = entryKey(resolution);
  const pending = books.pending.get(key);
  if (!pending) return { refusal: { reason: "not_pending" } };
  const earlier = books.resolved.get(key);
  if (earlier) return { refusal: { reason: `already_${earlier}` } };

  books.resolved.set(key, resolution.as);
  const { environment, movements, heldAs } = pending;
  const step = resolution.as === "posted" ? "postHeld" : "release";
  applyChanges(books, environment, changesOf(movements, step, heldAs));
  for (const { scrip_no, to_account } of movements) {
    if (scrip_no === null) continue;
    const place = placeOf(environment, scrip_no);
    const owner = books.owners.get(place);
    const account = resolution.as === "posted" ? to_account : (owner?.account ?? customs);
    setOwner(books, place, { account, pendingKey: null });
  }
  return { accepted: { resolution, pending } };
}

/** The movements of an entry with each credit's coming in, and who owns the credits after them. */
function chainOf(
  books: Books,
  { environment, movements }: Entry,
): Judged<{ movements: MovementRow[]; owners: Map<string, string> }, EntryRefusal> {
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
    const place = placeOf(environment, scripNo);
    const known = books.owners.get(place);
    if (known?.pendingKey) return { refusal: { reason: "credit_pending", scripNo } };
    const owner = owners.get(place) ?? known?.account ?? customs;
    const credit = { scrip_no: scripNo, amount: 1 };
    if (owner === customs && from_account !== customs) {
      rows.push({ from_account: customs, to_account: from_account, ...credit });
    } else if (owner !== from_account) {
      return { refusal: { reason: "wrong_owner", scripNo } };
    }
    rows.push({ from_account, to_account, ...credit });
    owners.set(place, to_account);
  }
  return { accepted: { movements: rows, owners } };
}

type Step = "hold" | "post" | "postHeld" | "release";

/** What each step does to the two balances of a movement, per paisa moved. */
const effects: Readonly<Record<Step, { posted: 0 | 1; held: -1 | 0 | 1 }>> = {
  hold: { posted: 0, held: 1 },
  post: { posted: 1, held: 0 },
  postHeld: { posted: 1, held: -1 },
  release: { posted: 0, held: -1 },
};

const nothing: Balance = {
  posted_paise: 0,
  escrow_paise: 0,
  pending_out_paise: 0,
  pending_in_paise: 0,
};

function changesOf(
  movements: readonly MovementRow[],
  step: Step,
  heldAs: HeldAs,
): Map<string, Balance> {
  const changes = new Map<string, Balance>();
  const { posted, held } = effects[step];
  const change = (account: string, by: Partial<Balance>) =>
    changes.set(account, sumOf(changes.get(account) ?? nothing, { ...nothing, ...by }));
  for (const { from_account, to_account, scrip_no, amount } of movements) {
    if (scrip_no !== null) continue;
    change(from_account, { posted_paise: -posted * amount, [`${heldAs}_paise`]: held * amount });
    change(to_account, { posted_paise: posted * amount, pending_in_paise: held * amount });
  }
  return changes;
}

function shortageOf(
  books: Books,
  environment: Environment,
  changes: ReadonlyMap<string, Balance>,
): EntryRefusal | undefined {
  for (const [name, change] of changes) {
    const account = accountOf(name);
    if (!accountKinds[account.kind].floor) continue;
    const availablePaise = availableOf(balanceAt(books, placeOf(environment, name)));
    const leftPaise = availablePaise + availableOf(change);
    if (leftPaise >= 0) continue;
    return { reason: "insufficient_funds", account, availablePaise, shortPaise: -leftPaise };
  }
  return undefined;
}

function applyChanges(
  books: Books,
  environment: Environment,
  changes: ReadonlyMap<string, Balance>,
): void {
  for (const [name, change] of changes) {
    const place = placeOf(environment, name);
    books.balances.set(place, sumOf(balanceAt(books, place), change));
    books.changes.set(place, sumOf(books.changes.get(place) ?? nothing, change));
  }
}

function setOwner(books: Books, place: string, owner: Owner): void {
  books.owners.set(place, owner);
  books.moves.set(place, owner);
}

function balanceAt({ balances }: Books, place: string): Balance {
  const balance = balances.get(place);
  if (!balance) throw new Error(`the balance of ${place} was not loaded`);
  return balance;
}

function sumOf(a: Balance, b: Balance): Balance {
  const sum = {
    posted_paise: a.posted_paise + b.posted_paise,
    escrow_paise: a.escrow_paise + b.escrow_paise,
    pending_out_paise: a.pending_out_paise + b.pending_out_paise,
    pending_in_paise: a.pending_in_paise + b.pending_in_paise,
  };
  for (const paise of Object.values(sum)) {
    if (!Number.isSafeInteger(paise)) throw new Error("a sum of paise is too large to be exact");
  }
  return sum;
}
