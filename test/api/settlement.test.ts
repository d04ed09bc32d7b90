import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLedgerSound } from "../support/ledger.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  balanceOf,
  buyerPaise,
  holdingsOf,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  sellerPaise,
} from "../support/settlements.ts";

test("quick", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const a = await addCredit(service, seller);
  const one = await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo: a }] });
  const b = await addCredit(service, seller);
  const c = await addCredit(service, house(), "0409");
  const d = await addCredit(service, house());
  const two = await makeDeal(service, {
    buyer,
    legs: [
      { seller, scripNo: b },
      { seller: house(), scripNo: c },
      { seller: house(), scripNo: d },
    ],
  });
  await letSettle(service, 6);
  for (const id of [one, two])
    console.log(
      (
        await service.ctx.db.pool.query(
          "select state, history, reason from settlements where settlement_id=$1",
          [id],
        )
      ).rows,
      (
        await service.ctx.db.pool.query(
          "select scrip_no, state, reason from settlement_legs where settlement_id=$1",
          [id],
        )
      ).rows,
    );
  console.log((await service.ctx.db.pool.query("select * from payouts")).rows);
  console.log(
    await balanceOf(service, seller),
    await balanceOf(service, buyer),
    sellerPaise,
    buyerPaise,
  );
  for (const x of [a, b, c, d]) console.log(await holdingsOf(service, x));
  await assertLedgerSound(service);
  assert.ok(true);
});
