// Every way in which a live deal goes wrong, played by its parties, the bank's statements and customs. It
// ends, or waits, in a state that names the step, and money and credit are each with one owner.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { setOutage } from "../../src/outside/ask.ts";
import { squeezed } from "../support/bank.ts";
import { nextUtr, openBankOffice } from "../support/bank-office.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount, type LiveSeller } from "../support/live-sales.ts";
import type { Service } from "../support/service.ts";
import {
  buyerPaise,
  listHoldings,
  readBalance,
  readSettlement,
  sellerPaise,
} from "../support/settlements.ts";
import { dealBetween, type Made, openParties, say, saysCustoms } from "../support/task-parties.ts";

type Deal = {
  readonly service: Service;
  readonly made: Made & { readonly buyer: LiveSeller };
  /** The buyer's bank line of some day and, where it is given, minute. */
  readonly pay: (
    paise?: number,
    at?: { readonly day: string; readonly time: string },
  ) => Promise<void>;
  /** A line of another, so that the statement reaches past this day. */
  readonly reachPast: (day: string) => Promise<void>;
  readonly pass: (days: number) => Promise<void>;
};

// The clock stands at Sunday 15 November; money is due on the 17th at 17:30.
const inTime = { day: "17/11/2026", time: "17:00" };
const afterwards = { day: "18/11/2026", time: "10:00" };

const timedFormat = {
  name: "timed",
  day: "date",
  time: "time",
  reference: "reference",
  narration: "description",
  debit: "debit",
  credit: "credit",
  remitter_account: "remitter_account",
};

async function openDeal(t: TestContext): Promise<Deal> {
  const { service, importText } = await openBankOffice(t);
  const { seller, buyer } = await openParties(service);
  const paying = await giveAccount(service, buyer, "50200019990001");
  const { settlementId, scripNo } = await dealBetween(service, { seller, buyer }, false);
  const bring = async (cells: readonly string[]) => {
    const heading = "date,time,reference,description,debit,credit,remitter_account";
    await importText(`${heading}\n${cells.join(",")}\n`, timedFormat);
    await service.work();
  };
  return {
    service,
    made: { seller, buyer: paying, settlementId, scripNo },
    async pay(paise = buyerPaise, { day, time } = inTime) {
      const rupees = (paise / 100).toFixed(2);
      await bring([day, time, nextUtr(), squeezed(settlementId), "", rupees, paying.accountNo]);
    },
    reachPast: (day) => bring([day, "23:59", nextUtr(), "CHARGES", "5.90", "", ""]),
    async pass(days) {
      service.clock.advance({ days });
      await service.work();
    },
  };
}

/** Where the deal, its money and its credit stand for whoever asks. */
async function standing({ service, made }: Deal): Promise<object> {
  const { status, reason, failed_step, late } = await readSettlement(
    service,
    made.buyer,
    made.settlementId,
  );
  const balance = await readBalance(service, made.buyer, "live");
  const available = Number(balance.available_paise);
  const { payouts } = (await service.send("GET", "/v1/payouts", { key: made.seller.key })).body;
  const [holding, ...more] = await listHoldings(service, made.scripNo);
  const isBuyers = holding?.firm_id === made.buyer.firmId;
  return {
    ends: [status, reason, failed_step, late],
    money: {
      buyer: available,
      held: Number(balance.posted_paise) - available,
      seller: payouts.reduce(
        (sum: number, one: { amount_paise: number }) => sum + one.amount_paise,
        0,
      ),
    },
    credit: [isBuyers ? "buyer" : "seller", holding?.state],
    former: more.map(({ state }) => state),
  };
}

const atBuyer = (paise = buyerPaise) => ({ buyer: paise, held: 0, seller: 0 });
const inEscrow = { buyer: 0, held: buyerPaise, seller: 0 };
const backAtSeller = { credit: ["seller", "listed"], former: [] };
const reserved = { credit: ["seller", "reserved"], former: [] };
const locked = { credit: ["seller", "in_settlement"], former: [] };
const endings: Readonly<
  Record<string, { readonly play: (deal: Deal) => Promise<void>; readonly end: object }>
> = {
  "pays after the deadline": {
    async play({ pass, pay }) {
      await pass(3);
      await pay(buyerPaise, afterwards);
    },
    end: {
      ends: ["failed", "timeout", "pay", false],
      money: atBuyer(),
      ...backAtSeller,
    },
  },
  "pays a rupee less": {
    async play({ pay, pass, reachPast }) {
      await pay(buyerPaise - 100);
      await pass(3);
      await reachPast("18/11/2026");
    },
    end: {
      ends: ["failed", "timeout", "pay", false],
      money: atBuyer(buyerPaise - 100),
      ...backAtSeller,
    },
  },
  "pays at 17:00, and the statement is imported after the deadline": {
    async play({ service, pay }) {
      service.clock.set(new Date("2026-11-17T18:10:00+05:30"));
      await service.work();
      await pay();
    },
    end: { ends: ["funded", null, null, false], money: inEscrow, ...reserved },
  },
  "never initiates": {
    async play({ pay, pass }) {
      await pay();
      for (let days = 0; days < 10; days++) await pass(1);
    },
    end: { ends: ["failed", "timeout", "initiate", false], money: atBuyer(), ...backAtSeller },
  },
  "claims to have initiated and did not, and customs is not read yet": {
    async play({ service, made, pay, pass }) {
      await pay();
      await say(service, made.seller, made, { kind: "initiate" });
      await say(service, made.buyer, made, { kind: "accept", word: "missing", body: {} });
      await pass(30);
    },
    end: { ends: ["transfer_initiated", null, null, true], money: inEscrow, ...locked },
  },
  "claims to have initiated and did not, and customs shows nothing": {
    async play({ service, made, pay, pass }) {
      await pay();
      await say(service, made.seller, made, { kind: "initiate" });
      await say(service, made.buyer, made, { kind: "accept", word: "missing", body: {} });
      await pass(30);
      await saysCustoms(service, made, "nothing_pending");
    },
    end: { ends: ["failed", "timeout", "initiate", false], money: atBuyer(), ...backAtSeller },
  },
  "transfers to a wrong IEC, which customs refuses": {
    async play({ service, made, pay }) {
      await pay();
      await say(service, made.seller, made, { kind: "initiate" });
      await saysCustoms(service, made, "refused");
    },
    end: { ends: ["failed", "refused", "accept", false], money: atBuyer(), ...backAtSeller },
  },
  "never accepts": {
    async play({ service, made, pay, pass }) {
      await pay();
      await say(service, made.seller, made, { kind: "initiate" });
      await pass(30);
      await saysCustoms(service, made, "nothing_pending");
    },
    end: { ends: ["failed", "timeout", "accept", false], money: atBuyer(), ...backAtSeller },
  },
  "accepts after the deadline": {
    async play({ service, made, pay, pass }) {
      await pay();
      await say(service, made.seller, made, { kind: "initiate" });
      await pass(30);
      await say(service, made.buyer, made, { kind: "accept" });
      await saysCustoms(service, made, "transferred");
      await service.work();
    },
    end: {
      ends: ["settled", null, null, false],
      money: { buyer: 0, held: 0, seller: sellerPaise },
      credit: ["buyer", "listed"],
      former: ["transferred"],
    },
  },
  "cannot initiate, because customs is down": {
    async play({ service, pay, pass }) {
      await pay();
      const registry = { environment: "live", port: "registry" } as const;
      await setOutage(service.ctx, registry, "maintenance");
      await pass(20);
    },
    end: { ends: ["funded", null, null, true], money: inEscrow, ...reserved },
  },
};

for (const [what, { play, end }] of Object.entries(endings)) {
  test(`a deal of which a party ${what} names the step, and nobody has both`, async (t) => {
    const deal = await openDeal(t);
    await play(deal);
    assert.deepEqual(await standing(deal), end);
    await assertLedgerSound(deal.service);
  });
}
