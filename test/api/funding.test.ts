// Where a firm pays ahead, numbers of firms' own in the bank's statement, and what came.

import assert from "node:assert/strict";
import { test } from "node:test";

import { importStatement } from "../../src/bankbook/import-statement.ts";
import { setNumberForm } from "../../src/funding/virtual-accounts.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { newId } from "../../src/kernel/ids.ts";
import { reverseDeposit } from "../../src/bankbook/reverse-deposit.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { statement } from "../support/bank.ts";
import { addLiveHouse, liveHouse } from "../support/live-house.ts";
import { type LiveSeller, liveSeller } from "../support/live-sales.ts";
import { addPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import { openTestDesk, readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const environment = "live";
const form = { prefix: "SCRIP", length: 16, alphabet: "letters", ifsc: "HDFC0000999" } as const;

async function readFunding({ send }: Service, { key, firmId }: LiveSeller, expect = 200) {
  return (await send("GET", `/v1/firms/${firmId}/funding`, { key, expect })).body;
}

type Told = {
  readonly event: string;
  readonly firm_id: string;
  readonly entity: { readonly version: number; readonly href: string };
  readonly from: string | null;
  readonly to: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

let references = 0;
const nextUtr = () => `HDFCR52026${String(++references).padStart(9, "0")}`;

/** What became of a line that brings money with these words from this account. */
async function bring({ ctx }: Service, words: string, account: string, paise = 1_000_000) {
  const line = { utr: nextUtr(), text: `NEFT CR ${words}`, paise, account };
  const text = statement(references * 100_000_000, [line]);
  await importStatement(ctx, asha, { environment, text });
}

test("a firm is told the house's account, and a number of its own once the bank gave a form", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const refused = await readFunding(service, firm, 409);
  assert.deepEqual(refused.detail, { reason: "house_incomplete", missing: ["bank"] });
  await addLiveHouse(service);
  const told = await readFunding(service, firm);
  assert.deepEqual(told, {
    firm_id: firm.firmId,
    ...liveHouse.bank,
    is_own_number: false,
    reference: firm.firmId,
  });
  await setNumberForm(service.ctx, asha, { environment, form });
  const own = await readFunding(service, firm);
  assert.match(own.account_no, /^SCRIP[0-9A-Z]{9}\d\d$/);
  assert.deepEqual([own.ifsc, own.is_own_number], [form.ifsc, true]);
  const other = await readFunding(service, await liveSeller(service));
  assert.notEqual(other.account_no, own.account_no);
  const stranger = await openTestDesk(service, environment);
  await service.send("GET", `/v1/firms/${firm.firmId}/funding`, { key: stranger.key, expect: 404 });
  await setNumberForm(service.ctx, asha, { environment, form: null });
  assert.equal((await readFunding(service, firm)).account_no, liveHouse.bank.account_no);
});

test("a number finds its firm and never proves whose money it is", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  await setNumberForm(service.ctx, asha, { environment, form });
  const firm = await liveSeller(service);
  const thief = await liveSeller(service);
  const { account_no: number } = await readFunding(service, firm);
  const { account_no: ofThief } = await readFunding(service, thief);
  const balance = async (of: LiveSeller) =>
    Number((await readBalance(service, of, environment)).posted_paise);
  await bring(service, number, firm.accountNo);
  assert.equal(await balance(firm), 1_000_000);
  await bring(service, `${number.slice(0, 8)} ${number.slice(8)}`, firm.accountNo);
  assert.equal(await balance(firm), 2_000_000, "banks break long words");

  await bring(service, ofThief, firm.accountNo);
  assert.equal(await balance(thief), 0, "another firm's money to the thief's number");
  await bring(service, number, "99999999999");
  const wrong = `${number.slice(0, -1)}${(Number(number.at(-1)) + 1) % 10}`;
  await bring(service, wrong, firm.accountNo);
  await bring(service, `${wrong} ${firm.firmId}`, firm.accountNo);
  await bring(service, `${ofThief} ${firm.firmId}`, firm.accountNo);
  assert.equal(await balance(firm), 2_000_000, "all of these wait");

  await setNumberForm(service.ctx, asha, { environment, form: { ...form, prefix: "OTHER" } });
  await bring(service, number, firm.accountNo);
  assert.equal(await balance(firm), 3_000_000, "a number of the former form");
});

test("one person cannot send firms' money to numbers of another bank once two may", async (t) => {
  const service = await startService(t);
  const first = await addPerson(service, { name: "asha", role: "admin" });
  const set = async () => await setNumberForm(service.ctx, first.actor, { environment, form });
  await addPerson(service, { name: "ravi", role: "settlement", by: [first] });
  assert.equal((await set()).outcome, "proposed");
});

test("a desk lists what came from its firms, and what was taken back", async (t) => {
  const service = await startService(t);
  const [desk, other] = [await liveSeller(service), await liveSeller(service)];
  const pay = async ({ firmId }: LiveSeller, paise: number) => {
    const reference = nextUtr();
    await addDeposit(service.ctx, asha, { environment, firmId, paise, reference });
    return reference;
  };
  for (const paise of [100, 200, 300]) await pay(desk, paise);
  const reference = await pay(other, 400);
  const list = async (query: string, key = desk.key) =>
    (await service.send("GET", `/v1/deposits${query}`, { key, expect: 200 })).body;
  const page = await list("?limit=2");
  assert.deepEqual([page.count, page.total, page.has_more], [2, 3, true]);
  const rest = await list(`?limit=2&cursor=${page.next_cursor}`);
  const amounts = [...page.deposits, ...rest.deposits].map(
    ({ amount_paise }: { amount_paise: number }) => amount_paise,
  );
  assert.deepEqual(
    amounts.toSorted((one, two) => one - two),
    [100, 200, 300],
  );
  assert.deepEqual((await list(`?firm_id=${other.firmId}`)).deposits, []);

  const taking = { environment, reference, reason: "of another firm" } as const;
  await reverseDeposit(service.ctx, asha, taking);
  const [deposit] = (await list("", other.key)).deposits;
  assert.deepEqual(
    [deposit.reference, deposit.status, deposit.reason],
    [reference, "returned", "of another firm"],
  );
});

test("a desk is told once of what came, of what waits under its firm's name, and of what went back", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  await setNumberForm(service.ctx, asha, { environment, form });
  const [desk, other] = [await liveSeller(service), await liveSeller(service)];
  const { account_no: number } = await readFunding(service, desk);
  const { account_no: ofOther } = await readFunding(service, other);
  const listTold = async ({ key }: LiveSeller): Promise<Told[]> => {
    const { body } = await service.send("GET", "/v1/events?limit=500", { key, expect: 200 });
    return body.events.filter(({ event }: Told) => event.startsWith("deposit."));
  };
  const shorten = ({ event, from, to, data }: Told) => [event, from, to, data["amount_paise"]];

  const stranger = { account: "99999999999", name: "Stranger Exports" };
  const line = (text: string, paise: number, from: object = stranger) => ({
    utr: nextUtr(),
    text,
    paise,
    ...from,
  });
  const own = { account: desk.accountNo };
  const lines = [
    line(`NEFT ${desk.firmId}`, 100, own),
    line(`NEFT ${desk.firmId}`, 200),
    line(`NEFT ${number}`, 300),
    line(`NEFT ${desk.firmId} ${ofOther}`, 400, own),
    line("NEFT nothing named", 500, own),
    line(`NEFT ${newId("frm", service.clock.now())}`, 600, own),
  ];
  const text = statement(0, lines);
  await importStatement(service.ctx, asha, { environment, text });
  const told = await listTold(desk);
  const came = [
    ["deposit.received", null, "received", 100],
    ["deposit.queued", null, "queued", 200],
    ["deposit.queued", null, "queued", 300],
  ];
  assert.deepEqual(told.map(shorten), came);
  assert.deepEqual(told[1]?.data, { amount_paise: 200, reason: "third_party" });
  for (const { firm_id } of told) assert.equal(firm_id, desk.firmId);
  assert.doesNotMatch(JSON.stringify(told), new RegExp(`Stranger|9{11}|${desk.accountNo}`, "i"));
  const shown = await service.send("GET", told[0]?.entity.href ?? "", { key: desk.key });
  const [{ firm_id: _firmId, reason: _reason, ...deposit }] = shown.body.deposits;
  assert.deepEqual(told[0]?.data, deposit, "as the list shows it");

  await importStatement(service.ctx, asha, { environment, text });
  const longer = statement(0, [...lines, line(`NEFT ${other.firmId}`, 700)]);
  await importStatement(service.ctx, asha, { environment, text: longer });
  assert.deepEqual((await listTold(desk)).map(shorten), came, "a repeated line tells nothing");
  assert.deepEqual((await listTold(other)).map(shorten), [["deposit.queued", null, "queued", 700]]);

  const entered = { environment, firmId: desk.firmId, paise: 800, reference: nextUtr() } as const;
  const taking = { environment, reference: entered.reference, reason: "It was Rao's" } as const;
  await addDeposit(service.ctx, asha, entered);
  await addDeposit(service.ctx, asha, entered);
  await reverseDeposit(service.ctx, asha, taking);
  await reverseDeposit(service.ctx, asha, taking);
  const all = await listTold(desk);
  assert.deepEqual(all.slice(came.length).map(shorten), [
    ["deposit.received", null, "received", 800],
    ["deposit.returned", "received", "returned", 800],
  ]);
  assert.doesNotMatch(JSON.stringify(all), /Rao/);
  const versions = all.slice(came.length).map(({ entity }) => entity.version);
  assert.deepEqual(versions, [1, 2]);
});
