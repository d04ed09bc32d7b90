// No outbound request ever reaches an address that is not public.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

import { hostileNames, hostileUrls } from "../support/hostile-urls.ts";
import type { ProbeReport } from "../support/outbound-probe.ts";
import { startService } from "../support/service.ts";

const probe = join(import.meta.dirname, "../support/outbound-probe.ts");

/** A network of its own, in which every address is this machine. */
const everyAddressIsHere =
  "ip link set lo up && ip route add local default dev lo && ip -6 route add local default dev lo";

async function probeInItsOwnNetwork(): Promise<ProbeReport | undefined> {
  const script = `${everyAddressIsHere} && exec "$0" "$1"`;
  const words = ["-rn", "sh", "-c", script, process.execPath, probe];
  const run = promisify(execFile);
  const possible = await run("unshare", ["-rn", "sh", "-c", everyAddressIsHere]).then(
    () => true,
    () => false,
  );
  if (!possible) return undefined;
  return JSON.parse((await run("unshare", words)).stdout);
}

test("none of 150 hostile addresses is connected to, in a network where each would answer", async (t) => {
  const report = await probeInItsOwnNetwork();
  if (!report) {
    t.skip("this machine lets nobody have a network of their own");
    return;
  }
  assert.ok(report.sent >= 150);
  assert.deepEqual(report.reached, []);
  const allowed = ["address_blocked", "network", "no address"];
  assert.deepEqual(
    report.faults.filter((fault) => !allowed.includes(fault)),
    [],
  );
  const blocked = report.faults.filter((fault) => fault === "address_blocked").length;
  assert.ok(blocked >= 140, `${blocked} blocked`);
  // The control: a plain block list lets a good part of them through, and the canary notices.
  assert.ok(report.reachedPastBlockList.length > 10, `${report.reachedPastBlockList.length}`);
  assert.ok(report.reachedPastBlockList.some((address) => address.includes("127.0.0.1")));
  // What is public is reached, at the address that was vetted; a name that turned is not followed.
  assert.deepEqual(report.reachedInPublic.toSorted(), [
    "2600::1",
    "::ffff:8.8.4.4",
    "::ffff:9.9.9.9",
  ]);
  t.diagnostic(
    `${report.sent} addresses, ${blocked} blocked, 0 connections; past a block list ${report.reachedPastBlockList.length}`,
  );
});

async function startCanary(t: TestContext): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "::", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

test("hostile addresses are refused at registration, sending and replay, and no connection is made", async (t) => {
  const canary = await startCanary(t);
  const service = await startService(t, {
    outbound: { allowCidrs: [], resolve: async (hostname) => hostileNames[hostname] ?? [] },
    scheduleS: [0],
  });
  let refused = 0;
  let sent = 0;
  let key = "";
  for (const [at, url] of hostileUrls(canary.port).entries()) {
    // A desk has a bounded number of subscriptions.
    if (at % 40 === 0) key = (await service.issue()).api_key;
    const body = { url, event: "*" };
    const { status, body: made } = await service.send("POST", "/v1/webhooks", { key, body });
    if (status === 422) {
      refused += 1;
      continue;
    }
    assert.equal(status, 201, url);
    sent += 1;
    await service.send("POST", `/v1/webhooks/${made.webhook_id}/test`, { key, expect: 200 });
    await service.work();
    const path = `/v1/webhooks/failures?webhook_id=${made.webhook_id}`;
    const failures = async () => (await service.send("GET", path, { key })).body.failures;
    const [failure] = await failures();
    assert.ok(["address_blocked", "network"].includes(failure.reason), url);
    const replay = { webhook_id: made.webhook_id };
    await service.send("POST", "/v1/webhooks/replay", { key, body: replay, expect: 200 });
    await service.work();
    assert.equal((await failures())[0].attempts, 2, url);
  }
  assert.equal(canary.connections(), 0);
  assert.ok(sent >= 15, "names are given up when they are sent to");
  t.diagnostic(`${refused} refused at registration, ${sent} given up at sending and replay`);
});
