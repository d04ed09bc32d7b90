// The client as others get it: packed, installed in an empty folder, and used from plain JavaScript by
// every Node of this machine that it is for.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { seedInventory } from "../../src/credits/seed-credits.ts";
import { type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

const root = join(import.meta.dirname, "../..");
const majorMin = 20;
const runMsMax = 300_000;

let folder: string;
/** Where the client is installed. */
let app: string;

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

type Run = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
};

async function run(program: string, words: readonly string[], given: Run = {}): Promise<Ran> {
  const { cwd = app, env = {}, input = "" } = given;
  return await new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 24, timeout: runMsMax };
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      resolve({ code: error ? 1 : 0, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

async function must(program: string, words: readonly string[], given: Run = {}): Promise<string> {
  const { code, stdout, stderr } = await run(program, words, given);
  assert.equal(code, 0, `${program} ${words.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** A copy of what the package is made from, so that nothing is built among the sources. */
async function copySources(): Promise<string> {
  const project = join(folder, "project");
  await cp(join(root, "client"), join(project, "client"), {
    recursive: true,
    filter: (path) => !path.endsWith("/dist") && !path.endsWith("/python"),
  });
  for (const name of ["tsconfig.json", "LICENSE"]) await cp(join(root, name), join(project, name));
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  return join(project, "client");
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scripdesk-client-"));
  app = join(folder, "app");
  await mkdir(app);
  const client = await copySources();
  await must("npm", ["pack", "--pack-destination", folder], { cwd: client });
  const [packed = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  await writeFile(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quietly = ["--offline", "--no-audit", "--no-fund"];
  await must("npm", ["install", ...quietly, join(folder, packed)]);
});

after(async () => await rm(folder, { recursive: true, force: true }));

/** This Node, and whatever others are on the path. */
function findNodes(): string[] {
  const places = (process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, "node"));
  const found = new Map<string, string>();
  for (const place of [process.execPath, ...places]) {
    const version = /^v(\d+)/.exec(spawnSync(place, ["--version"]).stdout?.toString() ?? "")?.[1];
    if (version === undefined || Number(version) < majorMin || found.has(version)) continue;
    found.set(version, realpathSync(place));
  }
  return [...found.values()];
}

test("the package is compiled code and types, and needs no other", async () => {
  const installed = join(app, "node_modules/scripdesk-client");
  const files = (await readdir(installed, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  assert.ok(
    files.includes("index.js") && files.includes("index.d.ts") && files.includes("LICENSE"),
  );
  const odd = files.filter(
    (name) => !/\.(js|d\.ts)$|^(package\.json|README\.md|LICENSE)$/.test(name),
  );
  assert.deepEqual(odd, []);
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  assert.deepEqual(manifest.dependencies ?? {}, {});
  const packages = (await readdir(join(app, "node_modules"))).filter(
    (name) => !name.startsWith("."),
  );
  assert.deepEqual(packages, ["scripdesk-client"]);
});

/** The blocks of JavaScript of the client's README. */
async function readExamples(): Promise<string[]> {
  const page = await readFile(join(root, "client/README.md"), "utf8");
  return [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
}

async function openHouse(t: TestContext): Promise<[Service, string]> {
  const service = await startService(t);
  await seedInventory(service.ctx);
  return [service, (await service.issue({ firmName: "Demo Desk" })).api_key];
}

test("the first call of the README runs on every Node that the client is for", async (t) => {
  const [example = ""] = await readExamples();
  const nodes = findNodes();
  t.diagnostic(nodes.join(" "));
  for (const node of nodes) {
    const [service, key] = await openHouse(t);
    const env = { SCRIPDESK_URL: service.url, SCRIPDESK_KEY: key };
    const output = await must(node, ["--input-type=module"], { env, input: example });
    const [who, made, listed] = output.split("\n");
    assert.equal(who, "a key of the sandbox with *");
    const [, id, status] = /^order (ord_\w{26}) is (\w+) at \d+ bps$/.exec(made ?? "") ?? [];
    assert.equal(status, "matched");
    assert.equal(listed, `${id} matched`);
  }
});

/** Runs a program while the service does what it does by itself. */
async function runBeside(running: Promise<string>, work: () => Promise<void>): Promise<string> {
  const state = { isRunning: true };
  const ended = running.finally(() => (state.isRunning = false));
  ended.catch(() => {}); // It is thrown below, when the service is done.
  while (state.isRunning) {
    await work();
    await sleep(20);
  }
  return await ended;
}

test("a script goes from a key to a paid order, in JavaScript and then in Python at the same desk", async (t) => {
  const python = { PYTHONPATH: join(root, "client/python"), PYTHONDONTWRITEBYTECODE: "1" };
  for (const node of findNodes()) {
    const [service, key] = await openHouse(t);
    const access = { SCRIPDESK_URL: service.url, SCRIPDESK_KEY: key };
    for (const [program, name] of [
      [node, "sell.mjs"],
      ["python3", "sell.py"],
    ] as const) {
      if (spawnSync(program, ["--version"]).error) continue;
      await cp(join(root, "client/examples", name), join(app, name));
      const running = must(program, [name], { env: { ...access, ...python } });
      const output = await runBeside(running, () => letSettle(service, 1));
      assert.match(output, /\d+ settlement\.settled\n/);
      assert.match(output, /\npaid ₹[\d.]+ by SIM\w+\n$/);
    }
  }
});

test("a program of a month sells, covers, waits and ties, over a line that breaks", async (t) => {
  const [service, key] = await openHouse(t);
  // What a desk did before is not of the month.
  const earlier = { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 };
  await service.send("POST", "/v1/orders", { key, body: earlier, expect: 201 });
  await cp(join(root, "client/examples/month.ts"), join(app, "month.ts"));
  const world = { lib: ["es2023"], types: ["node"], typeRoots, skipLibCheck: true };
  await compile({ compilerOptions: { ...strict, ...world }, files: ["month.ts"] });
  const env = { SCRIPDESK_URL: service.url, SCRIPDESK_KEY: key };
  // Receivers compare the signature's time with the machine's.
  const work = async () => {
    service.clock.set(new Date());
    await service.work();
  };
  const output = await runBeside(must(process.execPath, ["month.ts"], { env }), work);
  const lines = output.trim().split("\n");
  t.diagnostic(output);
  for (const [at, shape] of [
    /^200 credits sold in batches, 2 answers lost and asked for again$/,
    /^₹[\d.]+ of a bill of ₹2000000 covered$/,
    /^\d+ webhooks, each once, after an hour's downtime$/,
    /dealt ₹[\d.]+, tied to the paisa$/,
    /dealt ₹-[\d.]+, tied to the paisa$/,
    /^10 calls waited for a 429 and were answered$/,
    /^\d+ events without a gap over 3 cuts$/,
  ].entries()) {
    assert.match(lines[at] ?? "", shape);
  }
});

test("a program of CommonJS has the same client", async () => {
  const program = `
    const { Scripdesk, ScripdeskError } = require("scripdesk-client");
    import("scripdesk-client").then((imported) => {
      console.log(imported.ScripdeskError === ScripdeskError, typeof new Scripdesk({ base_url: "http://127.0.0.1:1" }).placeOrder);
    });`;
  for (const node of findNodes()) {
    assert.equal(await must(node, ["--input-type=commonjs", "-e", program]), "true function\n");
  }
});

/** What the examples of the README stand beside. */
const surroundings = `
declare const desk: import("scripdesk-client").Scripdesk;
declare const secret: string, scrip_no: string, order_id: string, quote_ref: string;
declare function handleOnce(id: string, event: import("scripdesk-client").Event): Promise<void>;
`;

test("the README's examples and the script hold for a strict reader of types", async () => {
  const examples = await readExamples();
  assert.ok(examples.length >= 8);
  const names = examples.map((_, at) => `example-${at}.mjs`);
  for (const [at, name] of names.entries()) {
    await writeFile(join(app, name), `${examples[at]}\nexport {};\n`);
  }
  await cp(join(root, "client/examples/sell.mjs"), join(app, "sell.mjs"));
  await writeFile(join(app, "surroundings.d.ts"), surroundings);
  const world = { lib: ["es2023"], types: ["node"], typeRoots, allowJs: true, checkJs: true };
  const paths = { fastify: [join(root, "node_modules/fastify/fastify.d.ts")] };
  // Fastify's own types do not hold without this.
  const compilerOptions = { ...strict, ...world, paths, skipLibCheck: true };
  await compile({ compilerOptions, files: [...names, "sell.mjs", "surroundings.d.ts"] });
});

const strict = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: "es2023",
  module: "nodenext",
};
const typeRoots = [join(root, "node_modules/@types")];

async function compile(settings: object): Promise<void> {
  await writeFile(join(app, "tsconfig.json"), JSON.stringify(settings));
  await must(join(root, "node_modules/.bin/tsc"), ["-p", app]);
}

const consumer = `
import { readHead, List, Scripdesk, ScripdeskError, signWebhook, verifyWebhook, webhookListener } from "scripdesk-client";
import type { Event, Order, OrderList, PlaceOrder, Quote } from "scripdesk-client";

const desk = new Scripdesk({ base_url: "https://api.example", api_key: "service_test_x" });

export async function use(signal: AbortSignal): Promise<Order | undefined> {
  const body: PlaceOrder = { side: "sell", scheme: "RODTEP", face_paise: 1, metadata: { a: "b" } };
  const order = await desk.placeOrder(body, { signal, idempotency_key: "x", dry_run: true });
  const known: boolean = order.status === "matched" || order.status === "a state of tomorrow";
  const list: List<OrderList, "orders"> = desk.listOrders({ status: "open", limit: undefined });
  for await (const { order_id, face_paise } of list) console.log(order_id.length, face_paise);
  const { orders, next_cursor, has_more } = await list;
  const csv: string = await desk.readStatement("2026-11", { format: "csv" });
  const pdf: Uint8Array = await desk.readStatement("2026-11", { format: "pdf" });
  const { closing_paise } = await desk.readStatement("2026-11");
  for await (const told of desk.streamMarket({ signal })) {
    if (told.event === "snapshot") console.log(told.data.markets.length);
    else if (told.event === "reset") console.log(told.data.reason);
    else console.log(told.data.sell_price_bps);
  }
  const priced = (quote: Quote): number | undefined => {
    if (quote.no_quote) return quote.reason.length;
    if (quote.side === "sell") return quote.face_paise + Date.parse(quote.valid_until);
    return quote.residual_paise + quote.scrip_nos.length;
  };
  priced(await desk.takeQuote({ side: "buy", scheme: "ROSCTL", requirement_paise: 1 }));
  const { api_key } = await desk.mintKey({ name: "x", kind: "app", scopes: ["quote"] });
  const shown: string | undefined = api_key;
  const tried: true | undefined = order.dry_run;
  const left: number | undefined = readHead(order).rate_limit.remaining;
  for await (const told of desk.streamEvents({ after_sequence: 0 })) {
    if (told.event === "payout.paid") console.log(told.data.data.amount_paise.toFixed());
    if (told.data.event === "key.created") console.log(told.data.data.name.length);
  }
  for await (const told of desk.listEvents()) {
    if (told.event === "statement.ready") console.log(told.data.period.length);
  }
  const { settlements } = await desk.untilSettled("ord_1", { signal });
  webhookListener({ secret: "whsec_", handle: ({ event: told }) => console.log(told.sequence) });
  console.log(shown, tried, left, settlements[0]?.status, signWebhook({ event: "x" }, "whsec_").body);
  const { event }: { event: Event } = verifyWebhook(new Uint8Array(), new Headers(), "whsec_");
  try {
    await desk.createGroup({ name: "x" });
  } catch (error) {
    if (error instanceof ScripdeskError && error.slug === "conflict") console.log(error.detail);
  }
  console.log(known, next_cursor?.length, has_more, csv, pdf, closing_paise.toFixed(), event.sequence);
  return orders[0];
}

// @ts-expect-error There is no such side.
void desk.takeQuote({ side: "hold" });
// @ts-expect-error There is no such field.
void desk.placeOrder({ price: 1 });
// @ts-expect-error An order needs a quote or a side.
void desk.placeOrder({});
// @ts-expect-error A sale needs a credit or an amount.
void desk.placeOrder({ side: "sell" });
// @ts-expect-error A withdrawal is of a firm and a sum.
void desk.proposeAct({ kind: "withdrawal" });
// @ts-expect-error A quote settles the rest.
void desk.placeOrder({ quote_ref: "qte_1", limit_bps: 9_800 });
// @ts-expect-error What rests until a time has one.
void desk.placeOrder({ side: "sell", scrip_no: "X", limit_bps: 9_800, time_in_force: "GTD" });
// @ts-expect-error A sale covers no duty.
void desk.takeQuote({ side: "sell", scheme: "RODTEP", requirement_paise: 1 });
// @ts-expect-error A sub_account key names its firm.
void desk.mintKey({ name: "x", kind: "sub_account", scopes: ["quote"] });
// @ts-expect-error It is idempotency_key.
void desk.placeOrder({ quote_ref: "qte_1" }, { idempotencyKey: "x" });
// @ts-expect-error Without its kind a quote may have no price.
void desk.takeQuote({ side: "sell", scrip_no: "X" }).then(({ price_bps }) => price_bps.toFixed());
// @ts-expect-error A name is needed.
void desk.createGroup({});
// @ts-expect-error A cancellation takes no key.
void desk.cancelOrder("ord_1", { idempotency_key: "x" });
// @ts-expect-error There is no such field.
void desk.whoAmI().then(({ secret }) => secret);
// @ts-expect-error There is no such state to ask for.
void desk.listOrders({ status: "dreaming" });
`;

test("the types hold for a strict caller, in a module or in CommonJS, with Node's types or a browser's", async () => {
  await writeFile(join(app, "consumer.ts"), consumer);
  await writeFile(join(app, "consumer.cts"), consumer);
  for (const world of [
    { lib: ["es2023"], types: ["node"], typeRoots },
    // Node 20's own rules: what is required has to be CommonJS.
    { lib: ["es2023"], types: ["node"], typeRoots, module: "node20" },
    { lib: ["es2023", "dom", "dom.asynciterable"], types: [] },
  ]) {
    const compilerOptions = { ...strict, skipLibCheck: false, ...world };
    await compile({ compilerOptions, files: ["consumer.ts", "consumer.cts"] });
  }
});
