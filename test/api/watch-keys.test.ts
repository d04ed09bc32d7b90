import assert from "node:assert/strict";
import { test } from "node:test";

import { openAuthenticator, openKeyWatcher } from "../../src/access/authenticate.ts";
import { setReachable } from "../support/database.ts";
import { mintChild, unknownKey } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";

/** The watch of a service, and the keys it had to look up again. */
function watch({ ctx }: Service) {
  const lookedUp: string[] = [];
  const authenticate = openAuthenticator(ctx);
  const deadAmong = openKeyWatcher(ctx, async (headers) => {
    lookedUp.push(...headers);
    return await authenticate(headers);
  });
  return { lookedUp, deadAmong };
}

test("a watched key is read again only when it or its parent changes", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: root, key_id: rootId } = await service.issue();
  const first = await mintChild(service, root);
  const second = await mintChild(service, root);
  const soon = new Date(service.clock.now().getTime() + 60_000).toISOString();
  const third = await mintChild(service, root, { expires_at: soon });
  const keys = [first.api_key, second.api_key, third.api_key];
  const { lookedUp, deadAmong } = watch(service);
  const look = async () => {
    const from = lookedUp.length;
    const dead = [...(await deadAmong(keys))];
    return { dead: dead.toSorted(), again: lookedUp.slice(from).toSorted() };
  };
  assert.deepEqual(await look(), { dead: [], again: keys.toSorted() });
  assert.deepEqual(await look(), { dead: [], again: [] });

  const reissued = [first.api_key];
  await send("POST", `/v1/keys/${first.key_id}/reissue`, { key: root, expect: 200 });
  assert.deepEqual(await look(), { dead: reissued, again: reissued });
  const expired = [third.api_key];
  service.clock.advance({ seconds: 60 });
  assert.deepEqual(await look(), { dead: expired, again: expired });
  await send("DELETE", `/v1/keys/${rootId}`, { key: root, expect: 200 });
  assert.deepEqual(await look(), { dead: keys.toSorted(), again: keys.toSorted() });
});

test("an unknown key is dead, and no key is called dead during a database outage", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const { deadAmong } = watch(service);
  const unknown = unknownKey("sandbox", service.clock.now());
  assert.deepEqual([...(await deadAmong([api_key, unknown, ""]))], [unknown, ""]);
  await setReachable(service.ctx.db, false);
  await assert.rejects(deadAmong([api_key]));
  await setReachable(service.ctx.db, true);
  assert.deepEqual([...(await deadAmong([api_key]))], []);
});
