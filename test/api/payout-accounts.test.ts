// A payout reaches the account that the bank has confirmed for the firm that earned it, and no other,
// whatever is changed between earning and paying.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { computeGstinCheckCharacter, makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import { type FirmState, firmStates } from "../../src/firms/rules.ts";
import { namedOperator, operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { attestSubjects } from "../../src/outside/attest.ts";
import { makeFiles, previewFiles } from "../../src/payouts/make-files.ts";
import { readFile } from "../../src/payouts/read-files.ts";
import { releasePayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { appliers } from "../../src/workers.ts";
import { giveConfirmedAccount } from "../support/accounts.ts";
import { bank, firmBody, firmThatIs } from "../support/client-firms.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { addPerson } from "../support/people.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";

const ownName = "Konkan Exports Private Limited";
const otherAccount = bank("Somebody Else Limited", "50200099999999");

type Earning = { readonly desk: TestDesk; readonly firm: Answer["body"] };

/** A sandbox firm with a confirmed account that has just sold a credit. */
async function earn(service: Service): Promise<Earning> {
  const desk = await openTestDesk(service);
  const pan = makeSyntheticPan("a company with a GSTIN");
  const gstin = `27${pan}1Z`;
  const firm = await firmThatIs(service, desk.key, "authorized", {
    legal_name: ownName,
    iec: pan,
    pan,
    gstin: `${gstin}${computeGstinCheckCharacter(gstin)}`,
    bank: bank(ownName),
  });
  const seller = { deskId: desk.deskId, firmId: firm.firm_id };
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, sellerPaise, buyerPaise: sellerPaise }];
  await makeDeal(service, { buyer: house(), legs });
  return { desk, firm };
}

const patch = async (service: Service, { desk, firm }: Earning, body: object) =>
  await service.send("PATCH", `/v1/firms/${firm.firm_id}`, { key: desk.key, body, expect: 200 });

/** Lets the deal settle and every hold that ends by itself end; the payout as it is then. */
async function waitForPayout(service: Service, { desk }: Earning): Promise<Answer["body"]> {
  await letSettle(service);
  service.clock.advance({ days: 2 });
  await letSettle(service);
  const [payout, ...others] = await listPayouts(service, desk);
  assert.equal(others.length, 0);
  return payout;
}

const otherPan = makeSyntheticPan("another company");
const wrongPan = otherPan.replace(/\d{4}/, "9999");
const flaggedPan = otherPan.replace(/\d{4}/, "9998");
const identities: Readonly<Record<string, object>> = {
  "a dot after its name": { legal_name: `${ownName}.` },
  "no GSTIN": { gstin: null },
  "another PAN": { iec: otherPan, pan: otherPan, gstin: null },
  "a PAN that customs refuses": { iec: wrongPan, pan: wrongPan, gstin: null },
};

for (const [what, identity] of Object.entries(identities)) {
  test(`an account changed together with ${what} is paid only when the bank confirms it`, async (t) => {
    const service = await startService(t);
    const earning = await earn(service);
    await patch(service, earning, { ...identity, bank: otherAccount });
    const payout = await waitForPayout(service, earning);
    assert.deepEqual([payout.status, payout.reason], ["held", "bank_not_verified"]);
    assert.equal(payout.utr, null);
  });
}

test("an account changed after customs refused the firm is not paid on the yes about the former one", async (t) => {
  const service = await startService(t);
  const earning = await earn(service);
  await patch(service, earning, { iec: wrongPan, pan: wrongPan, gstin: null });
  service.clock.advance({ seconds: 1 });
  await service.work();
  const { body: changed } = await patch(service, earning, { bank: otherAccount });
  assert.equal(changed.connection_state, "action_required");
  const found = changed.checks.map(({ check, outcome }: Answer["body"]) => [check, outcome]);
  assert.deepEqual(found, [
    ["IEC_ACTIVE", "pass"],
    ["PAN_MATCH", "fail"],
    ["FLAGGED_IEC", "pass"],
  ]);
  const payout = await waitForPayout(service, earning);
  assert.deepEqual([payout.status, payout.reason], ["held", "bank_not_verified"]);
});

test("money of a flagged firm waits for a person, also when the firm drains", async (t) => {
  const service = await startService(t);
  const earning = await earn(service);
  await patch(service, earning, { iec: flaggedPan, pan: flaggedPan, gstin: null });
  const payout = await waitForPayout(service, earning);
  assert.deepEqual([payout.status, payout.reason], ["held", "firm_rejected"]);
  const path = `/v1/firms/${earning.firm.firm_id}`;
  const { key } = earning.desk;
  const { body: rejected } = await service.send("GET", path, { key, expect: 200 });
  assert.equal(rejected.connection_state, "rejected");
  await service.send("POST", `${path}/offboard`, { key, body: { mode: "drain" }, expect: 200 });
  const draining = await waitForPayout(service, earning);
  assert.deepEqual([draining.status, draining.reason], ["held", "firm_flagged"]);
});

test("the same account given again asks the bank anew where it had said no", async (t) => {
  const service = await startService(t);
  const earning = await earn(service);
  await patch(service, earning, { bank: otherAccount });
  await waitForPayout(service, earning);
  const refused = await service.send("GET", `/v1/firms/${earning.firm.firm_id}`, {
    key: earning.desk.key,
    expect: 200,
  });
  const again = await patch(service, earning, { bank: otherAccount });
  const outcome = ({ body }: Answer) =>
    body.checks.find(({ check }: Answer["body"]) => check === "BANK_NAME_MATCH").outcome;
  assert.deepEqual([outcome(refused), outcome(again)], ["fail", "pending"]);
  const { body } = await service.send("GET", "/v1/events", { key: earning.desk.key, expect: 200 });
  const told = body.events.filter(({ event }: Answer["body"]) => event === "firm.bank_changed");
  assert.equal(told.length, 1, "nothing has changed");
});

test("a change of account is told with both accounts masked", async (t) => {
  const service = await startService(t);
  const earning = await earn(service);
  const another = bank(ownName, "50200012341111");
  await patch(service, earning, { bank: another, email: "new@acme.example" });
  await patch(service, earning, { email: "newer@acme.example" });
  await patch(service, earning, { bank: null });
  const { body, text } = await service.send("GET", "/v1/events", {
    key: earning.desk.key,
    expect: 200,
  });
  const masked = (digits: string) => ({
    account_no_masked: `XXXXXX${digits}`,
    ifsc: "HDFC0000001",
    name: ownName,
  });
  assert.deepEqual(
    body.events
      .filter(({ event }: Answer["body"]) => event === "firm.bank_changed")
      .map(({ data }: Answer["body"]) => data),
    [
      { bank: masked("1111"), former_bank: masked("5678") },
      { bank: null, former_bank: masked("1111") },
    ],
  );
  assert.doesNotMatch(text, /5020001234/);
});

const asha = namedOperator("asha");
const live = { environment: "live" } as const;
const hasReason = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

test("in live, no file and no release is made for an account that was changed with the name", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000);
  await service.send("PATCH", `/v1/firms/${seller.firmId}`, {
    key: seller.key,
    body: { legal_name: `${seller.name}.`, bank: otherAccount },
    expect: 200,
  });
  service.clock.advance({ days: 2 });
  const { files, kept } = await previewFiles(service.ctx, "live");
  assert.deepEqual(files, []);
  assert.deepEqual(
    kept.map(({ reason }) => reason),
    ["bank_not_verified"],
  );
  assert.deepEqual(await makeFiles(service.ctx, asha, live), []);
  const [{ payout_id: payoutId }] = await listPayouts(service, seller);
  const utr = "HDFCR52026111500091";
  const refused = hasReason("bank_not_verified");
  await assert.rejects(sendPayout(service.ctx, asha, { payoutId, utr }), refused);
  await assert.rejects(releasePayout(service.ctx, asha, payoutId), refused);
});

/** An account that looks the same by its IFSC and last digits. */
const lookAlike = (accountNo: string) => `9${accountNo.slice(1)}`;

test("what two people approved for one account does not hold for another that looks the same", async (t) => {
  const service = await startService(t);
  const one = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const other = await addPerson(service, { name: "ravi", role: "settlement", by: [one] });
  const seller = await liveSeller(service);
  await sellLive(service, seller, 30_000_000, 1_000_000_000);
  const [large, small] = await listPayouts(service, seller);
  const { ctx } = service;
  const approve = async (approvalId: string) =>
    await approveProposal(ctx, other.actor, { approvalId, kinds: approvalKinds });

  const released = await releasePayout(ctx, one.actor, large.payout_id);
  assert.ok(released.outcome === "proposed");
  await approve(released.approval_id);
  const limited = { ...live, twoFromPaise: 30_000_000 };
  const [file = assert.fail()] = await makeFiles(ctx, one.actor, limited);
  assert.equal(file.outcome, "proposed");

  const { firmId, accountNo } = seller;
  await giveConfirmedAccount(ctx, { firmId, accountNo: lookAlike(accountNo) });
  const sending = { payoutId: large.payout_id, utr: "HDFCR52026111500092" };
  await assert.rejects(sendPayout(ctx, one.actor, sending), hasReason("approval_required"));
  await assert.rejects(approve(file.approval_id ?? ""), Failure);
  assert.deepEqual(
    (await listPayouts(service, seller)).map(({ status }) => status),
    ["scheduled", "scheduled"],
  );
  assert.ok(small);
  await assertLedgerSound(service);
});

test("a file is not given to the bank once one of its accounts may not be paid", async (t) => {
  const service = await startService(t);
  const [one, other] = [await liveSeller(service), await liveSeller(service)];
  await sellLive(service, one, 4_000_000);
  await sellLive(service, other, 5_000_000);
  const [file = assert.fail()] = await makeFiles(service.ctx, asha, live);
  const read = async () => await readFile(service.ctx, asha, file.file_id ?? "");
  const bytes = await read();
  const call = { key: one.key, expect: 200 };
  await service.send("POST", `/v1/firms/${one.firmId}/suspend`, {
    ...call,
    body: { reason: "our key was stolen" },
  });
  await assert.rejects(read(), hasReason("firm_suspended"));
  await service.send("POST", `/v1/firms/${one.firmId}/resume`, call);
  assert.deepEqual(await read(), bytes);
  const { firmId, accountNo } = one;
  await giveConfirmedAccount(service.ctx, { firmId, accountNo: lookAlike(accountNo) });
  await assert.rejects(read(), hasReason("account_changed"));
});

/** What the bank is asked about. */
type Subject = { readonly bank: ReturnType<typeof bank> | null; readonly legal_name: string };

const subjectKey = ({ bank: account, legal_name }: Subject) =>
  account && JSON.stringify([account, legal_name]);

const waitingStates: readonly FirmState[] = ["suspended", "rejected", "offboarded"];

test("in every state and after every change, an account is paid only on the bank's yes about it", async (t) => {
  const service = await startService(t);
  const { key, deskId } = await openTestDesk(service, "live");
  const pans = ["one", "two", "three"].map((seed) => makeSyntheticPan(`particulars ${seed}`));
  const change = fc.record(
    {
      legal_name: fc.constantFrom("Alpha Exports", "Beta Exports"),
      bank: fc.option(
        fc.record({
          account_no: fc.constantFrom("50200010001234", "50300010001234"),
          ifsc: fc.constantFrom("HDFC0000001", "ICIC0000002"),
          name: fc.constantFrom("Alpha Exports", "Beta Exports"),
        }),
        { nil: null },
      ),
      gstin: fc.constant(null),
      pan: fc.constantFrom(...pans),
      email: fc.constantFrom("a@alpha.example", "b@alpha.example"),
    },
    { requiredKeys: [] },
  );
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ patch: change }) },
    { weight: 2, arbitrary: fc.record({ bankSays: fc.constantFrom("pass", "fail") }) },
    { weight: 1, arbitrary: fc.record({ customsSay: fc.constantFrom("pass", "fail") }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("verify", "suspend", "resume") }) },
  );
  const start = fc.record({
    state: fc.constantFrom(...firmStates),
    isFlagged: fc.boolean(),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  });
  const answer = async (firmId: string, kind: "bank_account" | "firm_identity", says: string) => {
    const outcome = says === "pass" ? ("pass" as const) : ("fail" as const);
    const names =
      kind === "bank_account"
        ? (["BANK_NAME_MATCH"] as const)
        : (["IEC_ACTIVE", "PAN_MATCH"] as const);
    const checks = names.map((check) => ({ check, outcome, cure: null }));
    const seen = [{ subjectId: firmId, answer: { checks }, reference: "T-1" }];
    await attestSubjects(service.ctx, operator, { kind, seen, appliers });
  };
  await fc.assert(
    fc.asyncProperty(start, async ({ state, isFlagged, steps }) => {
      const { body: firm } = await service.send("POST", "/v1/firms", {
        key,
        body: firmBody({ legal_name: "Alpha Exports" }),
        expect: 201,
      });
      const firmId = firm.firm_id as string;
      const path = `/v1/firms/${firmId}`;
      const read = async () => (await service.send("GET", path, { key, expect: 200 })).body;
      let subject: Subject = { bank: bank("Alpha Exports"), legal_name: "Alpha Exports" };
      await giveConfirmedAccount(service.ctx, { firmId, accountNo: "50200012345678" });
      let confirmed = subjectKey(subject);
      if (state === "offboarded") {
        await service.send("POST", `${path}/offboard`, { key, body: {}, expect: 200 });
      } else {
        const flag = { check: "FLAGGED_IEC", outcome: "fail", cure: null, as_of: null };
        await service.ctx.db.pool.query(
          `update firms
          set connection_state = $2, checks = checks || $3::jsonb,
            authorized_at = case when $2 = 'authorized' then now() end,
            suspended_by = case when $2 = 'suspended' then 'desk' end,
            suspension_reason = case when $2 = 'suspended' then 'audit' end
          where firm_id = $1`,
          [firmId, state, JSON.stringify(isFlagged ? [flag] : [])],
        );
      }
      for (const taken of steps) {
        if ("patch" in taken) {
          const { pan, ...body } = taken.patch;
          const given = pan === undefined ? body : { ...body, pan, iec: pan };
          const answered = await service.send("PATCH", path, { key, body: given });
          if (answered.status === 200) subject = { ...subject, ...body };
        } else if ("act" in taken) {
          const body = taken.act === "suspend" ? { reason: "audit" } : {};
          await service.send("POST", `${path}/${taken.act}`, { key, body });
        } else if ("bankSays" in taken) {
          const asked = answer(firmId, "bank_account", taken.bankSays);
          if (await isOpen(asked)) {
            confirmed = taken.bankSays === "pass" ? subjectKey(subject) : null;
          }
        } else {
          await isOpen(answer(firmId, "firm_identity", taken.customsSay));
        }
        service.clock.advance({ days: 2 });
        const { connection_state, holds, checks } = await read();
        const reasons = holds.map(({ reason }: Answer["body"]) => reason);
        const flagged = checks.some(
          ({ check, outcome }: Answer["body"]) => check === "FLAGGED_IEC" && outcome === "fail",
        );
        const account = subjectKey(subject);
        const mustWait =
          waitingStates.includes(connection_state) ||
          flagged ||
          (account !== null && confirmed !== account);
        if (mustWait) assert.notDeepEqual(reasons, [], JSON.stringify(subject));
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(deskId);
});

/** Whether there was something to answer. */
async function isOpen(answering: Promise<void>): Promise<boolean> {
  try {
    await answering;
    return true;
  } catch (error) {
    if (error instanceof Failure && error.detail?.["reason"] === "nothing_asked") return false;
    throw error;
  }
}
