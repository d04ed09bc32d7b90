// A node that stops in the middle of its work, as a process does that the system has suspended or that
// has run out of memory, holds the others up for a moment only.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { testServer } from "../support/database.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const program = join(import.meta.dirname, "../support/stopping-node.ts");

/** Resolves when another node has the matching and has been stopped. */
async function stopWhileMatching(t: TestContext, { ctx }: Service): Promise<void> {
  const connection = { ...testServer(), database: ctx.db.pool.options.database };
  const node = spawn(process.execPath, [program, JSON.stringify(connection)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    node.kill("SIGKILL");
    if (node.exitCode === null && node.signalCode === null) await once(node, "exit");
  });
  await once(node.stdout, "data");
}

test("orders and cancels are served while the node that holds the matching lock is stopped", async (t) => {
  const service = await startService(t);
  const { post, scripNos } = await dealer(service, [{}, {}, {}]);
  await stopWhileMatching(t, service);
  const rests = { side: "sell", scrip_no: scripNos[0], limit_bps: 9_990 };
  // Before the node was cut off, an order that waited for it was refused.
  const { body: resting } = await post("/v1/orders", rests, 201);
  await stopWhileMatching(t, service);
  await post(`/v1/orders/${resting.order_id}/cancel`, {}, 200);
  await stopWhileMatching(t, service);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  const { body } = await post("/v1/orders:batch", { orders }, 200);
  assert.deepEqual([body.submitted, body.failed], [3, 0]);
  await assertOrdersSound(service);
});
