// What the house takes on in a day is bounded by what it has taken and what its open quotes may take.

import assert from "node:assert/strict";
import { test } from "node:test";

import { putCard } from "../support/dealing-house.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { dealer } from "../support/orders.ts";
import { type Answer, type Send, startService } from "../support/service.ts";

const lakh = 10_000_000;
const crore = 100 * lakh;
const limit = { house_limit_paise: crore, desk_share_bps: 10_000 };
const none = { no_quote: true, reason: "size_unavailable" };

type Desk = Awaited<ReturnType<typeof dealer>>;

async function quote({ post, scripNo }: Desk, headers = {}): Promise<Answer["body"]> {
  return (await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200, headers)).body;
}

test("open quotes of the house stay within its day limit", async (t) => {
  const service = await startService(t);
  await putCard(service, limit);
  const desks = [];
  for (let at = 0; at < 6; at++) desks.push(await dealer(service, [{ facePaise: 80 * lakh }]));
  const quotes = [];
  for (const desk of desks) quotes.push(await quote(desk));
  assert.deepEqual(
    quotes.slice(1),
    [1, 2, 3, 4, 5].map(() => none),
  );
  await desks[0]?.post("/v1/orders", { quote_ref: quotes[0].quote_ref }, 201);
  const rest = await dealer(service, [{ facePaise: 20 * lakh }, { facePaise: 1 }]);
  assert.ok((await quote(rest)).quote_ref, "what was used is taken, and no longer open");
  const over = { side: "sell", scheme: "RODTEP", face_paise: lakh };
  assert.deepEqual((await rest.post("/v1/quote", over, 200)).body, none);
  await assertOrdersSound(service);
});

test("the day limit holds for concurrent quotes of two processes", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await putCard(service, limit);
  const face = 3 * lakh;
  const desks = [];
  for (let at = 0; at < 4; at++) {
    desks.push(
      await dealer(
        service,
        Array.from({ length: 20 }, () => ({ facePaise: face })),
      ),
    );
  }
  const ask = async (send: Send, { key }: Desk, scripNo: string) =>
    (await send("POST", "/v1/quote", { key, body: { side: "sell", scrip_no: scripNo } })).body;
  const answers = await Promise.all(
    desks.flatMap((desk) =>
      desk.scripNos.map((scripNo, at) =>
        ask((at % 2 === 0 ? service : beside).send, desk, scripNo),
      ),
    ),
  );
  const quoted = answers.filter(({ quote_ref }) => quote_ref !== undefined);
  assert.ok(quoted.length > 0, "somebody is quoted");
  assert.ok(quoted.length * face <= crore, `${quoted.length} quotes`);
});

test("a credit quoted many times counts once, and its order has room", async (t) => {
  const service = await startService(t);
  await putCard(service, limit);
  const one = await dealer(service, [{ facePaise: 60 * lakh }]);
  for (let at = 0; at < 5; at++) assert.ok((await quote(one)).quote_ref);
  const two = await dealer(service, [{ facePaise: 50 * lakh }]);
  assert.deepEqual(await quote(two), none);
  const sell = (desk: Desk) => ({ side: "sell", scrip_no: desk.scripNo });
  await two.post("/v1/orders", sell(two), 409);
  await one.post("/v1/orders", sell(one), 201);
});

test("an expired quote and a dry run hold nothing", async (t) => {
  const service = await startService(t);
  await putCard(service, limit);
  const [one, two] = [
    await dealer(service, [{ facePaise: 60 * lakh }]),
    await dealer(service, [{ facePaise: 60 * lakh }]),
  ];
  await quote(one, { "x-dry-run": "1" });
  assert.ok((await quote(two)).quote_ref);
  assert.deepEqual(await quote(one), none);
  service.clock.advance({ seconds: 121 });
  assert.ok((await quote(one)).quote_ref);
});

test("a desk's open quotes stay within its share of the limit", async (t) => {
  const service = await startService(t);
  await putCard(service, { ...limit, desk_share_bps: 1_000 });
  const greedy = await dealer(
    service,
    Array.from({ length: 3 }, () => ({ facePaise: 4 * lakh })),
  );
  const answers = [];
  for (const scripNo of greedy.scripNos) {
    answers.push((await greedy.post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200)).body);
  }
  assert.deepEqual(
    answers.map(({ no_quote }) => no_quote ?? false),
    [false, false, true],
  );
  assert.ok((await quote(await dealer(service, [{ facePaise: 10 * lakh }]))).quote_ref);
});

test("a quote that another process used holds its face for at most a window and a half", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await putCard(service, limit);
  const [one, two] = [
    await dealer(service, [{ facePaise: 60 * lakh }]),
    await dealer(service, [{ facePaise: 20 * lakh }]),
  ];
  const { quote_ref } = await quote(one);
  const order = { key: one.key, body: { quote_ref }, expect: 201 };
  await beside.send("POST", "/v1/orders", order);
  const body = { side: "sell", scrip_no: two.scripNo };
  const asks = async () => {
    const answers = [];
    for (const { send } of [service, beside]) {
      answers.push((await send("POST", "/v1/quote", { key: two.key, body, expect: 200 })).body);
    }
    return answers;
  };
  assert.deepEqual(await asks(), [none, none], "bought, and held by the process that quoted it");
  service.clock.advance({ seconds: 181 });
  for (const answer of await asks()) assert.ok(answer.quote_ref);
  await assertOrdersSound(service);
});
