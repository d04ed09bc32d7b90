import assert from "node:assert/strict";
import { test } from "node:test";

import { recordChanges } from "../../src/journal/record-changes.ts";
import type { Actor, Change } from "../../src/kernel/actor.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";

const actor: Actor = { kind: "key", id: "key_test", requestId: null };

/** Registers things of a desk, an event each, every one a second after the other. */
async function record(
  { ctx, clock }: Service,
  deskId: string,
  things: readonly { id: string; name: string; firmId?: string }[],
): Promise<void> {
  for (const { id, name, firmId = deskId } of things) {
    clock.advance({ seconds: 1 });
    const change: Change = {
      environment: "sandbox",
      deskId,
      firmId,
      action: name,
      entity: { type: name.split(".")[0] ?? "", id, version: 1, href: `/v1/things/${id}` },
      after: { id },
      event: { name, from: null, to: "made", data: {} },
    };
    await ctx.db.transaction((tx) => recordChanges(tx, actor, [change], clock.now()));
  }
}

const thing = (at: number) => ({
  id: `thing_${at % 3}`,
  name: at % 2 === 0 ? "order.matched" : "credit.listed",
});

test("events are found by name, thing and time, in both orders, and counted", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key, firm_id: deskId } = await service.issue();
  const before = await send("GET", "/v1/events", { key, expect: 200 });
  const base: number = before.body.latest_sequence;
  await record(
    service,
    deskId,
    Array.from({ length: 30 }, (_, at) => thing(at)),
  );
  const middle = new Date(clock.now().getTime() - 9_500).toISOString();

  const find = async (query: string) => {
    const path = `/v1/events?after_sequence=${base}&limit=500&${query}`;
    const { body } = await send("GET", path, { key, expect: 200 });
    assert.equal(body.total, body.events.length, query);
    assert.equal(body.latest_sequence, base + 30);
    return body.events.map(({ sequence }: { sequence: number }) => sequence - base) as number[];
  };
  const all = Array.from({ length: 30 }, (_, at) => at + 1);
  assert.deepEqual(await find(""), all);
  assert.deepEqual(await find("order=desc"), all.toReversed());
  const matched = all.filter((at) => at % 2 === 1);
  assert.deepEqual(await find("event=order.matched"), matched);
  assert.deepEqual(await find("event=order.matched&order=desc"), matched.toReversed());
  assert.deepEqual(await find("entity_type=order"), matched);
  const first = all.filter((at) => at % 3 === 1);
  assert.deepEqual(await find("entity_id=thing_0"), first);
  assert.deepEqual(
    await find("entity_id=thing_0&event=credit.listed&order=desc"),
    first.filter((at) => at % 2 === 0).toReversed(),
  );
  assert.deepEqual(await find(`from=${middle}`), all.slice(20));
  assert.deepEqual(await find(`to=${middle}&entity_type=order`), matched.slice(0, 10));
  assert.deepEqual(await find("event=payout.paid"), []);
});

test("pages of filtered events tell each once, in both orders", async (t) => {
  const service = await startService(t);
  const { api_key: key, firm_id: deskId } = await service.issue();
  await record(
    service,
    deskId,
    Array.from({ length: 25 }, (_, at) => thing(at)),
  );
  for (const order of ["asc", "desc"]) {
    const found: number[] = [];
    let cursor = "";
    do {
      const path = `/v1/events?event=order.matched&order=${order}&limit=4${cursor}`;
      const { body } = await service.send("GET", path, { key, expect: 200 });
      found.push(...body.events.map(({ sequence }: { sequence: number }) => sequence));
      assert.equal(body.total, 13);
      cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`;
    } while (cursor !== "");
    const sorted = found.toSorted((a, b) => (order === "asc" ? a - b : b - a));
    assert.deepEqual(found, sorted);
    assert.equal(new Set(found).size, 13);
  }
});

test("an event is read by its id, and by nobody else", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: key, firm_id: deskId } = await service.issue();
  const other = await service.issue();
  const firmId = await addClientFirm(service, deskId);
  const child = await mintChild(service, key, { kind: "sub_account", firm_id: firmId });
  const mine = { id: "thing_1", name: "order.matched", firmId };
  await record(service, deskId, [thing(0), mine, thing(1)]);
  const { body } = await send("GET", "/v1/events?entity_id=thing_1", { key, expect: 200 });
  const ofClient = body.events.find(({ firm_id }: { firm_id: string }) => firm_id === firmId);
  const ofDesk = body.events.find(({ firm_id }: { firm_id: string }) => firm_id === deskId);
  const read = async (by: string, id: string) => await send("GET", `/v1/events/${id}`, { key: by });
  assert.deepEqual((await read(key, ofClient.id)).body, ofClient);
  assert.deepEqual((await read(child.api_key, ofClient.id)).body, ofClient);
  assert.equal((await read(child.api_key, ofDesk.id)).status, 404);
  assert.equal((await read(other.api_key, ofDesk.id)).status, 404);
  assert.equal((await read(key, "evt_none")).status, 404);
  const { body: own } = await send("GET", "/v1/events?order=desc&limit=9", { key: child.api_key });
  assert.deepEqual(own.events[0], ofClient);
  assert.equal(own.total, own.events.length);
});
