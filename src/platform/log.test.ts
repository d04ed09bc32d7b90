import assert from "node:assert/strict";
import { test } from "node:test";

import { createServer } from "./http/server.ts";
import { createLog } from "./log.ts";

const secret = "a secret of the connection";

function databaseError(): Error {
  return Object.assign(new Error("terminating connection"), {
    code: "57P01",
    detail: `Key (name)=(${secret}) already exists.`,
    client: { secretKey: secret },
  });
}

test("a logged error shows its message, code and stack, and nothing else it carries", () => {
  const lines: string[] = [];
  const { log } = createLog("info", { write: (line) => lines.push(line) });
  log.warn({ err: databaseError() }, "lost");
  const { err } = JSON.parse(lines[0] ?? "") as { err: Record<string, string> };
  assert.deepEqual(Object.keys(err), ["type", "message", "code", "stack"]);
  assert.equal(err["code"], "57P01");
});

test("an error of a request is logged without what its driver attached to it", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("info", { write: (line) => lines.push(line) });
  const app = createServer({
    log,
    now: () => new Date(),
    trustProxy: [],
    tls: undefined,
    inFlightMax: 1,
  });
  t.after(() => app.close());
  app.get("/broken", { config: { keyless: "free" } }, async () => {
    throw databaseError();
  });
  const answer = await app.inject("/broken");
  assert.equal(answer.statusCode, 500);
  assert.equal(lines.filter((line) => line.includes("terminating connection")).length, 1);
  assert.ok(!lines.join("").includes(secret));
});
