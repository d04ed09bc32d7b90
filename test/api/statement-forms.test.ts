// How a bank writes its statements is saved by name, and a file is looked at before it is imported.

import assert from "node:assert/strict";
import { test } from "node:test";

import { findStatementForm, saveStatementForm } from "../../src/bankforms/forms.ts";
import { importStatement, previewStatement } from "../../src/bankbook/import-statement.ts";
import { genericStatement, parseStatementFormat } from "../../src/bankbook/read-statement.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { squeezed, statement } from "../support/bank.ts";
import { buildXlsx } from "../support/build-xlsx.ts";
import { liveSeller } from "../support/live-sales.ts";
import { startService } from "../support/service.ts";
import { readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const live = { environment: "live" } as const;
const form = {
  name: "first-bank",
  day: "Txn Date",
  reference: "Ref No",
  narration: "Particulars",
  amount: "Amount",
  sign: "debit_is_negative",
  day_form: "MDY",
  remitter_name: "Counterparty",
  remitter_account: "Counterparty A/C",
} as const;

test("a saved form reads a workbook with a title, signed amounts and months first", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await saveStatementForm(service.ctx, asha, form);
  const format = await findStatementForm(service.ctx.db, "first-bank");
  const note = `RTGS ${squeezed(seller.firmId)}`;
  const text = buildXlsx([
    {
      rows: [
        ["Mint House LLP, account 50200012345678"],
        ["Txn Date", "Ref No", "Particulars", "Amount", "Counterparty", "Counterparty A/C"],
        ["11/15/2026", "HDFCR52026111500001", note, 250_000.5, seller.name, seller.accountNo],
        ["11/15/2026", "HDFCR52026111500002", "CHARGES", -118, "", ""],
      ],
    },
  ]);
  const { matched, queued, results } = await importStatement(service.ctx, asha, {
    ...live,
    text,
    format,
  });
  assert.deepEqual([matched, queued], [1, 1]);
  assert.deepEqual(
    results.map(({ day, direction, paise }) => [day, direction, paise]),
    [
      ["2026-11-15", "credit", 25_000_050],
      ["2026-11-15", "debit", 11_800],
    ],
  );
  assert.equal((await readBalance(service, seller, "live")).available_paise, 25_000_050);
});

test("a preview tells matches, duplicates and the queue as the import then does, and stores nothing", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const own = { name: seller.name, account: seller.accountNo };
  const text = `FOR ${squeezed(seller.firmId)}`;
  const first = { utr: "HDFCR52026111500001", text, paise: 300_000, ...own };
  const stranger = { utr: "HDFCR52026111500002", text: "GIFT", paise: 70_000, name: "A Stranger" };
  await importStatement(service.ctx, asha, { ...live, text: statement(0, [first]) });
  const asked = { ...live, text: statement(0, [first, stranger]), format: genericStatement };
  const count = async () => {
    const { rows } = await service.ctx.db.pool.query("select count(*)::int as n from bank_lines");
    return rows[0].n as number;
  };
  const before = await count();
  const preview = await previewStatement(service.ctx, asha, asked);
  assert.equal(await count(), before);
  assert.deepEqual(
    preview.results.map(({ status, reason, remitter_name }) => [status, reason, remitter_name]),
    [
      ["repeated", "counted_before", seller.name],
      ["queued", "no_reference", "A Stranger"],
    ],
  );
  assert.deepEqual([preview.known, preview.incoming_paise, preview.people], [false, 0, 1]);
  const imported = await importStatement(service.ctx, asha, asked);
  assert.deepEqual(
    imported.results.map(({ status, reason }) => [status, reason]),
    preview.results.map(({ status, reason }) => [status, reason]),
  );
  assert.equal((await previewStatement(service.ctx, asha, asked)).known, true);
});

test("a form has one way to say what came and what left, and nobody replaces the generic one", async (t) => {
  const refused = (value: unknown) => assert.throws(() => parseStatementFormat(value), Failure);
  refused({ ...form, direction: "Cr/Dr" });
  refused({ ...form, sign: "upside_down" });
  refused({ ...form, day_form: "DYM" });
  refused({ ...form, amount: undefined });
  const service = await startService(t);
  await assert.rejects(saveStatementForm(service.ctx, asha, { ...form, name: "generic" }), Failure);
  await assert.rejects(findStatementForm(service.ctx.db, "other-bank"), Failure);
});
