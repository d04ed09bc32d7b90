// A day in live as two people have it, from a new desk to books that come to what the bank says. The
// office is what they do, by whatever door: commands, the API, the console.

import assert from "node:assert/strict";

import { rupeesPlain } from "../../src/kernel/money.ts";
import { bank, firmBody } from "./client-firms.ts";
import { assertLedgerSound } from "./ledger.ts";
import { addLiveHouse } from "./live-house.ts";
import type { Service } from "./service.ts";
import { askJournal } from "./journal.ts";

const facePaise = 30_000_000;
export const twoFromPaise = 25_000_000;
const openedPaise = 500_000_000;

/** What the two of them do, by either door. What takes both is proposed by one and approved by the other. */
export type Office = {
  /** Those who act in it, by name in order; asha and ravi if it does not say. */
  readonly people?: readonly string[];
  /** A desk's key. */
  issueKey(firm: string): Promise<string>;
  verifyFirm(firmId: string): Promise<void>;
  authorizeFirm(firmId: string): Promise<void>;
  /** Answers all questions to customs and the bank that wait. */
  confirmFirms(): Promise<void>;
  confirmCredits(): Promise<void>;
  /** How many people a first card takes: two where two may publish. */
  readonly firstCardTakes: 1 | 2;
  publishCard(midBps: number, people: 1 | 2): Promise<void>;
  confirmTransfer(settlementId: string, reference: string): Promise<void>;
  importStatement(csv: string, people: 1 | 2): Promise<object>;
  previewPaise(): Promise<number>;
  makeFile(): Promise<{ readonly text: string; readonly reference: string }>;
  /** Status and UTR of the one payout. */
  readPayout(): Promise<readonly string[]>;
  reconcile(): Promise<object>;
};

export const mandate = { signatory: "R. Mehta", reference: "M-1", until: "2099-03-31" };

export async function haveDay(service: Service, office: Office): Promise<void> {
  await addLiveHouse(service);
  const { send } = service;
  /** A desk with a client that customs and the bank know, and that has signed its mandate. */
  const openDesk = async (name: string, accountNo: string) => {
    const key = await office.issueKey(`${name} Desk`);
    const body = firmBody({ legal_name: name, role: "both", bank: bank(name, accountNo) });
    const firm = (await send("POST", "/v1/firms", { key, body, expect: 201 })).body;
    const firmId = firm.firm_id as string;
    await office.verifyFirm(firmId);
    await office.confirmFirms();
    await office.authorizeFirm(firmId);
    return { key, firmId };
  };
  const seller = await openDesk("Shree Exports Limited", "50200011110001");
  const buyer = await openDesk("Bharat Imports Limited", "50200011110002");
  await office.publishCard(9_850, office.firstCardTakes);
  await office.publishCard(9_700, 2);

  const credit = {
    scrip_no: "0123/RODTEP/7001",
    scheme: "RODTEP",
    face_paise: facePaise,
    issued_on: "2026-10-01",
    expires_on: "2028-09-30",
  };
  const path = `/v1/firms/${seller.firmId}/credits`;
  await send("POST", path, { key: seller.key, body: { credits: [credit] }, expect: 200 });
  await office.confirmCredits();

  const deal = async (key: string, body: object, firm: { firm_id?: string } = {}) => {
    const quote = (await send("POST", "/v1/quote", { key, body, expect: 200 })).body;
    assert.ok(quote.quote_ref, JSON.stringify(quote));
    const order = { quote_ref: quote.quote_ref, ...firm };
    const placed = (await send("POST", "/v1/orders", { key, body: order, expect: 201 })).body;
    return { settlementId: placed.settlement_id as string, paise: placed.all_in_paise as number };
  };
  const settle = async (key: string, settlementId: string, reference: string) => {
    await service.work();
    await office.confirmTransfer(settlementId, reference);
    const settled = await send("GET", `/v1/settlements/${settlementId}`, { key, expect: 200 });
    assert.equal(settled.body.status, "settled");
  };
  const sale = await deal(seller.key, { side: "sell", scrip_no: credit.scrip_no });
  await settle(seller.key, sale.settlementId, "ICEGATE-2");
  await service.work();

  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: facePaise };
  const purchase = await deal(buyer.key, wanted, { firm_id: buyer.firmId });
  let balancePaise = openedPaise;
  const statement = (utr: string, words: string, paise: number, remitter = "") => {
    balancePaise += paise;
    const amount = rupeesPlain(Math.abs(paise));
    const sides = paise < 0 ? [amount, ""] : ["", amount];
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    const row = ["16/11/2026", utr, words, ...sides, rupeesPlain(balancePaise), "", remitter];
    return `${heading}\n${row.join(",")}\n`;
  };
  const remitter = "50200011110002";
  await office.importStatement(
    statement("HDFCR52026970000001", purchase.settlementId, purchase.paise, remitter),
    2,
  );
  await settle(buyer.key, purchase.settlementId, "ICEGATE-3");

  assert.equal(await office.previewPaise(), sale.paise);
  const { text, reference } = await office.makeFile();
  assert.match(text, /50200011110001/);
  const left = statement("HDFCR52026970000002", reference, -sale.paise);
  const answer = await office.importStatement(left, 1);
  const { outcome, matched, queued } = answer as Record<string, unknown>;
  assert.deepEqual([outcome, matched, queued], ["applied", 1, 0]);
  assert.deepEqual(await office.readPayout(), ["paid", "HDFCR52026970000002"]);
  assert.deepEqual(await office.reconcile(), {
    as_of: "2026-11-16",
    bank_paise: balancePaise,
    books_paise: balancePaise - openedPaise,
    difference_paise: openedPaise,
    unexplained_paise: 0,
    queued: 0,
    differences: [{ what: "on the account before the first statement", amount_paise: openedPaise }],
  });
  const { rows } = await askJournal<{ actor_id: string }>(
    service.ctx.db.pool,
    `select distinct actor_id from audit_records
    where actor_kind = 'operator' and action not like 'operator.%' order by 1`,
  );
  assert.deepEqual(
    rows.map(({ actor_id }) => actor_id),
    office.people ?? ["asha", "ravi"],
    "every act names its person",
  );
  await assertLedgerSound(service);
}
