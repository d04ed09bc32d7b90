import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { istMonth } from "../../src/kernel/time.ts";
import { commandLine } from "../support/cli.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  face,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
} from "../support/settlements.ts";

const utr = "HDFCN52026120100012345";

test("operators set and pay a desk's commission, and the statement shows it", async (t) => {
  const service = await startService(t);
  const { run, dataDir } = await commandLine(t, service);
  const desk = await openTestDesk(service);
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout);
  };
  const refused = async (line: RegExp, ...words: string[]) => {
    const ran = await run(...words);
    assert.equal(ran.code, 1, ran.stdout);
    assert.match(ran.stderr, line);
  };
  const set = ["desks", "set-commission", "--firm"];
  assert.deepEqual(await ok(...set, desk.deskId, "--bps", "8"), {
    firm_id: desk.deskId,
    legal_name: "Firm 1",
    commission_bps: 8,
    was_bps: 5,
    warning: null,
  });
  const dear = await ok(...set, desk.deskId, "--bps", "100");
  assert.match(dear.warning, /keeps as little as 30 bps of RODTEP deals with the house, 20 bps/);
  await ok(...set, desk.deskId, "--bps", "8");
  await refused(/0 to 100/, ...set, desk.deskId, "--bps", "101");
  await refused(/no desk/, ...set, desk.firmId, "--bps", "8");
  assert.equal((await run(...set, desk.deskId, "--bps", "-1")).code, 2);

  const scripNo = await addCredit(service, desk);
  await makeDeal(service, { buyer: house(), legs: [{ seller: desk, scripNo }] });
  await letSettle(service);
  const earned = (face * 8) / 10_000;
  await ok("ledger", "check");
  const pay = ["desks", "pay-commission", "--firm", desk.deskId, "--utr", utr, "--paise"];
  await refused(new RegExp(`has ${earned} paise`), ...pay, String(earned + 1));
  const paid = { outcome: "paid", firm_id: desk.deskId, paise: 100, utr };
  assert.deepEqual(await ok(...pay, "100"), paid);
  assert.deepEqual(await ok(...pay, "100"), paid);
  await refused(/another payment/, ...pay, "200");

  const period = istMonth(service.clock.now());
  const show = ["statements", "show", desk.deskId, "--period", period];
  const [statement] = await ok(...show);
  assert.equal(statement.closing_paise, earned - 100);
  const printed = await run(...show);
  assert.match(printed.stdout, /payout\s+HDFCN52026120100012345/);
  const pdf = join(dataDir, "statement.pdf");
  const written = await ok(...show, "--format", "pdf", "--out", pdf);
  assert.deepEqual(written, {
    file: pdf,
    status: "running",
    lines: 2,
    closing_paise: earned - 100,
  });
  const [page] = await parsePdfPages(await readFile(pdf));
  assert.ok(page?.text.includes(utr));
  const csv = join(dataDir, "statement.csv");
  await ok(...show, "--out", csv);
  assert.match(await readFile(csv, "utf8"), /,commission,/);
  await refused(/not found|no such/i, "statements", "show", desk.deskId, "--period", "1999-01");
  assert.equal((await run(...show, "--format", "xml")).code, 2);
  await assertLedgerSound(service);
});
