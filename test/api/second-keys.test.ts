// A desk may say that another bank account of a firm, and withdrawals from a sum on, take two of its
// keys: one proposes, another approves. Whoever has one key gets around it in none of these ways.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { open } from "../../src/platform/seal.ts";
import { sealedPlaces } from "../../src/rotate-master-key.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { giveConfirmedAccount } from "../support/accounts.ts";
import { bank } from "../support/client-firms.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { askJournal } from "../support/journal.ts";
import { type Answer, startService } from "../support/service.ts";

const lakh = 10_000_000;

async function openDesk(t: TestContext, environment: "live" | "sandbox" = "sandbox") {
  const service = await startService(t);
  const { api_key: root, firm_id: deskId } = await service.issue({ environment, scopes: ["*"] });
  const { api_key: second } = await service.issue({
    firmName: undefined,
    deskId,
    environment,
    name: "board",
  });
  const maker = (await mintChild(service, root, { name: "maker" })).api_key;
  const checker = (await mintChild(service, root, { name: "checker" })).api_key;
  const firmId = await addClientFirm(service, deskId, environment);
  await giveConfirmedAccount(service.ctx, { firmId, accountNo: "50200010000001" });
  await payIn(service, firmId, 10 * lakh, environment);
  service.clock.advance({ days: 2 });
  const call = async (key: string, method: string, path: string, body?: object) =>
    await service.send(method, path, { key, ...(body && { body }) });
  const setRules = async (key: string, rules: object) =>
    await call(key, "PUT", "/v1/approvals/rules", {
      bank_changes: true,
      withdrawals_from_paise: 5 * lakh,
      ...rules,
    });
  const withdraw = async (key: string, amount_paise: number) =>
    await call(key, "POST", `/v1/firms/${firmId}/withdrawals`, { amount_paise });
  const propose = async (key: string, body: object) =>
    await call(key, "POST", "/v1/approvals", { firm_id: firmId, ...body });
  // Without what is expected it has no body.
  const approve = async (key: string, { body }: Answer, expected?: object) =>
    await call(key, "POST", `/v1/approvals/${body.approval_id}/approve`, expected);
  const proposeWithdrawal = async (key: string, amount_paise = 5 * lakh) =>
    await propose(key, { kind: "withdrawal", amount_paise });
  const keys = { root, second, maker, checker };
  return {
    service,
    deskId,
    firmId,
    ...keys,
    call,
    setRules,
    withdraw,
    propose,
    approve,
    proposeWithdrawal,
  };
}

const tellReason = ({ status, body }: Answer) => [status, body.detail?.reason];

test("nothing takes two keys until the desk says so", async (t) => {
  const { call, maker, withdraw, firmId } = await openDesk(t);
  const { body: rules } = await call(maker, "GET", "/v1/approvals/rules");
  assert.deepEqual(rules, {
    bank_changes: false,
    withdrawals_from_paise: null,
    updated_at: null,
    version: 0,
  });
  assert.equal((await withdraw(maker, 6 * lakh)).status, 201);
  const change = { bank: bank("Other", "50200010000002") };
  assert.equal((await call(maker, "PATCH", `/v1/firms/${firmId}`, change)).status, 200);
});

test("a withdrawal from the sum on is proposed by one key and paid by another's approval", async (t) => {
  const desk = await openDesk(t);
  const { service, root, maker, checker, withdraw, approve, setRules, call } = desk;
  assert.deepEqual(tellReason(await setRules(maker, {})), [403, undefined]);
  assert.equal((await setRules(root, {})).status, 200);
  assert.equal((await withdraw(maker, 3 * lakh)).status, 201);
  const inParts = await withdraw(checker, 2 * lakh);
  assert.deepEqual(tellReason(inParts), [409, "second_key_required"], "what is asked for adds up");
  assert.equal((await withdraw(maker, lakh)).status, 201);
  const proposed = await desk.proposeWithdrawal(maker);
  assert.equal(proposed.status, 201, proposed.text);
  assert.deepEqual(proposed.body.shown, { amount_paise: 5 * lakh });
  assert.equal(proposed.body.proposed_by, "maker");
  assert.deepEqual(tellReason(await approve(maker, proposed)), [403, "not_a_second_key"]);
  const approved = await approve(checker, proposed);
  assert.equal(approved.status, 200, approved.text);
  assert.equal(approved.body.status, "approved");
  const payout = await call(checker, "GET", `/v1/payouts/${approved.body.payout_id}`);
  assert.equal(payout.body.amount_paise, 5 * lakh);
  assert.equal((await approve(checker, proposed)).status, 200, "asking again changes nothing");
  assert.deepEqual(tellReason(await approve(root, proposed)), [409, "wrong_state"]);
  const { body: list } = await call(maker, "GET", "/v1/approvals");
  assert.equal(list.approvals.length, 1);
  const { rows } = await askJournal<{ action: string }>(
    service.ctx.db.pool,
    "select action from audit_records where action like 'second_key.%' order by record_id",
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ["second_key.set_rules", "second_key.propose", "second_key.approve"],
  );
  await assertLedgerSound(service);
});

test("one key alone changes no account, also not by taking it away, and leaves with no money", async (t) => {
  const { root, maker, checker, call, setRules, firmId, propose, approve } = await openDesk(t);
  await setRules(root, {});
  const path = `/v1/firms/${firmId}`;
  const required = [409, "second_key_required"];
  const other = bank("Other", "50200010000002");
  assert.deepEqual(tellReason(await call(root, "PATCH", path, { bank: other })), required);
  assert.deepEqual(tellReason(await call(root, "PATCH", path, { bank: null })), required);
  const drained = await call(root, "POST", `${path}/offboard`, { mode: "drain" });
  assert.deepEqual(tellReason(drained), required);
  assert.equal((await call(maker, "PATCH", path, { phone: "+919820012345" })).status, 200);
  const proposed = await propose(maker, { kind: "bank_change", bank: other });
  assert.equal(proposed.body.shown.bank.account_no_masked.slice(-4), "0002");
  assert.equal(proposed.text.includes("50200010000002"), false);
  const alike = bank("Other", "60300010000002");
  assert.equal(proposed.body.shown.bank.account_no_masked, "XXXXXX0002", "as that of `alike`");
  const differ = [409, "account_differs"];
  for (const expected of [
    alike,
    { ...other, ifsc: "HDFC0000002" },
    { ...other, name: "O" },
    null,
  ]) {
    assert.deepEqual(tellReason(await approve(checker, proposed, { bank: expected })), differ);
  }
  const spelt = { ...other, account_no: "5020 0010 0000 02" };
  assert.equal((await approve(checker, proposed, { bank: spelt })).body.status, "approved");
  const firm = await call(maker, "GET", path);
  assert.equal(firm.body.bank.account_no_masked.slice(-4), "0002");
  const leaving = await propose(maker, { kind: "offboarding" });
  assert.equal((await approve(checker, leaving, { bank: other })).status, 422);
  assert.equal((await approve(checker, leaving)).status, 200);
  assert.equal((await call(maker, "GET", path)).body.connection_state, "offboarding");
});

test("what was proposed under another account is void", async (t) => {
  const { root, maker, checker, setRules, propose, approve, proposeWithdrawal } = await openDesk(t);
  await setRules(root, {});
  const withdrawal = await proposeWithdrawal(maker);
  const change = await propose(maker, {
    kind: "bank_change",
    bank: bank("Other", "50200010000002"),
  });
  assert.equal((await approve(checker, change)).status, 200);
  const late = await approve(checker, withdrawal);
  assert.deepEqual(tellReason(late), [409, "approval_voided"]);
  assert.deepEqual(tellReason(await approve(checker, withdrawal)), [409, "wrong_state"]);
});

test("no key of the same name, minted by the other or lately changed approves", async (t) => {
  const desk = await openDesk(t, "live");
  const { service, root, second, maker, checker, setRules, approve, proposeWithdrawal } = desk;
  assert.equal((await setRules(root, {})).status, 200);
  const proposed = await proposeWithdrawal(maker);
  assert.equal(proposed.status, 201, proposed.text);
  const problem = async (key: string, of = proposed) => {
    const { status, body } = await approve(key, of);
    return [status, body.detail?.problem ?? body.detail?.reason];
  };
  assert.deepEqual(await problem(root), [403, "minted_by_the_other"]);
  const byRoot = await proposeWithdrawal(root);
  assert.deepEqual(await problem(checker, byRoot), [403, "minted_by_the_other"]);
  const twin = await mintChild(service, second, { name: " M aker" });
  assert.deepEqual(await problem(twin.api_key), [403, "same_name"]);
  const fresh = await mintChild(service, root, { name: "accomplice" });
  assert.deepEqual(await problem(fresh.api_key), [403, "key_changed_lately"]);
  // Whoever has a root key replaces the secret of another key, or its name.
  const { body: all } = await desk.call(root, "GET", "/v1/keys");
  const ofChecker = all.keys.find(({ name }: { name: string }) => name === "checker").key_id;
  const taken = await desk.call(root, "POST", `/v1/keys/${ofChecker}/reissue`);
  assert.deepEqual(await problem(taken.body.api_key), [403, "key_changed_lately"]);
  const byTaken = await proposeWithdrawal(taken.body.api_key);
  assert.deepEqual(await problem(second, byTaken), [403, "key_changed_lately"]);
  const { body: told } = await desk.call(second, "GET", "/v1/events?event=key.updated");
  const ids = told.events.map(({ entity }: { entity: { id: string } }) => entity.id);
  assert.deepEqual(ids, [ofChecker], "the desk is told");
  service.clock.advance({ days: 1 });
  assert.equal((await approve(taken.body.api_key, proposed)).status, 200, "after a day of notice");
});

test("a proposal ends with its key, by a rejection and after 72 hours", async (t) => {
  const desk = await openDesk(t);
  const { service, root, second, maker, checker, call, setRules, approve } = desk;
  await setRules(root, {});
  const rejected = await desk.proposeWithdrawal(maker);
  const path = `/v1/approvals/${rejected.body.approval_id}`;
  assert.equal((await call(checker, "POST", `${path}/reject`, { reason: "no" })).status, 200);
  assert.deepEqual(tellReason(await approve(checker, rejected)), [409, "wrong_state"]);
  const late = await desk.proposeWithdrawal(maker);
  service.clock.advance({ days: 3 });
  assert.deepEqual(tellReason(await approve(checker, late)), [409, "wrong_state"]);
  const mine = await mintChild(service, second, { name: "stolen" });
  const orphan = await desk.proposeWithdrawal(mine.api_key);
  assert.equal((await call(second, "DELETE", `/v1/keys/${mine.key_id}`)).status, 200);
  assert.deepEqual(tellReason(await approve(checker, orphan)), [409, "approval_voided"]);
  const { rows } = await service.ctx.db.pool.query(
    "select count(*)::int as sealed from desk_approvals where terms_sealed is not null and state <> 'proposed'",
  );
  assert.deepEqual(rows, [{ sealed: 0 }], "what is decided keeps no account");
});

test("asking for less takes two root keys, and nobody locks their desk out", async (t) => {
  const { service, root, second, call, setRules, propose, approve } = await openDesk(t);
  await setRules(root, {});
  const less = { bank_changes: false, withdrawals_from_paise: null };
  for (const rules of [{ bank_changes: false }, { withdrawals_from_paise: 6 * lakh }, less]) {
    assert.deepEqual(tellReason(await setRules(root, rules)), [409, "rules_take_two"]);
  }
  assert.equal((await setRules(root, { withdrawals_from_paise: 4 * lakh })).status, 200);
  const proposed = await call(root, "POST", "/v1/approvals", { kind: "rules", rules: less });
  assert.equal(proposed.status, 201, proposed.text);
  assert.equal((await approve(second, proposed)).status, 200);
  assert.equal((await call(root, "GET", "/v1/approvals/rules")).body.bank_changes, false);
  const wrong = await propose(root, { kind: "withdrawal" });
  assert.deepEqual([wrong.status, wrong.body.code], [422, "unprocessable"]);
  const { api_key: alone } = await service.issue();
  assert.deepEqual(tellReason(await setRules(alone, {})), [409, "no_second_key"]);
});

test("a sub_account key decides about its own firm only, and a key without withdrawals about none", async (t) => {
  const desk = await openDesk(t);
  const { service, deskId, firmId, root, maker, setRules, approve } = desk;
  await setRules(root, {});
  const proposed = await desk.proposeWithdrawal(maker);
  const other = await addClientFirm(service, deskId);
  const bound = async (firm_id: string, name: string) =>
    (await mintChild(service, root, { name, kind: "sub_account", firm_id })).api_key;
  assert.equal((await approve(await bound(other, "of another"), proposed)).status, 404);
  const limits = { withdrawals: false };
  const confined = (await mintChild(service, root, { name: "reader", limits })).api_key;
  assert.deepEqual(tellReason(await approve(confined, proposed)), [403, "key_limit"]);
  const reading = (await mintChild(service, root, { name: "r", scopes: ["firms"] })).api_key;
  assert.deepEqual(tellReason(await approve(reading, proposed)), [403, "key_lacks"]);
  const approved = await approve(await bound(firmId, "of the firm"), proposed);
  assert.equal(approved.status, 200, approved.text);
});

test("two keys that approve at once pay once, and what was retried is proposed once", async (t) => {
  const desk = await openDesk(t);
  const { service, root, second, maker, checker, setRules, approve, firmId } = desk;
  await setRules(root, {});
  const body = { kind: "withdrawal", firm_id: firmId, amount_paise: 5 * lakh };
  const send = async () =>
    await service.send("POST", "/v1/approvals", {
      key: maker,
      body,
      headers: { "idempotency-key": "w-1" },
    });
  const proposed = await send();
  assert.equal((await send()).body.approval_id, proposed.body.approval_id);
  const answers = await Promise.all(
    [checker, second, checker].map((key) => approve(key, proposed)),
  );
  const { rows } = await service.ctx.db.pool.query(
    "select count(*)::int as payouts from payouts where kind = 'withdrawal'",
  );
  assert.deepEqual(rows, [{ payouts: 1 }], JSON.stringify(answers.map(tellReason)));
  assert.equal((await send()).status, 200, "a retry finds it, though nothing is left to pay");
  await assertLedgerSound(service);
});

test("sealed terms are among what a change of the master key seals anew", async (t) => {
  const { service, root, maker, setRules, propose } = await openDesk(t);
  await setRules(root, {});
  await propose(maker, { kind: "bank_change", bank: bank("Other", "50200010000002") });
  const place = sealedPlaces(service.ctx).find(({ name }) => name === "desks' proposals");
  const [row = assert.fail("nothing is sealed")] = (await place?.list("", 10)) ?? [];
  assert.match(open(row.sealed, row.purpose, service.ctx.sealKey), /50200010000002/);
});
