// What every keyed route answers before it looks at what it is asked: the same for all of them, so
// a slice's test names its routes and gets these answers checked.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { bodyBytesMax } from "../../src/platform/http/body.ts";
import { type Scope, scopes } from "../../src/kernel/caller.ts";
import { type Answer, readSlug, type Service } from "./service.ts";

export type Door = {
  readonly method: string;
  readonly path: string;
  readonly scope: Exclude<Scope, "*">;
  /** Another that is enough by itself. */
  readonly orScope?: Exclude<Scope, "*">;
  readonly body?: unknown;
};

/** 401, 429, 403, 413 and 415 of each route, one subtest per route. */
export async function checkDoors(
  t: TestContext,
  service: Service,
  doors: readonly Door[],
): Promise<void> {
  const plan = await service.plan(1);
  const spent = await service.issue({ environment: "live", plan });
  await service.send("GET", "/v1/whoami", { key: spent.api_key, expect: 200 });
  const others = (enough: readonly (Scope | undefined)[]) =>
    scopes.filter((other) => !enough.includes(other) && other !== "*");
  for (const { method, path, scope, orScope, body } of doors) {
    await t.test(`${method} ${path} checks key, scope, rate and body`, async () => {
      const { send } = service;
      const refused = async (status: number, slug: string, options: object): Promise<Answer> => {
        const answer = await send(method, path, { ...options, expect: status });
        assert.equal(readSlug(answer), slug);
        return answer;
      };
      const entering = await service.issue({ scopes: [scope] });
      const outside = await service.issue({ scopes: others([scope, orScope]) });
      await refused(401, "unauthorized", { body });
      await refused(403, "forbidden", { key: outside.api_key, body });
      const limited = await refused(429, "rate_limited", { key: spent.api_key, body });
      assert.equal(limited.headers.get("retry-after"), "60");
      const key = entering.api_key;
      if (method !== "GET") {
        const large = JSON.stringify({ name: "x".repeat(bodyBytesMax) });
        await refused(413, "request_too_large", { key, body: large });
      }
      if (body === undefined) return;
      const headers = { "content-type": "text/plain" };
      await refused(415, "unsupported_media_type", { key, body, headers });
      await refused(400, "bad_request", { key, body: "{" });
      await refused(400, "bad_request", { key, body: "[]" });
      await refused(400, "bad_request", { key, body: { ...(body as object), surprise: 1 } });
    });
  }
}

/** Another desk's thing, a deleted one and nobody's are the same answer, byte for byte. */
export async function assertAbsent(answers: readonly Promise<Answer>[]): Promise<void> {
  const settled = await Promise.all(answers);
  for (const { status } of settled) assert.equal(status, 404);
  assert.equal(new Set(settled.map(({ text }) => text)).size, 1);
}
