// The month's pack: whatever a month was made of, each total of the registers is what the ledger has, and a
// register that is wrong is found.

import assert from "node:assert/strict";
import { test } from "node:test";

import { unzipSync } from "fflate";

import { makeMonthPack } from "../../src/accounts/month-pack.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { noFee } from "../../src/kernel/money.ts";
import { istDay, istMonth } from "../../src/kernel/time.ts";
import { onThisThread } from "../../src/platform/heavy/kinds.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { commandLine } from "../support/cli.ts";
import { asOwner } from "../support/database.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { type Random, startRandom } from "../support/random.ts";
import { type Service, startService } from "../support/service.ts";
import { readXlsx } from "../support/xlsx.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";
import { newId } from "../../src/kernel/ids.ts";

const environment = "sandbox";
const asha = namedOperator("asha");

/** Twenty deals of every kind in an order that the seed draws, some reversed; taxes begin on the way. */
async function liveThroughMonth(service: Service, random: Random): Promise<void> {
  const { ctx } = service;
  const desks: TestDesk[] = [];
  for (const state of ["27", "29", null]) {
    const desk = await openTestDesk(service);
    const gstin = state === null ? null : `${state}AAGCB7383J1Z4`;
    await ctx.db.pool.query("update firms set gstin = $2 where firm_id = $1", [desk.firmId, gstin]);
    await payIn(service, desk.firmId, 40 * buyerPaise);
    desks.push(desk);
  }
  for (let deal = 0; deal < 20; deal++) {
    if (deal === 5) {
      const from = istDay(ctx.now());
      const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
      const tds = { section: "194Q", rate_bps: 10, threshold_paise: 60_000_000 };
      await setTax(ctx, asha, { environment, line: "gst", from, rate: gst });
      const rate = { ...tds, with_crosses: false };
      await setTax(ctx, asha, { environment, line: "tds", from, rate });
    }
    // Two of each kind stay, whatever is drawn.
    const isDrawn = deal >= 8;
    const kind = isDrawn ? random.below(4) : deal % 4;
    const seller = kind === 0 ? house() : random.pick(desks);
    const others = desks.filter(({ firmId }) => firmId !== seller.firmId);
    const client = random.pick(others);
    const buyer = kind === 1 ? house() : client;
    const fee = { feePaise: random.below(6_000), gstPaise: 0 };
    const taxed = { ...fee, gstPaise: Math.round(fee.feePaise * 0.18) };
    const fees = {
      buyer: kind === 1 ? noFee : taxed,
      seller: kind === 0 ? noFee : taxed,
    };
    const id = await makeDeal(service, {
      buyer,
      legs: [
        { seller, scripNo: await addCredit(service, seller), fees },
        { seller, scripNo: await addCredit(service, seller), fees },
      ],
      ...(kind === 3 && { origin: newId("crs", ctx.now()) }),
    });
    if (deal % 2 === 1) await letSettle(service);
    if (isDrawn && kind !== 3 && random.below(10) < 3) {
      if (deal % 2 === 0) await letSettle(service);
      for (const name of ["asha", "ravi"]) {
        const reversal = { settlementId: id, reason: "wrong" };
        await reverseSettlement(ctx, namedOperator(name), reversal).catch(() => undefined);
      }
    }
  }
  await letSettle(service);
}

test("every total of a random month ties to the ledger, and one that is wrong does not", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const period = istMonth(ctx.now());
  await liveThroughMonth(service, startRandom(t));
  await assertLedgerSound(service);
  const make = () => makeMonthPack({ ...ctx, heavy: onThisThread }, { environment, period });
  const pack = await make();
  assert.deepEqual(
    pack.ties.filter(({ ties }) => !ties),
    [],
  );
  const amounts = new Map(pack.ties.map(({ total, register_paise }) => [total, register_paise]));
  for (const total of ["sales", "purchases", "fees", "CGST", "IGST", "TDS", "bills of supply"]) {
    assert.notEqual(amounts.get(total), 0, total);
  }
  const unpacked = Object.entries(unzipSync(pack.content));
  const files = unpacked.map(([name]) => name.split("/")[1] ?? "");
  for (const [name, column, total] of [
    ["sales", "value_rupees", "sales"],
    ["purchases", "value_rupees", "purchases"],
    ["fees", "igst_rupees", "IGST"],
    ["deductions", "tax_rupees", "TDS"],
  ] as const) {
    const [, bytes] = unpacked.find(([path]) => path.endsWith(`/${name}.xlsx`)) ?? assert.fail();
    const { rows } = readXlsx(Buffer.from(bytes));
    const sum = rows.at(-1) ?? assert.fail();
    assert.equal(sum["date"]?.value, "Total");
    assert.equal(Number(sum[column]?.value), Number(amounts.get(total)) / 100, name);
    const places = rows.flatMap((row) => row["place_of_supply"]?.value ?? []);
    assert.ok(
      places.every((place) => /^\d\d [A-Z][a-z]+/.test(place)),
      places.join(),
    );
  }
  assert.deepEqual(
    new Set(files),
    new Set([
      "READ-ME.txt",
      "bank-ledger.xlsx",
      "deductions.xlsx",
      "fees.xlsx",
      "gstr1-draft.json",
      "house-ledger.xlsx",
      "purchases.xlsx",
      "sales.xlsx",
      "tally.xml",
      "ties.xlsx",
      "trial-balance.xlsx",
    ]),
  );
  if (process.env["PACK_OUT"] !== undefined) {
    await (await import("node:fs/promises")).writeFile(process.env["PACK_OUT"], pack.content);
  }
  // A GSTIN that changes later changes no paper.
  await ctx.db.pool.query("update firms set gstin = null");
  const later = await make();
  const draft = `${period}/gstr1-draft.json`;
  assert.deepEqual(unzipSync(later.content)[draft], unzipSync(pack.content)[draft]);
  // A month without anything is a pack, too.
  const { ties } = await makeMonthPack(
    { ...ctx, heavy: onThisThread },
    { environment, period: "2020-01" },
  );
  assert.ok(ties.every((tie) => tie.ties));

  for (const [wrong, total] of [
    [
      "update settlement_legs set buyer_fee_paise = buyer_fee_paise + 1 where buyer_fee_paise > 0",
      "fees",
    ],
    ["update settlement_legs set seller_paise = seller_paise + 1", "purchases"],
    ["update bills_of_supply set value_paise = value_paise + 1", "bills of supply"],
    ["update leg_taxes set tds_paise = tds_paise + 1 where tds_paise > 0", "TDS"],
  ] as const) {
    await asOwner(ctx.db, async (owner) => {
      await owner.query("set session_replication_role = replica");
      await owner.query(wrong);
    });
    const spoiled = await make();
    assert.ok(
      spoiled.ties.some((tie) => tie.total === total && !tie.ties),
      `${total} is found after: ${wrong}`,
    );
  }
});

test("operators get the pack by the command and by their API", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  await makeDeal(service, {
    buyer: house(),
    legs: [{ seller, scripNo: await addCredit(service, seller) }],
  });
  await letSettle(service);
  const period = istMonth(service.ctx.now());
  const { run, dataDir } = await commandLine(t, service);
  const out = `${dataDir}/pack.zip`;
  const words = ["accounts", "pack", "--env", "sandbox", "--period", period, "--out", out];
  const done = await run(...words, "--json");
  assert.equal(done.code, 0, done.stderr);
  assert.equal(JSON.parse(done.stdout).loose, 0);
  assert.match((await run(...words.with(5, "2026-13"))).stderr, /must be a month/);
  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const { token } = await person.signIn();
  const response = await fetch(`${ops.url}/ops/accounts/${period}/pack?environment=sandbox`, {
    headers: asBearer(token),
  });
  const { name, content, ties } = (await response.json()) as {
    name: string;
    content: string;
    ties: { total: string; register_paise: number }[];
  };
  assert.equal(name, `accounts-sandbox-${period}.zip`);
  assert.ok(Object.keys(unzipSync(Buffer.from(content, "base64"))).length > 0);
  assert.equal(ties.find(({ total }) => total === "purchases")?.register_paise, sellerPaise);
});
