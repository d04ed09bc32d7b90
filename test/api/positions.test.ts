import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAbsent, checkDoors } from "../support/doors.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { type Answer, startService } from "../support/service.ts";

test("positions", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertLedgerSound(service));
  const positions = async (key: string, query = ""): Promise<Answer["body"]> =>
    (await service.send("GET", `/v1/positions${query}`, { key, expect: 200 })).body;

  await t.test("the route checks key, scope, rate and body", async (t) => {
    await checkDoors(t, service, [{ method: "GET", path: "/v1/positions", scope: "orders:read" }]);
  });

  await t.test("the position of a desk without credits is empty", async () => {
    const { key } = await dealer(service, []);
    const { as_of, ...rest } = await positions(key);
    assert.match(as_of, /\+05:30$/);
    assert.deepEqual(rest, {
      firm_id: null,
      schemes: [],
      cash: {
        available_paise: 0,
        escrow_paise: 0,
        pending_in_paise: 0,
        pending_out_paise: 0,
        dues_paise: 0,
      },
      version: 1,
    });
  });

  await t.test("every held credit is available, reserved or in settlement", async () => {
    const { key, post, scripNos } = await dealer(service, [
      { facePaise: 10_000_000 },
      { facePaise: 20_000_000, expiresOn: "2026-12-20" },
      { facePaise: 40_000_000 },
      { facePaise: 80_000_000, state: "suspended" },
      { facePaise: 160_000_000, state: "transferred" },
    ]);
    await post("/v1/orders", { side: "sell", scrip_no: scripNos[2], limit_bps: 9_990 }, 201);
    const { schemes, version } = await positions(key);
    assert.deepEqual(schemes, [
      {
        scheme: "RODTEP",
        count: 3,
        held_paise: 70_000_000,
        available_paise: 30_000_000,
        reserved_paise: 40_000_000,
        in_settlement_paise: 0,
        expiring_30_paise: 0,
        expiring_60_paise: 20_000_000,
        expiring_90_paise: 20_000_000,
        shown_by_customs_paise: 0,
        shown_from: null,
      },
    ]);
    assert.equal(version, 2);
  });

  await t.test("a sale shows as incoming money", async () => {
    const { key, post, scripNo } = await dealer(service);
    const { body } = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
    const { cash } = await positions(key);
    assert.equal(cash.pending_in_paise, body.all_in_paise);
    assert.equal(cash.available_paise, 0);
  });

  await t.test(
    "a firm's position has its own credits only, and another desk's firm is not found",
    async () => {
      await stockHouse(service.ctx, [{ face_paise: 5_000_000 }]);
      const one = await dealer(service);
      const other = await dealer(service);
      const own = await positions(one.key, `?firm_id=${one.firmId}`);
      assert.equal(own.firm_id, one.firmId);
      assert.equal(own.schemes[0].held_paise, 25_000_000);
      const { key } = one;
      await assertAbsent([
        service.send("GET", `/v1/positions?firm_id=${other.firmId}`, { key }),
        service.send("GET", "/v1/positions?firm_id=frm_01jd2m7q4x8r5v6w9y0abcdefg", { key }),
      ]);
      const child = await mintChild(service, key, {
        kind: "sub_account",
        firm_id: one.firmId,
        scopes: ["orders:read"],
      });
      assert.equal((await positions(child.api_key)).firm_id, one.firmId);
    },
  );
});
