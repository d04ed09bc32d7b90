import assert from "node:assert/strict";
import { test } from "node:test";

import { putCard } from "../support/dealing-house.ts";
import { startService } from "../support/service.ts";

test("each quote of a batch is answered as if it were asked for alone, and the batch counts as one call", async (t) => {
  const service = await startService(t);
  await putCard(service, {});
  const { api_key: key } = await service.issue();
  const quotes = [
    { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 },
    { side: "sell", scheme: "RODTEP" },
    { side: "sell", scrip_no: "NOBODYS/1" },
    { side: "sell", scheme: "RODTEP", face_paise: 25_000_000, colour: "red" },
    "no object",
  ];
  const before = await service.send("GET", "/v1/whoami", { key });
  const { body, headers } = await service.send("POST", "/v1/quotes:batch", {
    key,
    body: { quotes },
    expect: 200,
  });
  const used = (told: Headers) => Number(told.get("x-ratelimit-quota-used"));
  assert.equal(used(headers), used(before.headers) + 1);
  assert.deepEqual([body.quoted, body.failed], [1, 4]);
  for (const [index, quote] of quotes.entries()) {
    const alone = await service.send("POST", "/v1/quote", { key, body: quote });
    const result = body.results[index];
    assert.equal(result.index, index);
    assert.equal(result.ok, alone.status === 200);
    if (index < 4) assert.equal(result.status, alone.status);
    assert.equal(result.valid_until, alone.headers.get("x-quote-valid-until"));
    if (result.ok) {
      assert.equal(result.quote.price_bps, alone.body.price_bps);
      await service.send("GET", `/v1/quotes/${result.quote.quote_ref}`, { key, expect: 200 });
    }
  }
});

test("a batch holds at least one quote and at most 200, and needs the scope of a quote", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const one = { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 };
  const ask = async (count: number, by = key) =>
    (
      await service.send("POST", "/v1/quotes:batch", {
        key: by,
        body: { quotes: Array.from({ length: count }, () => one) },
      })
    ).status;
  assert.equal(await ask(0), 422);
  assert.equal(await ask(201), 400);
  assert.equal(await ask(200), 200);
  const reader = await service.issue({ scopes: ["orders:read"] });
  assert.equal(await ask(1, reader.api_key), 403);
});
