// The API and the workers as processes of their own, on one database.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { databaseUrlFor } from "../support/cli.ts";
import { scripdesk, serve } from "../support/process.ts";
import { startService } from "../support/service.ts";

/** Longer than the workers of a service that has some need to begin. */
const idleMs = 1_500;
const looksMax = 400;

test("a process of role api leaves what it is given to one of role worker, which serves no API", async (t) => {
  const { ctx, masterKey } = await startService(t);
  const env = {
    DATABASE_URL: await databaseUrlFor(ctx),
    MASTER_KEY: masterKey.toString("hex"),
    OPS_PORT: "off",
  };
  const issued = await scripdesk(
    ["keys", "issue", "--firm", "Roles", "--env", "sandbox", "--json"],
    env,
  );
  const { api_key: key } = JSON.parse(issued.stdout) as { api_key: string };
  const api = await serve(t, { ...env, ROLE: "api" });
  const seed = { key, body: { count: 1 }, expect: 200 };
  const { scrip_nos } = (await api.send("POST", "/v1/sandbox/credits:seed", seed)).body;
  const order = { side: "sell", scrip_no: scrip_nos[0] };
  const placed = await api.send("POST", "/v1/orders", { key, body: order, expect: 201 });
  const settlement = `/v1/settlements/${placed.body.settlement_id}`;
  const readStatus = async () =>
    (await api.send("GET", settlement, { key, expect: 200 })).body.status as string;
  await sleep(idleMs);
  assert.notEqual(await readStatus(), "settled");

  const worker = await serve(t, { ...env, ROLE: "worker" });
  assert.equal((await worker.send("GET", "/healthz", {})).status, 200);
  assert.equal((await worker.send("GET", "/readyz", {})).status, 200);
  assert.equal((await worker.send("GET", "/v1/whoami", { key })).status, 404);
  for (let look = 0; look < looksMax && (await readStatus()) !== "settled"; look++) await sleep(50);
  assert.equal(await readStatus(), "settled");
});
