// Where a firm pays ahead, numbers of firms' own in the bank's statement, and what came.

import assert from "node:assert/strict";
import { test } from "node:test";

import { importStatement } from "../../src/bankbook/import-statement.ts";
import { setNumberForm } from "../../src/funding/virtual-accounts.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
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
