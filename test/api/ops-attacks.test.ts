// Attacks of people who are signed in, through the operators' API, each with what it brought them: not
// a paisa is paid twice or made from nothing.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { rupeesPlain } from "../../src/kernel/money.ts";
import { operations } from "../../src/ops/operations.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount, type LiveSeller, liveSeller, sellLive } from "../support/live-sales.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
} from "../support/settlements.ts";

/** From here on it takes two people. */
const twoFromPaise = 10_000_000;
const large = 20_000_000;
const small = 4_000_000;
const live = { environment: "live" } as const;

let references = 0;
const nextUtr = () => `HDFCR52028${String(++references).padStart(9, "0")}`;

type Call = (
  operationId: string,
  params?: readonly string[],
  body?: object,
) => Promise<Pick<Answer, "status" | "body">>;

type Staff = { readonly token: string; readonly call: Call };

/** A service with two admins who have signed in. */
async function openOffice(t: TestContext) {
  const service = await startService(t);
  await addLiveHouse(service);
  const { send } = await startOps(t, service, { twoOperatorsFromPaise: twoFromPaise });
  const ashaRao = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const raviIyer = await addPerson(service, { name: "Ravi", role: "admin", by: [ashaRao] });
  const enter = async (person: typeof ashaRao): Promise<Staff> => {
    const { token } = await person.signIn();
    const call: Call = async (operationId, params = [], body = {}) => {
      const operation = operations.find(({ id }) => id === operationId);
      assert.ok(operation, operationId);
      const rest = [...params];
      const path = operation.path.replaceAll(/:\w+/g, () => rest.shift() ?? "");
      return await send(operation.method, path, {
        headers: asBearer(token),
        ...(operation.body && { body }),
      });
    };
    return { token, call };
  };
  return { service, asha: await enter(ashaRao), ravi: await enter(raviIyer), enter, ashaRao };
}

type Line = { readonly words: string; readonly paise: number; readonly account?: string };

function statement(lines: readonly Line[]): string {
  let balance = 900_000_000;
  const rows = lines.map(({ words, paise, account = "" }) => {
    balance += paise;
    const [debit, credit] = paise < 0 ? [rupeesPlain(-paise), ""] : ["", rupeesPlain(paise)];
    return ["15/11/2026", nextUtr(), words, debit, credit, rupeesPlain(balance), "", account].join(
      ",",
    );
  });
  const heading = "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
  return `${[heading, ...rows].join("\n")}\n`;
}

const upload = (text: string) => ({ content_base64: Buffer.from(text).toString("base64") });

/** What has come to a firm, whatever may be done with it. */
async function postedPaise(service: Service, seller: LiveSeller): Promise<number> {
  return Number((await readBalance(service, seller, "live")).posted_paise);
}

test("one person, even twice, cannot do an act that takes two", async (t) => {
  const { service, asha, ravi, enter, ashaRao } = await openOffice(t);
  const seller = await liveSeller(service);
  const [settlementId = ""] = await sellLive(service, seller, large);
  const [due] = await listPayouts(service, seller);
  const desk = await openTestDesk(service, "live");
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  const dealId = await makeDeal(service, { ...live, buyer: desk, legs });
  await asha.call("publishCard", [], { ...live, scheme: "RODTEP", terms: { mid_bps: 9_000 } });
  const gift = statement([{ words: seller.firmId, paise: large, account: seller.accountNo }]);
  const stray = statement([
    { words: "who knows", paise: large, account: "99900011122" },
    { words: "nobody knows", paise: large, account: "99900011133" },
  ]);
  assert.equal((await asha.call("importBankStatement", [], upload(stray))).body.queued, 2);
  const [queued, other] = (await asha.call("listBankQueue")).body.lines;
  const before = await postedPaise(service, seller);

  const credit = { scheme: "RODTEP", scrip_no: "ATTACK/1", expires_on: "2028-03-31" };
  const funding = { reference: nextUtr(), amount_paise: large };
  const attacks: readonly (readonly [string, readonly string[], object])[] = [
    [
      "addDeposit",
      [],
      { ...live, firm_id: seller.firmId, amount_paise: large, reference: nextUtr() },
    ],
    ["fundSettlement", [dealId], funding],
    ["importBankStatement", [], upload(gift)],
    ["assignBankLine", [queued.line_id], { to: seller.firmId, reason: "it is theirs" }],
    ["returnBankLine", [other.line_id], { utr: nextUtr(), reason: "it is nobody's" }],
    ["addInventory", [], { ...live, credits: [{ ...credit, face_paise: large }] }],
    ["publishCard", [], { ...live, scheme: "RODTEP", terms: { mid_bps: 9_800 } }],
    ["reverseSettlement", [settlementId], { reason: "forged" }],
    ["makeFiles", [], live],
    ["releasePayout", [due.payout_id], {}],
    ["payCommission", [desk.deskId], { amount_paise: large, utr: nextUtr() }],
    ["addOperator", [], { name: "Asha R.", role: "admin" }],
    ["resetOperator", [], { name: "Ravi" }],
  ];
  const again = await enter(ashaRao);
  const told = new Set<string>();
  for (const [operationId, params, body] of attacks) {
    // Again, in another session, and many at once.
    for (const { call } of [asha, again, asha]) {
      const { status, body: answer } = await call(operationId, params, body);
      const outcome = answer.outcome ?? answer.payout_files?.[0]?.outcome;
      assert.deepEqual([status, outcome], [200, "proposed"], `${operationId} ${status}`);
      const proposal = answer.approval_id ?? answer.payout_files?.[0]?.approval_id;
      assert.match(String(proposal), /^apr_/, `${operationId} names its proposal`);
      told.add(proposal);
    }
  }
  const sent = await asha.call("sendPayout", [due.payout_id], { utr: nextUtr() });
  assert.deepEqual([sent.status, sent.body.detail.reason], [409, "approval_required"]);

  const { approvals } = (await asha.call("listApprovals")).body;
  const open = approvals.filter(({ status }: { status: string }) => status === "proposed");
  // Letting somebody in makes a new code each time, and so a new proposal in the place of the old one.
  assert.equal(open.length, attacks.length);
  for (const { approval_id } of open) assert.ok(told.has(approval_id), approval_id);
  for (const { approval_id } of open) {
    const tries = await Promise.all(
      [asha, again, asha, again].map(({ call }) => call("approveProposal", [approval_id])),
    );
    for (const { status, body } of tries) {
      assert.deepEqual([status, body.detail.reason], [403, "own_proposal"]);
    }
  }
  assert.equal(await postedPaise(service, seller), before, "0 paise made");
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled", "0 paise paid");
  assert.equal((await ravi.call("whoIsSignedIn")).status, 200, "nobody was shut out");
  const { rows } = await service.ctx.db.pool.query(
    `select (select count(*)::int from credits where scrip_no = 'ATTACK/1') as credits,
      (select count(*)::int from operators) as people`,
  );
  assert.deepEqual(rows, [{ credits: 0, people: 2 }]);
  await assertLedgerSound(service);
});

test("a payout whose facts changed after its approval does not leave", async (t) => {
  const { service, asha, ravi } = await openOffice(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, large);
  const [{ payout_id }] = await listPayouts(service, seller);
  const { approval_id } = (await asha.call("releasePayout", [payout_id])).body;
  assert.equal((await ravi.call("approveProposal", [approval_id])).status, 200);
  await giveAccount(service, seller, "50200017777777");
  const sent = await asha.call("sendPayout", [payout_id], { utr: nextUtr() });
  assert.deepEqual([sent.status, sent.body.detail.reason], [409, "approval_required"]);

  // What was approved is done with: other terms are another proposal.
  const first = { ...live, firm_id: seller.firmId, amount_paise: large, reference: nextUtr() };
  const proposed = await asha.call("addDeposit", [], first);
  await ravi.call("approveProposal", [proposed.body.approval_id]);
  const before = await postedPaise(service, seller);
  const more = await asha.call("addDeposit", [], { ...first, amount_paise: large * 2 });
  assert.deepEqual([more.status, more.body.detail.reason], [409, "reference_used"]);
  const repeated = await ravi.call("approveProposal", [proposed.body.approval_id]);
  assert.deepEqual([repeated.status, repeated.body.result], [200, null]);

  // And before it is approved, a change makes it void.
  const file = (await asha.call("makeFiles", [], live)).body.payout_files[0];
  assert.equal(file.outcome, "proposed");
  await giveAccount(service, seller, "50200018888888");
  const late = await ravi.call("approveProposal", [file.approval_id]);
  assert.deepEqual([late.status, late.body.detail.reason], [409, "voided"]);
  assert.equal(await postedPaise(service, seller), before);
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled", "0 paise paid");
  await assertLedgerSound(service);
});

test("a bank statement imported repeatedly and concurrently counts once", async (t) => {
  const { service, asha, ravi } = await openOffice(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, small);
  const made = (await asha.call("makeFiles", [], live)).body.payout_files[0];
  const { lines } = (await asha.call("readFileFacts", [made.file_id])).body;
  const text = statement([
    { words: lines[0].reference, paise: -small },
    { words: seller.firmId, paise: 50_000, account: seller.accountNo },
  ]);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      (at % 2 === 0 ? asha : ravi).call("importBankStatement", [], upload(text)),
    ),
  );
  const applied = answers.filter(({ body }) => body.outcome === "applied");
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(applied.length, 1);
  // The same lines in another file are known, too.
  const other = text.replaceAll("\n", "\r\n");
  assert.equal((await ravi.call("importBankStatement", [], upload(other))).body.new_lines, 0);
  assert.equal(await postedPaise(service, seller), 50_000, "0 paise counted twice");
  assert.equal((await listPayouts(service, seller))[0].status, "paid");
  assert.equal((await asha.call("reconcileBank")).body.unexplained_paise, 0);
  await assertLedgerSound(service);
});

test("a payout is in a file or sent by hand, never both, under concurrency", async (t) => {
  const { service, asha, ravi } = await openOffice(t);
  const outcomes = new Map<string, number>();
  for (let round = 0; round < 6; round++) {
    const seller = await liveSeller(service);
    await sellLive(service, seller, small);
    const [{ payout_id }] = await listPayouts(service, seller);
    const acts = [
      () => asha.call("makeFiles", [], live),
      () => ravi.call("sendPayout", [payout_id], { utr: nextUtr() }),
    ];
    const answers = await Promise.all(
      (round % 2 === 0 ? acts : acts.toReversed()).map((act) => act()),
    );
    for (const { status } of answers) assert.ok(status < 500);
    const [{ status }] = await listPayouts(service, seller);
    outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    const { rows } = await service.ctx.db.pool.query(
      "select count(*)::int as files from payout_file_items where payout_id = $1 and not is_void",
      [payout_id],
    );
    assert.deepEqual(rows, [{ files: status === "instructed" ? 1 : 0 }], status);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  for (const status of outcomes.keys()) assert.ok(["instructed", "sent"].includes(status), status);
  await assertLedgerSound(service);
});

test("a third party's payment funds no firm, whatever it names", async (t) => {
  const { service, asha } = await openOffice(t);
  const seller = await liveSeller(service);
  const buyer = await liveSeller(service);
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  const dealId = await makeDeal(service, { ...live, buyer, legs });
  const text = statement([
    { words: dealId, paise: buyerPaise, account: "99900011122" },
    { words: buyer.firmId, paise: small, account: "99900011122" },
    { words: `${dealId} for ${buyer.name}`, paise: buyerPaise },
  ]);
  const imported = (await asha.call("importBankStatement", [], upload(text))).body;
  assert.deepEqual([imported.matched, imported.queued], [0, 3]);
  const { lines } = (await asha.call("listBankQueue")).body;
  assert.ok(lines.some(({ reason }: { reason: string }) => reason === "third_party"));
  assert.equal(await postedPaise(service, buyer), 0, "0 paise made");
  const { status } = (await asha.call("readAnySettlement", [dealId])).body;
  assert.equal(status, "pending");
  await assertLedgerSound(service);
});

test("a large withdrawal takes two people, by hand and by file", async (t) => {
  const { service, asha, ravi } = await openOffice(t);
  const firm = await liveSeller(service);
  const deposit = { ...live, firm_id: firm.firmId, amount_paise: large, reference: nextUtr() };
  const { approval_id } = (await asha.call("addDeposit", [], deposit)).body;
  await ravi.call("approveProposal", [approval_id]);
  const path = `/v1/firms/${firm.firmId}/withdrawals`;
  await service.send("POST", path, {
    key: firm.key,
    body: { amount_paise: large },
    expect: 201,
  });
  await service.work();
  const [{ payout_id, kind }] = await listPayouts(service, firm);
  assert.equal(kind, "withdrawal");
  const byHand = await asha.call("sendPayout", [payout_id], { utr: nextUtr() });
  assert.deepEqual([byHand.status, byHand.body.detail.reason], [409, "approval_required"]);
  const [filed] = (await asha.call("makeFiles", [], live)).body.payout_files;
  assert.equal(filed.outcome, "proposed");
  assert.equal((await asha.call("approveProposal", [filed.approval_id])).status, 403);
  assert.equal((await listPayouts(service, firm))[0].status, "scheduled", "0 paise paid");
  assert.equal((await ravi.call("approveProposal", [filed.approval_id])).status, 200);
  assert.equal((await listPayouts(service, firm))[0].status, "instructed");
  await assertLedgerSound(service);
});
