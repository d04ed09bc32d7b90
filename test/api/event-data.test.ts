import assert from "node:assert/strict";
import { test } from "node:test";

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { isObject } from "../../src/kernel/json.ts";
import { firmThatIs } from "../support/client-firms.ts";
import { crossThatIs, traders } from "../support/crosses.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

type Told = Answer["body"];

/** What a desk was told last of each thing, beside the thing itself where it has not changed since. */
async function toldAndShown(desk: Pick<Dealer, "get">): Promise<{ told: Told; shown: Told }[]> {
  const { events } = await desk.get("/v1/events?after_sequence=0&limit=500");
  const latest = new Map(events.map((told: Told) => [told.entity.id, told]));
  const pairs = await Promise.all(
    [...latest.values()].map(async (told: Told) => ({
      told,
      shown: await desk.get(told.entity.href),
    })),
  );
  return pairs.filter(({ told, shown }) => shown.version === told.entity.version);
}

/** Facts of an event that its resource shows otherwise. A settlement shows a side's own facts there. */
function differences({ told, shown }: { told: Told; shown: Told }): string[] {
  const side = shown.sides?.find((each: Told) => each.side === told.data.side) ?? {};
  const view: Record<string, unknown> = { ...side, ...shown };
  return Object.entries(told.data).flatMap(([field, value]) => {
    if (!(field in view)) return [];
    // A nested thing may be told in part.
    const isSame = isObject(value) || JSON.stringify(view[field]) === JSON.stringify(value);
    return isSame ? [] : [`${told.event}.${field}: ${JSON.stringify(value)}`];
  });
}

async function assertToldAsShown(desk: Pick<Dealer, "get">, names: readonly string[]) {
  const pairs = await toldAndShown(desk);
  const seen: string[] = pairs.map(({ told }) => told.event);
  for (const name of names)
    assert.ok(seen.includes(name), `${name} was not looked at: ${seen.join(" ")}`);
  assert.deepEqual(pairs.flatMap(differences), []);
}

test("the data of an order, payout, settlement or credit event equals the resource", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, [{}, {}, {}]);
  const [first = "", second = "", third = ""] = desk.scripNos;
  const limit = { side: "sell", limit_bps: 9_999, time_in_force: "GTC" };
  const resting = await desk.post("/v1/orders", { ...limit, scrip_no: first }, 201);
  assert.equal(resting.body.price_bps, null, "there is no price before there is a deal");
  await assertToldAsShown(desk, ["order.accepted"]);
  await desk.post("/v1/orders", { side: "sell", scrip_no: second }, 201);
  await desk.post(`/v1/credits/${encodeURIComponent(third)}/withdraw`, {}, 200);
  await assertToldAsShown(desk, ["order.matched", "settlement.transfer_initiated"]);
  await letSettle(service, 6);
  await desk.post(`/v1/orders/${resting.body.order_id}/cancel`, {}, 200);
  await assertToldAsShown(desk, [
    "order.cancelled",
    "order.matched",
    "settlement.settled",
    "payout.paid",
    "credit.withdrawn",
  ]);
});

test("the data of a cross event equals the reader's view of the cross", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  await crossThatIs(parties, "funded");
  await assertToldAsShown(parties.seller, ["cross.funded"]);
  await assertToldAsShown(parties.buyer, ["cross.funded"]);
});

/** Asserts that each event is what the document says arrives for it, with no field it does not name. */
async function assertAsDocumented(service: Service, desks: readonly Pick<Dealer, "get">[]) {
  const document = (await service.send("GET", "/v1/openapi.json", { expect: 200 })).body;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "api", undefined, false);
  const seen = new Set<string>();
  for (const desk of desks) {
    const { events } = await desk.get("/v1/events?after_sequence=0&limit=500");
    for (const told of events as Told[]) {
      seen.add(told.event);
      const place = `api#/webhooks/${told.event}/post/requestBody/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: place });
      const isValid: boolean = validate(told as unknown);
      assert.ok(isValid, `${told.event}: ${ajv.errorsText(validate.errors)}`);
      const { allOf } =
        document.webhooks[told.event].post.requestBody.content["application/json"].schema;
      const name = allOf[1].properties.data.$ref.split("/").at(-1);
      const fields = Object.keys(document.components.schemas[name].properties);
      const unnamed = Object.keys(told.data).filter((field) => !fields.includes(field));
      assert.deepEqual(unnamed, [], told.event);
    }
  }
  return seen;
}

test("what is told of firms, keys, credits, deals and crosses is what the document's webhooks say", async (t) => {
  const service = await startService(t);
  const document = (await service.send("GET", "/v1/openapi.json", { expect: 200 })).body;
  const desk = await dealer(service, [{}, {}, {}, {}]);
  const catalog = (await desk.get("/v1/webhooks")).events;
  assert.deepEqual(Object.keys(document.webhooks), catalog);
  const [first = "", second = "", third = ""] = desk.scripNos;
  const limit = { side: "sell", limit_bps: 9_999, time_in_force: "GTC" };
  const resting = await desk.post("/v1/orders", { ...limit, scrip_no: first }, 201);
  await desk.post(`/v1/orders/${resting.body.order_id}/cancel`, {}, 200);
  await desk.post("/v1/orders", { side: "sell", scrip_no: second }, 201);
  await desk.post(`/v1/credits/${third}/withdraw`, {}, 200);
  await letSettle(service, 6);
  const child = { name: "probe", kind: "app", scopes: ["quote"] };
  const { key_id } = (await desk.post("/v1/keys", child, 201)).body;
  await service.send("DELETE", `/v1/keys/${key_id}`, { key: desk.key, expect: 200 });
  const { firm_id } = await firmThatIs(service, desk.key, "authorized");
  await desk.post(`/v1/firms/${firm_id}/suspend`, { reason: "review" }, 200);
  await desk.post(`/v1/firms/${firm_id}/resume`, {}, 200);
  await desk.post(`/v1/firms/${firm_id}/offboard`, {}, 200);
  const url = "https://erp.example/hooks";
  const hook = (await desk.post("/v1/webhooks", { url, event: "*" }, 201)).body;
  await desk.post(`/v1/webhooks/${hook.webhook_id}/test`, {}, 200);
  const parties = await traders(service);
  await crossThatIs(parties, "released");
  await letSettle(service, 6);
  service.clock.advance({ days: 600 });
  await service.work();
  const seen = await assertAsDocumented(service, [desk, parties.seller, parties.buyer]);
  assert.ok(seen.size >= 25, `${seen.size} kinds of events were seen: ${[...seen].join(" ")}`);
});
