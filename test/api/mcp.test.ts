// `npx scripdesk mcp` as an agent's program drives it, with the protocol's own client.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { toolSets } from "../../cli/mcp-tools.ts";
import { seedInventory } from "../../src/credits/seed-credits.ts";
import { mintChild } from "../support/keys.ts";
import { dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const program = join(import.meta.dirname, "../../bin/scripdesk.js");

/** As from a folder with nothing in it. */
async function openAgent(
  t: TestContext,
  { url }: Service,
  { key, words = [] }: { readonly key: string; readonly words?: readonly string[] },
) {
  const cwd = await mkdtemp(join(tmpdir(), "scripdesk-agent-"));
  t.after(async () => await rm(cwd, { recursive: true }));
  const client = new Client({ name: "test", version: "1" });
  const env = { PATH: process.env["PATH"] ?? "", SCRIPDESK_KEY: key };
  const args = [program, "mcp", "--base-url", url, ...words];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd }));
  t.after(async () => await client.close());
  const { tools } = await client.listTools();
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const answer = await client.callTool({ name, arguments: given });
    const [part] = answer.content as { text: string }[];
    const told: Answer["body"] = JSON.parse(part?.text ?? "null");
    return { told, isError: answer.isError === true };
  };
  return { tools, names: tools.map(({ name }) => name), call };
}

test("an agent reads, takes quotes and covers, and tries what it may not do", async (t) => {
  const service = await startService(t);
  await seedInventory(service.ctx);
  const desk = await dealer(service);
  const agent = await openAgent(t, service, { key: desk.key });
  assert.equal((await agent.call("whoAmI")).told.firm_id, desk.deskId);
  const { told: credits } = await agent.call("listCredits", { firm_id: desk.firmId });
  assert.equal(credits.credits[0].scrip_no, desk.scripNo);
  const sale = { side: "sell", scrip_no: desk.scripNo };
  const { told: quote } = await agent.call("takeQuote", { body: sale });
  assert.match(quote.quote_ref, /^qte_/);
  const duty = { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 };
  const { told: cover } = await agent.call("takeQuote", { body: duty });
  assert.ok(cover.scrip_nos.length > 0);
  const stored = (await agent.call("readQuote", { quote_ref: cover.quote_ref })).told;
  assert.equal(cover.valid_until, stored.valid_until, "the end of a price for cover is told");
  const { told: tried } = await agent.call("dryRunPlaceOrder", {
    body: { quote_ref: quote.quote_ref },
  });
  assert.deepEqual([tried.dry_run, tried.all_in_paise], [true, quote.all_in_paise]);
  assert.deepEqual(await desk.orders(), [], "nothing was ordered");
  const reading = ["listOrders", "readPositions", "readStatement"];
  for (const { name, inputSchema } of agent.tools.filter((tool) => reading.includes(tool.name))) {
    assert.ok(!("format" in (inputSchema.properties ?? {})), `${name} offers files`);
  }
  const file = await agent.call("listOrders", { format: "xlsx" });
  assert.deepEqual([file.isError, file.told.error], [true, "bad_request"]);
});

test("no tool writes, whatever it is given", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service);
  const agent = await openAgent(t, service, { key: desk.key });
  const writing = agent.tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  assert.deepEqual(writing.map(({ name }) => name).toSorted(), [
    "quoteCross",
    "takeQuote",
    "takeQuoteBatch",
  ]);
  const before = (await desk.get("/v1/events?after_sequence=0")).events.length;
  const sale = { side: "sell", scrip_no: desk.scripNo };
  const attempts: [string, Record<string, unknown>][] = [
    ["placeOrder", { body: sale }],
    ["dryRunPlaceOrder", { body: sale, dry_run: false }],
    ["dryRunPlaceOrder", { body: sale, options: { dry_run: false } }],
    ["dryRunPlaceOrder", { body: { ...sale, "x-dry-run": "0" } }],
    ["submitContactEnquiry", { body: {} }],
  ];
  for (const [name, given] of attempts) {
    assert.equal((await agent.call(name, given)).isError, true, name);
  }
  await agent.call("dryRunPlaceOrder", { body: sale });
  await agent.call("dryRunWithdrawCredit", { scrip_no: desk.scripNo });
  await agent.call("dryRunMintKey", { body: { name: "x", kind: "app", scopes: ["quote"] } });
  assert.deepEqual(await desk.orders(), []);
  assert.equal((await desk.get("/v1/events?after_sequence=0")).events.length, before);
});

test("the tools are those of the key's scopes, and a refusal is told as the service tells it", async (t) => {
  const service = await startService(t);
  const { api_key: root } = await service.issue();
  const { api_key: key } = await mintChild(service, root, { scopes: ["quote"] });
  const { names, call } = await openAgent(t, service, { key });
  assert.ok(names.includes("takeQuote") && names.includes("readQuote") && names.includes("whoAmI"));
  for (const name of ["listOrders", "dryRunPlaceOrder", "listKeys", "dryRunMintKey"]) {
    assert.equal(names.includes(name), false, name);
  }
  const { told, isError } = await call("readQuote", { quote_ref: "qte_none" });
  assert.equal(isError, true);
  assert.deepEqual([told.error, told.status], ["not_found", 404]);
});

test("tool sets offer what a task needs, each of them a tool, and what a call lacks is the tool's error", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service);
  const every = await openAgent(t, service, { key: desk.key });
  for (const [set, names] of Object.entries(toolSets)) {
    const missing = names.filter((name) => !every.names.includes(name));
    assert.deepEqual(missing, [], set);
  }
  const words = ["--tools", "sell,cover"];
  const agent = await openAgent(t, service, { key: desk.key, words });
  const { sell = [], cover = [] } = toolSets;
  const expected = new Set(["whoAmI", "listFirms", ...sell, ...cover]);
  assert.deepEqual(
    agent.names,
    [...expected].toSorted((one, other) => one.localeCompare(other)),
  );
  assert.ok(JSON.stringify(agent.tools).length * 2 < JSON.stringify(every.tools).length);
  for (const given of [{}, { scrip_no: 7 }, { scrip_no: "" }]) {
    const { told, isError } = await agent.call("readCredit", given);
    assert.deepEqual([isError, told.error], [true, "bad_request"]);
    assert.match(told.message, /^scrip_no: /);
  }
  const odd = await agent.call("takeQuote", { body: "sell" });
  assert.equal(odd.isError, true);
});
