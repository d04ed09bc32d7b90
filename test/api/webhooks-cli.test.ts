import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { commandLine } from "../support/cli.ts";
import { mintChild } from "../support/keys.ts";
import { commands } from "../support/process.ts";
import { addDeadLetters, registerWebhook, startReceiver } from "../support/receivers.ts";
import { startService } from "../support/service.ts";

const main = join(import.meta.dirname, "../../cli/main.ts");

test("an operator lists webhooks and dead letters and replays them", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const webhook = await registerWebhook(service, key, receiver.url);
  await mintChild(service, key);
  const [one, two] = (await addDeadLetters(service, webhook.webhook_id)).toSorted();
  const { run } = await commandLine(t, service);

  const listed = await run("webhooks", "list", "--json");
  assert.equal(listed.code, 0, listed.stderr);
  assert.deepEqual(
    JSON.parse(listed.stdout).map((row: { webhook_id: string; status: string }) => row.webhook_id),
    [webhook.webhook_id],
  );
  assert.equal(listed.stdout.includes(webhook.signing_secret), false);
  const none = await run("webhooks", "list", "--env", "live", "--json");
  assert.deepEqual(JSON.parse(none.stdout), []);

  const failed = await run("webhooks", "failures", "--webhook", webhook.webhook_id, "--json");
  assert.deepEqual(
    JSON.parse(failed.stdout)
      .map((row: { delivery_id: string }) => row.delivery_id)
      .toSorted(),
    [one, two],
  );
  assert.equal((await run("webhooks", "replay")).code, 2);
  assert.equal((await run("webhooks", "replay", "--event", "no.such")).code, 2);
  const replayed = await run("webhooks", "replay", "--delivery", String(one), "--json");
  assert.deepEqual(JSON.parse(replayed.stdout), { queued: 1, skipped: 0, remaining: 0 });
  const rest = await run("webhooks", "replay", "--all", "--json");
  assert.deepEqual(JSON.parse(rest.stdout), { queued: 1, skipped: 0, remaining: 0 });
});

test("listen forwards events with the body and headers of a webhook", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  for (let n = 0; n < 3; n++) await mintChild(service, key);
  const where = ["--forward", receiver.url, "--base-url", service.url, "--key", key];
  const which = ["--after", "0", "--event", "key.created", "--count", "3"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    main,
    "listen",
    ...where,
    ...which,
  ]);
  const [, secret = ""] = /^Signing secret: (whsec_\S+)$/m.exec(stdout) ?? [];
  assert.equal(receiver.received.length, 3);
  for (const { headers, body } of receiver.received) {
    const mac = createHmac("sha256", secret).update(body).digest("hex");
    assert.equal(headers["x-service-signature"], `sha256=${mac}`);
    assert.equal(headers["x-service-event"], "key.created");
    assert.equal(headers["user-agent"], "Service-Webhooks/1");
    assert.match(String(headers["x-service-delivery"]), /^dlv_[0-9a-f]{26}$/);
  }
  const { body: events } = await service.send("GET", "/v1/events", { key });
  const created = events.events.filter(({ event }: { event: string }) => event === "key.created");
  assert.equal(receiver.received[0]?.body.toString(), JSON.stringify(created[0]));
});

test("listen reports an invalid command line or key", async (t) => {
  const service = await startService(t);
  const scripdesk = commands(t, {});
  const run = async (...words: string[]) => (await scripdesk("listen", ...words)).code;
  const forward = ["--forward", "http://127.0.0.1:9/hook"];
  assert.equal(await run("--key", "x"), 2);
  assert.equal(await run(...forward), 2);
  assert.equal(await run("--forward", "nowhere", "--key", "x"), 2);
  assert.equal(await run(...forward, "--key", "x", "--secret", "x"), 2);
  assert.equal(await run(...forward, "--key", "x", "--count", "0"), 2);
  assert.equal(await run(...forward, "--key", "x", "--base-url", service.url), 2);
});
