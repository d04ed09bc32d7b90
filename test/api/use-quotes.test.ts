import assert from "node:assert/strict";
import { test } from "node:test";

import type { Caller } from "../../src/kernel/caller.ts";
import { lockQuotes, useQuotes } from "../../src/trading/quotes.ts";
import { addFirm } from "../support/holdings.ts";
import { type Service, startService } from "../support/service.ts";

/** A caller of a new desk, and quotes of it. */
async function makeQuotes(service: Service, count: number) {
  const issued = await service.issue();
  const body = { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 };
  const quotes = Array.from({ length: count }, async () => {
    const answer = await service.send("POST", "/v1/quote", { key: issued.api_key, body });
    return answer.body.quote_ref as string;
  });
  const caller: Caller = {
    keyId: issued.key_id,
    rootKeyId: issued.key_id,
    kind: "root",
    environment: "sandbox",
    firmId: issued.firm_id,
    deskId: issued.firm_id,
    scopes: ["*"],
    buySide: true,
    withdrawals: true,
    confined: false,
  };
  return { caller, key: issued.api_key, refs: await Promise.all(quotes) };
}

test("quotes are found by their own desk and firm, in the order of the request", async (t) => {
  const service = await startService(t);
  const mine = await makeQuotes(service, 3);
  const other = await makeQuotes(service, 1);
  const sibling = await addFirm(service, { deskId: mine.caller.deskId });
  const sub: Caller = { ...mine.caller, kind: "sub_account", firmId: sibling };
  const [first = "", second = "", third = ""] = mine.refs;
  const asked = [
    { caller: mine.caller, quoteRef: third },
    { caller: mine.caller, quoteRef: other.refs[0] ?? "" },
    { caller: mine.caller, quoteRef: first },
    { caller: sub, quoteRef: second },
    { caller: mine.caller, quoteRef: "nothing" },
    { caller: mine.caller, quoteRef: third },
  ];
  const found = await service.ctx.db.transaction(async (tx) => await tx.run(lockQuotes(asked)));
  assert.deepEqual(
    found.map((quote) => quote?.quote_ref),
    [third, undefined, first, undefined, undefined, third],
  );
});

test("a quote is used once, in a set and between transactions", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const { caller, key, refs } = await makeQuotes(service, 2);
  const [first = "", second = ""] = refs;
  const inSet = [
    { quoteRef: first, orderId: "ord_1" },
    { quoteRef: first, orderId: "ord_2" },
  ];
  const bound = await db.transaction(async (tx) => await tx.run(useQuotes(inSet)));
  assert.deepEqual([...bound], [0]);

  const rivals = Array.from({ length: 20 }, async (_, at) => {
    const uses = [{ quoteRef: second, orderId: `ord_${at}` }];
    return await db.transaction(async (tx) => {
      const [locked] = await tx.run(lockQuotes([{ caller, quoteRef: second }]));
      const won = await tx.run(useQuotes(uses));
      assert.equal(won.has(0), locked?.order_id === null, "what was locked holds");
      return won.size;
    });
  });
  const wins = await Promise.all(rivals);
  assert.equal(
    wins.reduce((sum, won) => sum + won, 0),
    1,
  );

  const { body } = await service.send("GET", `/v1/quotes/${first}`, { key, expect: 200 });
  assert.deepEqual(
    [body.status, body.order_id, body.version, body.allowed_actions],
    ["used", "ord_1", 2, []],
  );
});

test("a transaction that is rolled back uses nothing", async (t) => {
  const service = await startService(t);
  const { refs } = await makeQuotes(service, 1);
  const uses = [{ quoteRef: refs[0] ?? "", orderId: "ord_1" }];
  const use = async (rollBack: boolean) =>
    await service.ctx.db.transaction(async (tx) => (await tx.run(useQuotes(uses))).size, {
      rollBack,
    });
  assert.deepEqual([await use(true), await use(false), await use(false)], [1, 1, 0]);
});
