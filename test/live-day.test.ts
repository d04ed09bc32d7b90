// A day in live as two people have it on the command line, from a new desk to books that come to what
// the bank says.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { rupeesPlain } from "../src/kernel/rupees.ts";
import { bank, firmBody } from "./support/client-firms.ts";
import { commandLine } from "./support/cli.ts";
import { assertLedgerSound } from "./support/ledger.ts";
import { startService } from "./support/service.ts";

const asha = ["--operator", "asha"];
const ravi = ["--operator", "ravi"];
const facePaise = 30_000_000;

test("a day in live: from a new desk to books that come to what the bank says", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const settings = { TWO_OPERATORS_FROM_PAISE: "25000000" };
  const { run, dataDir } = await commandLine(t, service, settings);
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, `${words.join(" ")}: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  };
  /** What asha proposes and ravi approves. */
  const byTwo = async (...words: string[]) => {
    const ran = await run(...words, ...asha, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    const [waiting] = await ok("approvals", "list");
    assert.ok(waiting, `${words.join(" ")} waits for a second person`);
    assert.equal((await run("approvals", "approve", waiting.approval_id, ...asha)).code, 1);
    return await ok("approvals", "approve", waiting.approval_id, ...ravi);
  };
  const confirmAll = async (...words: string[]) => {
    for (const { inquiry_id } of await ok("registry", "list", "--env", "live")) {
      await ok("registry", "confirm", inquiry_id, "--reference", "TICKET-1", ...words, ...asha);
    }
  };

  /** A desk with a client that customs and the bank know, and that has signed its mandate. */
  const openDesk = async (name: string, accountNo: string) => {
    const desk = ["--firm", `${name} Desk`, "--env", "live", "--plan", "desk", "--buy"];
    const { api_key: key } = await ok("keys", "issue", ...desk, ...asha);
    const body = firmBody({ legal_name: name, role: "both", bank: bank(name, accountNo) });
    const firm = (await send("POST", "/v1/firms", { key, body, expect: 201 })).body;
    const firmId = firm.firm_id as string;
    await ok("firms", "verify", firmId, ...asha);
    await confirmAll();
    const mandate = ["--signatory", "R. Mehta", "--reference", "M-1", "--until", "2099-03-31"];
    await ok("firms", "authorize", firmId, ...mandate, ...asha);
    return { key, firmId };
  };
  const seller = await openDesk("Shree Exports Limited", "50200011110001");
  const buyer = await openDesk("Bharat Imports Limited", "50200011110002");

  const card = ["rates", "publish", "--env", "live", "--scheme", "RODTEP"];
  await ok(...card, "--mid", "9850", ...asha);
  await byTwo(...card, "--mid", "9700");

  const credit = {
    scrip_no: "0123/RODTEP/7001",
    scheme: "RODTEP",
    face_paise: facePaise,
    issued_on: "2026-10-01",
    expires_on: "2028-09-30",
  };
  const path = `/v1/firms/${seller.firmId}/credits`;
  await send("POST", path, { key: seller.key, body: { credits: [credit] }, expect: 200 });
  for (const { inquiry_id } of await ok("registry", "list", "--env", "live")) {
    const held = ["--held", "yes", "--reference", "ICEGATE-1"];
    await byTwo("registry", "confirm", inquiry_id, ...held);
  }

  const deal = async (key: string, body: object, firm: { firm_id?: string } = {}) => {
    const quote = (await send("POST", "/v1/quote", { key, body, expect: 200 })).body;
    assert.ok(quote.quote_ref, JSON.stringify(quote));
    const order = { quote_ref: quote.quote_ref, ...firm };
    const placed = (await send("POST", "/v1/orders", { key, body: order, expect: 201 })).body;
    return { settlementId: placed.settlement_id as string, paise: placed.all_in_paise as number };
  };
  const settle = async (settlementId: string, reference: string) => {
    await service.work();
    await byTwo("settlements", "confirm-transfer", settlementId, "--reference", reference);
    const [{ status }] = await ok("settlements", "list", "--env", "live", "--limit", "1");
    assert.equal(status, "settled");
  };
  const sale = await deal(seller.key, { side: "sell", scrip_no: credit.scrip_no });
  await settle(sale.settlementId, "ICEGATE-2");
  await service.work();

  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: facePaise };
  const purchase = await deal(buyer.key, wanted, { firm_id: buyer.firmId });
  let balancePaise = 500_000_000;
  const statement = async (name: string, line: (string | number)[]) => {
    const [utr, words, paise, remitter = ""] = line as [string, string, number, string?];
    balancePaise += paise;
    const amount = rupeesPlain(Math.abs(paise));
    const sides = paise < 0 ? [amount, ""] : ["", amount];
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    const row = ["16/11/2026", utr, words, ...sides, rupeesPlain(balancePaise), remitter, ""];
    const file = join(dataDir, name);
    await writeFile(file, `${heading}\n${row.join(",")}\n`);
    return file;
  };
  const money = ["HDFCR52026970000001", purchase.settlementId, purchase.paise];
  const paidIn = await statement("paid-in.csv", [...money, "BHARAT IMPORTS LIMITED"]);
  await byTwo("bank", "import", paidIn);
  await settle(purchase.settlementId, "ICEGATE-3");

  const preview = await ok("payouts", "file", "--preview");
  assert.equal(preview.at(-1).amount_paise, sale.paise);
  const made = await byTwo("payouts", "file", "--out", dataDir);
  const written = await ok("payouts", "file", "write", made.file_id, "--out", dataDir, ...asha);
  assert.match(await readFile(written.path, "utf8"), /50200011110001/);
  const { lines } = await ok("payouts", "file", "show", made.file_id);
  const left = ["HDFCR52026970000002", lines[0].reference, -sale.paise];
  const answer = await ok("bank", "import", await statement("answer.csv", left), ...ravi);
  assert.deepEqual([answer.outcome, answer.matched, answer.queued], ["applied", 1, 0]);
  const [payout] = await ok("payouts", "list", "--env", "live");
  assert.deepEqual([payout.status, payout.utr], ["paid", "HDFCR52026970000002"]);

  const { differences, ...reconciled } = await ok("bank", "reconcile");
  assert.deepEqual(reconciled, {
    as_of: "2026-11-16",
    bank_paise: balancePaise,
    books_paise: balancePaise - 500_000_000,
    difference_paise: 500_000_000,
    unexplained_paise: 0,
    queued: 0,
  });
  assert.deepEqual(differences, [
    { what: "on the account before the first statement", paise: 500_000_000 },
  ]);
  const { rows } = await service.ctx.db.pool.query(
    "select distinct actor_id from audit_records where actor_kind = 'operator' order by 1",
  );
  assert.deepEqual(
    rows.map(({ actor_id }) => actor_id),
    ["asha", "ravi"],
    "every act names its person",
  );
  await assertLedgerSound(service);
});
