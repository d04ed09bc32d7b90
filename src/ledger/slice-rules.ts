// Judges entries of the books as they were read, in the order of their numbers, and adds up what they
// move. Pure: it changes only the sums that it is given.

import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum, readPaise } from "../kernel/money.ts";
import { accountName, type Balance, creditName, type HeldAs } from "./rules.ts";

export type Mismatch = {
  readonly place: string;
  readonly found: string;
  readonly expected: string;
};

/** The fields of movements. */
type Records = readonly (readonly (string | null)[])[];

/** An entry as the server prints it. */
export type PrintedEntry = {
  readonly entry_no: number;
  readonly environment: Environment;
  readonly kind: string;
  readonly subject: string;
  readonly ordinal: number;
  readonly phase: "pending" | "posted" | "voided";
  readonly held_as: HeldAs | null;
  readonly resolves: number | null;
  readonly movements: string;
  readonly records: Records;
  /** A digest of what it says, where that is another than the one that it was written with. */
  readonly changed: { readonly found: string; readonly expected: string } | null;
  /** Whether another entry ends the same. */
  readonly is_one_of_several: boolean;
};

/** What entries add to the sums of an account. */
export type AccountSum = Balance & { readonly environment: Environment; readonly account: string };

/** How entries move a credit. */
type CreditMoves = {
  readonly environment: Environment;
  readonly scripNo: string;
  /** Where the first movement that was posted takes it from. */
  first: { readonly entryNo: number; readonly from: string } | undefined;
  /** Whom the last gives it to. */
  account: string | undefined;
  /** Entries that have it pending, and those of which it is no more. */
  readonly begun: number[];
  readonly ended: number[];
};

/** The owner of a credit by entries that are proved: null where none has moved it. */
export type ProvedOwner = {
  readonly environment: Environment;
  readonly scrip_no: string;
  readonly account: string | null;
  readonly pending: readonly number[];
};

type EntryCheck = "entry_unchanged" | "entry_sums_to_zero" | "resolved_once";
type ChainBreak = { readonly entryNo: number; readonly mismatch: Mismatch };

/** What entries come to that were judged one after the other. */
export type JudgedEntries = {
  count: number;
  /** The number of the last. */
  last: number;
  /** The first break of each check. */
  readonly breaks: Map<EntryCheck, Mismatch>;
  chainBreak: ChainBreak | undefined;
  readonly sums: Readonly<Record<Environment, Map<string, AccountSum>>>;
  readonly credits: Map<string, CreditMoves>;
};

export function judgeNone(after: number): JudgedEntries {
  return {
    count: 0,
    last: after,
    breaks: new Map(),
    chainBreak: undefined,
    sums: { live: new Map(), sandbox: new Map() },
    credits: new Map(),
  };
}

type Moved = {
  readonly from: string;
  readonly to: string;
  readonly scripNo: string | null;
  readonly amount: PaiseSum;
};

/** Adds the next entry, with the one that it ends; one that breaks a check is not added up. */
export function judgeNext(
  judged: JudgedEntries,
  entry: PrintedEntry,
  ended: PrintedEntry | undefined,
): void {
  judged.count += 1;
  judged.last = entry.entry_no;
  const found = findBreaks(entry, ended);
  for (const [check, mismatch] of found) {
    if (!judged.breaks.has(check)) judged.breaks.set(check, mismatch);
  }
  if (found.length > 0) return;
  const { environment, entry_no, phase, held_as } = entry;
  const own = toMovements(entry.records);
  const held = ended ? toMovements(ended.records) : [];
  if (held_as) {
    hold(judged, environment, own, held_as, 1);
    noteCredits(judged, environment, own, ({ begun }) => begun.push(entry_no));
  }
  if (ended?.held_as) {
    hold(judged, environment, held, ended.held_as, -1);
    noteCredits(judged, environment, held, ({ ended: over }) => over.push(ended.entry_no));
  }
  if (phase === "posted") post(judged, environment, ended ? held : own, entry_no);
}

function findBreaks(
  entry: PrintedEntry,
  ended: PrintedEntry | undefined,
): (readonly [EntryCheck, Mismatch])[] {
  const place = `entry ${entry.entry_no}, ${entry.kind} of ${entry.subject}`;
  const breaks: (readonly [EntryCheck, Mismatch])[] = [];
  if (entry.changed) breaks.push(["entry_unchanged", { place, ...entry.changed }]);
  const unbalanced = entry.records.find((fields) => !isBalanced(fields));
  if (unbalanced) {
    const [from = null, to = null, , amount = null] = unbalanced;
    const found = `${amount ?? "nothing"} from ${from ?? "nowhere"} to ${to ?? "nowhere"}`;
    const expected = "an amount from one account to another";
    breaks.push(["entry_sums_to_zero", { place, found, expected }]);
  }
  const wrongEnd = entry.resolves === null ? undefined : findWrongEnd(entry, ended);
  if (wrongEnd !== undefined) {
    const expected = "the only end of a pending entry, with its movements";
    breaks.push(["resolved_once", { place, found: wrongEnd, expected }]);
  }
  return breaks;
}

function isBalanced(fields: readonly (string | null)[]): boolean {
  const [from = null, to = null, scripNo = null, printed = null] = fields;
  if (from === null || to === null || from === to || printed === null) return false;
  const amount = readPaise(printed);
  return amount >= 1 && (scripNo === null || amount === 1);
}

/** An end is that of one pending entry of its own name; one that has movements, posts the same. */
function findWrongEnd(entry: PrintedEntry, ended: PrintedEntry | undefined): string | undefined {
  const { resolves, movements } = entry;
  if (entry.is_one_of_several) return `one of several ends of entry ${resolves}`;
  if (!ended) return `an end of entry ${resolves}, which is missing`;
  if (ended.phase !== "pending") return `an end of entry ${resolves}, which was posted`;
  if (!bearsOneName(entry, ended)) return `an end of entry ${resolves}, which has another name`;
  if (movements !== "{}" && movements !== ended.movements) {
    return `other movements than entry ${resolves}`;
  }
  return undefined;
}

function bearsOneName(one: PrintedEntry, other: PrintedEntry): boolean {
  return (
    one.subject === other.subject &&
    one.kind === other.kind &&
    one.ordinal === other.ordinal &&
    one.environment === other.environment
  );
}

function toMovements(records: Records): Moved[] {
  return records.map(([from = null, to = null, scripNo = null, amount = null]) => {
    if (from === null || to === null || amount === null) throw new Error("a movement has a side");
    return { from, to, scripNo, amount: readPaise(amount) };
  });
}

/** Adds what is pending, or takes away what is so no more. */
function hold(
  judged: JudgedEntries,
  environment: Environment,
  movements: readonly Moved[],
  heldAs: HeldAs,
  sign: 1 | -1,
): void {
  for (const { from, to, scripNo, amount } of movements) {
    if (scripNo !== null) continue;
    const signed = sign === 1 ? amount : negatePaise(amount);
    const giver = openSum(judged, environment, from);
    const taker = openSum(judged, environment, to);
    giver[`${heldAs}_paise`] = addPaise(giver[`${heldAs}_paise`], signed);
    taker.pending_in_paise = addPaise(taker.pending_in_paise, signed);
  }
}

function noteCredits(
  judged: JudgedEntries,
  environment: Environment,
  movements: readonly Moved[],
  note: (credit: CreditMoves) => void,
): void {
  for (const { scripNo } of movements) {
    if (scripNo !== null) note(openCredit(judged, environment, scripNo));
  }
}

function post(
  judged: JudgedEntries,
  environment: Environment,
  movements: readonly Moved[],
  entryNo: number,
): void {
  for (const { from, to, scripNo, amount } of movements) {
    if (scripNo === null) {
      const giver = openSum(judged, environment, from);
      const taker = openSum(judged, environment, to);
      giver.posted_paise = addPaise(giver.posted_paise, negatePaise(amount));
      taker.posted_paise = addPaise(taker.posted_paise, amount);
      continue;
    }
    const credit = openCredit(judged, environment, scripNo);
    credit.first ??= { entryNo, from };
    if (credit.account !== undefined && credit.account !== from) {
      judged.chainBreak ??= toChainBreak(credit, { entryNo, from }, credit.account);
    }
    credit.account = to;
  }
}

function openSum(judged: JudgedEntries, environment: Environment, account: string): AccountSum {
  const sums = judged.sums[environment];
  let sum = sums.get(account);
  if (!sum) {
    const none = { posted_paise: 0, escrow_paise: 0, pending_out_paise: 0, pending_in_paise: 0 };
    sum = { environment, account, ...none };
    sums.set(account, sum);
  }
  return sum;
}

function openCredit(judged: JudgedEntries, environment: Environment, scripNo: string): CreditMoves {
  const name = creditName(environment, scripNo);
  let credit = judged.credits.get(name);
  if (!credit) {
    const none = { first: undefined, account: undefined, begun: [], ended: [] };
    credit = { environment, scripNo, ...none };
    judged.credits.set(name, credit);
  }
  return credit;
}

function toChainBreak(
  { environment, scripNo }: CreditMoves,
  { entryNo, from }: { readonly entryNo: number; readonly from: string },
  before: string,
): ChainBreak {
  const place = `${environment} credit ${scripNo} at entry ${entryNo}`;
  return { entryNo, mismatch: { place, found: `from ${from}`, expected: `from ${before}` } };
}

const customs = accountName({ kind: "external_customs" });

/** Each movement of a credit starts at its last owner, the first at customs. */
export function findBrokenChain(
  { credits, chainBreak }: JudgedEntries,
  proved: readonly ProvedOwner[],
): Mismatch | undefined {
  const owners = keyOwners(proved);
  let first = chainBreak;
  for (const [name, credit] of credits) {
    const before = owners.get(name)?.account ?? customs;
    if (!credit.first || credit.first.from === before) continue;
    if (!first || credit.first.entryNo < first.entryNo) {
      first = toChainBreak(credit, credit.first, before);
    }
  }
  return first?.mismatch;
}

/** The owners after the entries. */
export function moveOwners(
  { credits }: JudgedEntries,
  proved: readonly ProvedOwner[],
): ProvedOwner[] {
  const owners = keyOwners(proved);
  return [...credits].map(([name, { environment, scripNo, account, begun, ended }]) => {
    const before = owners.get(name);
    const over = new Set(ended);
    const pending = [...new Set([...(before?.pending ?? []), ...begun])].filter(
      (entryNo) => !over.has(entryNo),
    );
    return {
      environment,
      scrip_no: scripNo,
      account: account ?? before?.account ?? null,
      pending: pending.toSorted((a, b) => a - b),
    };
  });
}

function keyOwners(proved: readonly ProvedOwner[]): ReadonlyMap<string, ProvedOwner> {
  return new Map(proved.map((owner) => [creditName(owner.environment, owner.scrip_no), owner]));
}
