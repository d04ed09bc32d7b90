// The day of payments by the operators' API: the same use cases as on the command line, by people who
// are signed in.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { OperatorRole } from "../../src/kernel/actor.ts";
import { rupeesPlain } from "../../src/kernel/money.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { listPayouts, readBalance } from "../support/settlements.ts";

test("people pay by file and import the bank's answer through the API, and each act names its person", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const root = await addPerson(service, { name: "root", role: "admin" });
  const other = await addPerson(service, { name: "other", role: "admin", by: [root] });
  const signedIn = async (name: string, role: OperatorRole) => {
    const person = await addPerson(service, { name, role, by: [root, other] });
    return await person.signIn();
  };
  const asha = await signedIn("asha", "settlement");
  const ravi = await signedIn("ravi", "settlement");
  const call = async (
    { token }: { readonly token: string },
    method: "GET" | "POST",
    path: string,
    body?: object,
    expect = 200,
  ) => (await send(method, path, { headers: asBearer(token), body, expect })).body;
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000, 9_000_000);

  const preview = await call(asha, "GET", "/ops/payout-files/preview?environment=live");
  assert.equal(preview.files[0].amount_paise, 13_000_000);
  const format = {
    name: "first-bank",
    has_header: false,
    columns: [
      { header: "to", field: "account_no" },
      { header: "at", field: "ifsc" },
      { header: "sum", field: "amount_paise" },
      { header: "ref", field: "reference" },
    ],
  };
  const short = { ...format, columns: format.columns.slice(1) };
  await call(asha, "POST", "/ops/payout-files", { environment: "live", format: short }, 422);
  const made = await call(asha, "POST", "/ops/payout-files", { environment: "live", format });
  const fileId = made.payout_files[0].file_id as string;
  const bytes = await call(asha, "POST", `/ops/payout-files/${fileId}/bytes`, {});
  const file = await call(ravi, "GET", `/ops/payout-files/${fileId}`);
  const { reference } = file.lines[0];
  assert.equal(bytes.text, `${seller.accountNo},HDFC0000001,13000000,${reference}\r\n`);
  assert.ok(!JSON.stringify(file).includes(seller.accountNo));

  const rows = [
    ["HDFCR52026990000001", reference, -13_000_000, ""],
    ["HDFCR52026990000002", seller.firmId, 70_000, seller.name],
    ["HDFCR52026990000003", "who knows", 5_000, "Nobody"],
  ] as const;
  let balance = 50_000_000;
  const lines = rows.map(([utr, words, paise, name]) => {
    balance += paise;
    const direction = paise < 0 ? "DR" : "CR";
    return [
      `16-11-2026,${utr},${words}`,
      rupeesPlain(Math.abs(paise)),
      direction,
      rupeesPlain(balance),
      name,
    ].join(",");
  });
  const text = ["Day,Ref,Text,Amount,Dir,Balance,Name", ...lines].join("\n");
  const headings = {
    name: "first-bank",
    day: "Day",
    reference: "Ref",
    narration: "Text",
    amount: "Amount",
    direction: "Dir",
    balance: "Balance",
    remitter_name: "Name",
  };
  const upload = { content_base64: Buffer.from(text).toString("base64"), format: headings };
  const notText = { content_base64: Buffer.from([0xff, 0xfe, 0xc0]).toString("base64") };
  await call(asha, "POST", "/ops/bank/statements", notText, 422);
  const imported = await call(asha, "POST", "/ops/bank/statements", upload);
  assert.deepEqual([imported.outcome, imported.matched, imported.queued], ["applied", 2, 1]);
  assert.equal((await call(ravi, "POST", "/ops/bank/statements", upload)).outcome, "known");
  for (const { status } of await listPayouts(service, seller)) assert.equal(status, "paid");
  assert.equal((await readBalance(service, seller, "live")).available_paise, 70_000);

  const [queued] = (await call(asha, "GET", "/ops/bank/queue")).lines;
  assert.equal(queued.reason, "no_reference");
  assert.deepEqual(queued.allowed_actions, ["assign", "return"]);
  const path = `/ops/bank/queue/${queued.line_id}/assign`;
  const assigned = await call(asha, "POST", path, { to: seller.firmId, reason: "their letter" });
  assert.equal(assigned.outcome, "assigned");
  await call(asha, "POST", path, { to: "house", reason: "again" }, 409);
  const { allowed_actions: left } = await call(asha, "GET", `/ops/bank/lines/${queued.line_id}`);
  assert.deepEqual(left, ["undo"]);
  const reconciled = await call(ravi, "GET", "/ops/bank/reconciliation");
  assert.deepEqual([reconciled.unexplained_paise, reconciled.bank_paise], [0, balance]);
  const viewer = await signedIn("vera", "viewer");
  await call(viewer, "POST", "/ops/bank/statements", upload, 403);
  await call(viewer, "GET", "/ops/bank/queue", undefined, 403);
  await call(viewer, "GET", "/ops/bank/reconciliation");
  await assertLedgerSound(service);
});
