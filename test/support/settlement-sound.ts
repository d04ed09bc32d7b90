// What holds of settlement at every moment, whatever has happened, by the journal of the books.

import assert from "node:assert/strict";

import { addPaise, type PaiseSum, subtractPaise, sumPaise } from "../../src/kernel/money.ts";
import {
  accountFirm,
  type AccountKind,
  accountKinds,
  accountName,
  availableBalance,
  parseAccount,
} from "../../src/ledger/rules.ts";
import { isOpen } from "../../src/settlement/rules.ts";
import type { LegRow, SettlementRow } from "../../src/settlement/store.ts";
import type { JournalLine } from "./memory-books.ts";
import { clients, house, type SettlementWorld, toCash } from "./settlement-world.ts";

const customs = accountName({ kind: "external_customs" });

/** All that there is to know of a world, a line for each thing, as the model writes it. */
export function describeWorld(world: SettlementWorld): string[] {
  const { books } = world;
  const second = (at: Date) => (at.getTime() - world.startedAt.getTime()) / 1_000;
  const posted = (kind: "house_fees" | "gst_payable" | "external_bank") =>
    books.readBalance({ kind }).posted_paise;
  const held = (firmId: string) => {
    const { escrow_paise, pending_out_paise, pending_in_paise } = books.readBalance(toCash(firmId));
    return [escrow_paise, pending_out_paise, pending_in_paise].join();
  };
  const cash = books.readBalance(toCash(house)).posted_paise;
  return [
    ...[...world.settlements.values()].map(({ settlement_id, state, due_at }) => {
      const states = (world.legs.get(settlement_id) ?? []).map((leg) => leg.state);
      return `deal ${state} ${due_at ? second(due_at) : undefined} ${states.join()}`;
    }),
    ...[...world.payouts.values()].map(
      ({ firm_id, paise, state }) => `payout ${firm_id} ${paise} ${state}`,
    ),
    ...clients.map((firmId) => {
      const kinds = ["firm_cash", "firm_dues", "desk_commission"] as const;
      const own = kinds.map((kind) => books.readBalance({ kind, firmId }).posted_paise);
      return `firm ${firmId} ${own.join()} ${held(firmId)}`;
    }),
    `house ${cash},${posted("house_fees")},${posted("gst_payable")} ${held(house)} bank ${posted("external_bank")}`,
    ...[...world.shelf.credits].map(([scripNo, { firmId, state }]) => {
      const { account = customs } = books.findOwner(scripNo) ?? {};
      const hasMoved = account !== customs;
      if (hasMoved) assert.equal(account, nameCredits(firmId));
      return `credit ${scripNo} ${firmId} ${state === "listed"} ${hasMoved}`;
    }),
  ];
}

function nameCredits(firmId: string): string {
  return firmId === house ? "house_credits" : `firm_credits:${firmId}`;
}

export function assertSound(world: SettlementWorld): void {
  const { journal } = world.books;
  const ends = new Map<string, number>();
  for (const { key, isResolution } of journal) {
    if (isResolution) ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  assert.ok(
    [...ends.values()].every((times) => times === 1),
    "a pending entry ends once",
  );
  assertBalances(world);
  assertOwners(world);
  const bySubject = Map.groupBy(journal, ({ subject }) => subject);
  for (const settlement of world.settlements.values()) {
    if (isOpen(settlement.state)) continue;
    const about = bySubject.get(settlement.settlement_id) ?? [];
    assertEnded(about, ends);
    assertPaid(about, settlement, world.legs.get(settlement.settlement_id) ?? []);
  }
  for (const { payout_id, state } of world.payouts.values()) {
    if (state === "paid" || state === "returned") assertEnded(bySubject.get(payout_id) ?? [], ends);
  }
}

/** Balances are the sum of what was posted; together they are nothing, and firms' are not below. */
function assertBalances({ books }: SettlementWorld): void {
  const posted = new Map<string, number>();
  const move = (account: string, paise: number) =>
    posted.set(account, (posted.get(account) ?? 0) + paise);
  for (const { phase, movements } of books.journal) {
    if (phase !== "posted") continue;
    for (const { from_account, to_account, scrip_no, amount } of movements) {
      if (scrip_no !== null) continue;
      move(from_account, -amount);
      move(to_account, amount);
    }
  }
  for (const [account, paise] of posted) {
    assert.equal(books.readBalance(parseAccount(account)).posted_paise, paise, account);
  }
  let sum: PaiseSum = 0;
  let held: PaiseSum = 0;
  for (const [name, balance] of books.balances()) {
    sum = addPaise(sum, balance.posted_paise);
    held = sumPaise([held, balance.escrow_paise, balance.pending_out_paise]);
    held = subtractPaise(held, balance.pending_in_paise);
    const [kind] = name.split(":");
    if (!accountKinds[kind as AccountKind].floor) continue;
    assert.ok(balance.posted_paise >= 0 && availableBalance(balance) >= 0, `${name} is below zero`);
  }
  assert.equal(sum, 0, "all money sums to zero");
  assert.equal(held, 0, "what is held is on its way to somebody");
}

/** A credit that has come in is in one account, and gone from customs once. */
function assertOwners({ books, shelf }: SettlementWorld): void {
  const places = new Map<string, Map<string, number>>();
  for (const { phase, movements } of books.journal) {
    if (phase !== "posted") continue;
    for (const { from_account, to_account, scrip_no } of movements) {
      if (scrip_no === null) continue;
      const own = places.get(scrip_no) ?? new Map<string, number>();
      places.set(scrip_no, own);
      own.set(from_account, (own.get(from_account) ?? 0) - 1);
      own.set(to_account, (own.get(to_account) ?? 0) + 1);
    }
  }
  for (const [scripNo, own] of places) {
    const left = [...own].filter(([, count]) => count !== 0);
    const owner = nameCredits(shelf.credits.get(scripNo)?.firmId ?? "");
    const expected = [
      [customs, -1],
      [owner, 1],
    ];
    assert.deepEqual(left.toSorted(byCount), expected, `${scripNo} has one owner`);
  }
}

function byCount(a: readonly [string, number], b: readonly [string, number]): number {
  return a[1] - b[1];
}

/** Nothing is pending any more of what has ended. */
function assertEnded(about: readonly JournalLine[], ends: ReadonlyMap<string, number>): void {
  for (const { key, phase, isResolution } of about) {
    if (phase === "pending" && !isResolution) assert.ok(ends.has(key), `${key} is still pending`);
  }
}

/**
 * What the buyer paid is what was delivered, what the sellers got is theirs, and the rest is the
 * house's; after a reversal it is all as it was, but for what a seller owes.
 */
function assertPaid(
  about: readonly JournalLine[],
  { state, buyer_firm_id: buyer }: SettlementRow,
  legs: readonly LegRow[],
): void {
  const flows = { buyer: 0, sellers: 0, house: 0 };
  const toSide = (account: string) => {
    const firmId = accountFirm(account);
    if (firmId === undefined) return "house";
    return firmId === buyer ? "buyer" : "sellers";
  };
  for (const { kind, phase, movements } of about) {
    if (phase !== "posted" || kind === "commission") continue;
    for (const { from_account, to_account, scrip_no, amount } of movements) {
      if (scrip_no !== null) continue;
      flows[toSide(from_account)] -= amount;
      flows[toSide(to_account)] += amount;
    }
  }
  const counts = state === "settled" ? legs.filter((leg) => leg.state === "delivered") : [];
  const paid = buyer === house ? [] : counts.map((leg) => leg.buyer_paise);
  const got = counts.filter((leg) => leg.seller_firm_id !== house).map((leg) => leg.seller_paise);
  const paidPaise = paid.reduce((sum, each) => sum + each, 0);
  const gotPaise = got.reduce((sum, each) => sum + each, 0);
  const rest = paidPaise - gotPaise;
  assert.deepEqual(flows, { buyer: 0 - paidPaise, sellers: gotPaise, house: rest });
}
