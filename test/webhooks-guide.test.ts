// docs/WEBHOOKS.md is run as it stands: its vectors are computed again, its verifier is tried.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";

import { readConfig } from "../src/config.ts";
import { buildHeaders } from "../src/webhooks/rules.ts";

type Headers = Readonly<Record<string, string>>;
type IsGenuine = (rawBody: Buffer, headers: Headers, secrets: readonly string[]) => boolean;

let guide: string;
let vectors: Readonly<Record<string, string>>;
let isGenuine: IsGenuine;

function blocks(language: string): string[] {
  const fences = guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...fences].map(([, text = ""]) => text);
}

before(async () => {
  guide = await readFile(join(import.meta.dirname, "../docs/WEBHOOKS.md"), "utf8");
  vectors = JSON.parse(blocks("json").at(-1) ?? "{}");
  const source = Buffer.from(blocks("js")[0] ?? "").toString("base64");
  ({ isGenuine } = (await import(`data:text/javascript;base64,${source}`)) as {
    isGenuine: IsGenuine;
  });
});

function delivered(secrets: string[]): { body: Buffer; headers: Headers } {
  const body = Buffer.from(vectors["body"] ?? "");
  const headers = buildHeaders({
    deliveryId: vectors["delivery"] ?? "",
    event: vectors["event"] ?? "",
    body,
    secrets,
    now: new Date(vectors["at"] ?? ""),
  });
  return { body, headers };
}

test("the service computes the test vectors of the guide", () => {
  const { body, headers } = delivered([vectors["secret"]!, vectors["previous_secret"]!]);
  assert.equal(body.length, vectors["body_bytes"]);
  for (const name of [
    "x-service-signature",
    "x-service-signature-previous",
    "webhook-timestamp",
    "webhook-signature",
  ]) {
    assert.equal(headers[name], vectors[name], name);
  }
});

test("the guide's verifier accepts genuine deliveries only, with either secret during a rotation", () => {
  const [secret, previous] = [vectors["secret"]!, vectors["previous_secret"]!];
  const plain = delivered([secret]);
  const rotating = delivered([secret, previous]);
  assert.equal(isGenuine(plain.body, plain.headers, [secret]), true);
  assert.equal(isGenuine(rotating.body, rotating.headers, [secret]), true);
  assert.equal(isGenuine(rotating.body, rotating.headers, [previous]), true);
  assert.equal(isGenuine(plain.body, plain.headers, [previous, secret]), true);

  assert.equal(isGenuine(plain.body, plain.headers, [previous]), false);
  assert.equal(isGenuine(plain.body, {}, [secret]), false);
  assert.equal(isGenuine(plain.body, { "x-service-signature": "sha256=" }, [secret]), false);
  assert.equal(
    isGenuine(Buffer.concat([plain.body, Buffer.from(" ")]), plain.headers, [secret]),
    false,
  );
  // Serialised again it is the same JSON and other bytes.
  const again = Buffer.from(JSON.stringify(JSON.parse(plain.body.toString()), null, 1));
  assert.equal(isGenuine(again, plain.headers, [secret]), false);
});

test("the guide shows the actual schedule", () => {
  const inWords = (seconds: number): string => {
    if (seconds < 60) return `${seconds} s`;
    return seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`;
  };
  const { webhookScheduleS } = readConfig({});
  const told = webhookScheduleS.slice(1).map(inWords).join(", ");
  assert.ok(
    guide.includes(`${webhookScheduleS.length} attempts in all: at once, then after ${told}`),
  );
});
