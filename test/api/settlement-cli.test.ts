import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { giveConfirmedAccount } from "../support/accounts.ts";
import { commandLine } from "../support/cli.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  listPayouts,
  makeDeal,
  openTestDesk,
  readSettlement,
  sellerPaise,
} from "../support/settlements.ts";

const environment = "live";

test("operators take live deals from funding to payout on the command line", async (t) => {
  const service = await startService(t);
  const { run, dataDir } = await commandLine(t, service);
  const seller = await openTestDesk(service, environment);
  const buyer = await openTestDesk(service, environment);
  await giveConfirmedAccount(service.ctx, { firmId: seller.firmId, accountNo: "50200012345678" });
  const deal = async (to: { deskId: string; firmId: string }, count = 1, paise = sellerPaise) => {
    const legs = [];
    for (let leg = 0; leg < count; leg++) {
      const scripNo = await addCredit(service, seller);
      legs.push({ seller, scripNo, sellerPaise: paise, buyerPaise: paise });
    }
    const settlementId = await makeDeal(service, { environment, buyer: to, legs });
    return { settlementId, scripNos: legs.map(({ scripNo }) => scripNo) };
  };
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout);
  };
  const readStatus = async (id: string) => (await readSettlement(service, seller, id)).status;
  const csv = async (...lines: string[]): Promise<string> => {
    const file = join(dataDir, "rows.csv");
    await writeFile(file, `${lines.join("\n")}\n`);
    return file;
  };
  const utr = (number: number) => `HDFCR5202611150${String(number).padStart(4, "0")}`;

  await t.test(
    "settlements are listed with whom they wait for, and funded by reference",
    async () => {
      const { settlementId } = await deal(buyer);
      const [listed] = await ok("settlements", "list", "--env", environment, "--status", "pending");
      assert.equal(listed.settlement_id, settlementId);
      assert.equal(listed.waiting_on, "buyer");
      assert.equal((await run("settlements", "fund", settlementId)).code, 2);
      assert.equal((await run("settlements", "fund", settlementId, "--reference", "x")).code, 2);
      const funded = await ok("settlements", "fund", settlementId, "--reference", utr(1));
      assert.deepEqual(funded, { answered: 1 });
      assert.equal((await run("settlements", "fund", settlementId, "--reference", utr(2))).code, 1);
      const shown = await ok("settlements", "show", settlementId);
      assert.equal(shown.status, "funded");
      assert.equal(shown.legs[0].seller_firm_id, seller.firmId);
      assert.equal((await run("settlements", "show", "stl_none")).code, 1);
    },
  );

  await t.test("a deal whose money is attested missing fails", async () => {
    const { settlementId } = await deal(buyer);
    await ok("settlements", "fund", settlementId, "--missing", "--reference", "CALL-7");
    assert.equal(await readStatus(settlementId), "failed");
  });

  await t.test("a file confirms transfers credit by credit, all of it or nothing", async () => {
    const { settlementId, scripNos } = await deal(house(environment), 2);
    await service.work();
    const header = "settlement_id,scrip_no,outcome,reference";
    const lines = [
      `${settlementId},${scripNos[0]},transferred,ICEGATE-1`,
      `${settlementId},${scripNos[1]},refused,ICEGATE-2`,
    ];
    const wrong = await csv(header, ...lines, "stl_none,,transferred,ICEGATE-3");
    assert.equal((await run("settlements", "confirm-transfer", "--csv", wrong)).code, 1);
    assert.equal(await readStatus(settlementId), "funded");
    const right = await csv(header, ...lines);
    assert.deepEqual(await ok("settlements", "confirm-transfer", "--csv", right), { answered: 2 });
    assert.equal(await readStatus(settlementId), "settled");
    const [{ amount_paise: paise }] = await listPayouts(service, seller);
    assert.equal(paise, sellerPaise);
  });

  await t.test("payouts are sent, confirmed, returned and sent again", async () => {
    const [{ payout_id: payoutId }] = await listPayouts(service, seller);
    const latest = async () => (await listPayouts(service, seller))[0];
    assert.equal((await run("payouts", "send", payoutId, "--utr", "short")).code, 1);
    assert.deepEqual(await ok("payouts", "send", payoutId, "--utr", utr(3)), [
      { payout_id: payoutId, outcome: "sent" },
    ]);
    await ok("payouts", "return", payoutId, "--reason", "account_closed");
    assert.equal((await latest()).status, "returned");
    const [again] = await ok("payouts", "resend", payoutId);
    assert.equal(again.resend_of, payoutId);
    const rows = await csv("payout_id,utr", `${again.payout_id},${utr(4)}`);
    await ok("payouts", "send", "--csv", rows);
    await ok("payouts", "confirm", again.payout_id, "--reference", "STATEMENT-15");
    const [listed] = await ok("payouts", "list", "--status", "paid");
    assert.equal(listed.payout_id, again.payout_id);
    assert.equal((await ok("payouts", "show", again.payout_id)).utr, utr(4));
  });

  await t.test("a deposit funds waiting deals, and adding it again changes nothing", async () => {
    const { settlementId } = await deal(buyer);
    const words = ["--env", environment, "--firm", buyer.firmId, "--paise", String(buyerPaise)];
    const add = async () => await ok("deposits", "add", ...words, "--reference", utr(5));
    assert.equal((await add())[0].outcome, "added");
    assert.equal((await add())[0].outcome, "known");
    await service.work();
    assert.equal(await readStatus(settlementId), "funded");
    const begin = ["settlements", "initiated", settlementId, "--reference", "ICEGATE-4"];
    assert.deepEqual(await ok(...begin), { initiated: 1 });
    assert.deepEqual(await ok(...begin), { initiated: 0 }, "it was said before");
    assert.equal(await readStatus(settlementId), "transfer_initiated");
    const ended = ["settlements", "fail", settlementId];
    const refused = await run(...ended);
    assert.match(refused.stderr, /may be open at customs/);
    assert.equal(await readStatus(settlementId), "transfer_initiated");
    assert.deepEqual(await ok(...ended, "--reference", "ICEGATE-5"), { failed: 1 });
    assert.equal(await readStatus(settlementId), "failed");
  });

  await t.test("a reversal and a large payout take a second operator by name", async () => {
    const { settlementId } = await deal(house(environment), 1, 1_000_000_000);
    await service.work();
    await ok("settlements", "confirm-transfer", settlementId, "--reference", "ICEGATE-4");
    const [{ payout_id: payoutId }] = await listPayouts(service, seller);
    const send = async (by: string) =>
      (await ok("payouts", "send", payoutId, "--utr", utr(6), "--operator", by))[0].outcome;
    assert.equal(await send("asha"), "proposed");
    assert.equal(await send("ravi"), "sent");
    await ok("payouts", "confirm", payoutId, "--reference", "STATEMENT-16");
    const words = ["settlements", "reverse", settlementId, "--reason", "forged mandate"];
    assert.equal((await run(...words)).code, 2, "nobody is no operator");
    assert.equal((await ok(...words, "--operator", "asha"))[0].outcome, "proposed");
    assert.equal((await ok(...words, "--operator", "ravi"))[0].outcome, "reversed");
    assert.equal(await readStatus(settlementId), "reversed");
  });
  await assertLedgerSound(service);
});
