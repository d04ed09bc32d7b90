// The Python client of client/python/: the same promises as the one for Node, driven line by line
// through test/support/call-client.py.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { operations } from "../../client/src/index.ts";
import { toSnake } from "../../client/generate/python.ts";
import { seedInventory } from "../../src/credits/seed-credits.ts";
import { buildHeaders } from "../../src/webhooks/rules.ts";
import { answer, good, passing, startBreaking } from "../support/breaking-server.ts";
import { furnishCalls } from "../support/client-calls.ts";
import { openLine } from "../support/cut-line.ts";
import { mintChild } from "../support/keys.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

const root = join(import.meta.dirname, "../..");
const versionMin = "import sys; sys.exit(sys.version_info < (3, 10))";
const skip = spawnSync("python3", ["-c", versionMin]).status !== 0 && "needs Python 3.10";

const env = {
  ...process.env,
  PYTHONPATH: join(root, "client/python"),
  PYTHONDONTWRITEBYTECODE: "1",
};

type Given = {
  readonly given?: readonly unknown[];
  readonly options?: object;
  /** How many rows, events or lines to take. */
  readonly count?: number;
};

type Result = {
  // Tests look into answers of every shape; what they expect is what they assert.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly answer?: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly error?: any;
  readonly refused?: string;
  /** Operation, status and attempt of every answer. */
  readonly heads: readonly [string, number, number][];
};

/** A Python that holds a client. */
function openPython(t: TestContext, url: string, key = "service_test_x") {
  const child = spawn("python3", [join(root, "test/support/call-client.py")], {
    env: { ...env, SCRIPDESK_URL: url, SCRIPDESK_KEY: key },
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (method: string, call: Given = {}): Promise<Result> => {
    child.stdin.write(`${JSON.stringify({ method, given: [], ...call })}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, "Python ended");
    return JSON.parse(value) as Result;
  };
}

test(
  "every operation has a method in Python, and is answered by the service",
  { skip },
  async (t) => {
    const service = await startService(t);
    const { key, calls } = await furnishCalls(service);
    const python = openPython(t, service.url, key);
    for (const { id, given, options, refused } of calls) {
      const { answer: answered, error, heads } = await python(toSnake(id), { given, options });
      assert.equal(error?.slug, refused, `${id} ${JSON.stringify(error)}`);
      if (refused === undefined) assert.ok(answered, id);
      assert.deepEqual(
        heads.map(([name]) => name),
        [id],
      );
    }
    assert.equal(calls.length, Object.keys(operations).length);
  },
);

test("Python walks a list, and asks for no page too many", { skip }, async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const python = openPython(t, service.url, api_key);
  for (let at = 0; at < 7; at++) await python("create_group", { given: [{ name: `group ${at}` }] });
  const all = await python("list_groups", { given: [{ limit: 3 }], count: 99 });
  assert.equal(new Set(all.answer.map(({ name }: { name: string }) => name)).size, 7);
  assert.equal(all.heads.length, 3);
  const some = await python("list_groups", { given: [{ limit: 3 }], count: 2 });
  assert.equal(some.heads.length, 1);
  const page = await python("list_groups");
  assert.equal(page.answer.has_more, false);
  const csv = await python("read_statement", { given: ["2026-11", { format: "csv" }] });
  assert.match(csv.answer, /line_no,/);
  const pdf = await python("read_statement", { given: ["2026-11", { format: "pdf" }] });
  assert.equal(pdf.answer.begins, "%PDF-");
});

const order = { quote_ref: "qte_1" };
const calls: Readonly<Record<string, Given & { method: string; repeats: boolean }>> = {
  "a read": { method: "read_order", given: ["ord_1"], repeats: true },
  "a write that takes a key": { method: "place_order", given: [order], repeats: true },
  "a dry run": {
    method: "cancel_order",
    given: ["ord_1"],
    options: { dry_run: true },
    repeats: true,
  },
  "a write without a key": { method: "cancel_order", given: ["ord_1"], repeats: false },
  "a quote": { method: "take_quote", given: [{ side: "sell", scrip_no: "X" }], repeats: false },
};

for (const [what, { method, repeats, ...call }] of Object.entries(calls)) {
  test(
    `Python sends ${what} ${repeats ? "again" : "once"} after what passes`,
    { skip },
    async (t) => {
      const kinds = Object.entries(passing);
      // Repeated after two of a kind; a call that is not repeated meets one.
      const reactions = kinds.flatMap(([, kind]) => (repeats ? [kind, kind, good] : [kind]));
      const { url, seen } = await startBreaking(t, reactions);
      const python = openPython(t, url);
      for (const [how] of kinds) {
        const { error } = await python(method, call);
        assert.equal(error === undefined, repeats, how);
        const requests = seen.splice(0);
        assert.equal(requests.length, repeats ? 3 : 1, how);
        assert.equal(new Set(requests.map((one) => JSON.stringify(one))).size, 1, how);
      }
    },
  );
}

test(
  "Python gives up by count and by time, and tells the key and the refusal",
  { skip },
  async (t) => {
    const busy = answer(429, { "retry-after": "3600" });
    const refusal = { error: "request_error", code: "conflict", message: "no", detail: { a: 1 } };
    const reactions = [
      ...Array.from({ length: 3 }, () => answer(500)),
      busy,
      () => {},
      answer(409, { "x-request-id": "req_1" }, JSON.stringify(refusal)),
      answer(302, { location: "http://127.0.0.1:1/" }),
      good,
    ];
    const { url, seen } = await startBreaking(t, reactions);
    const python = openPython(t, url);
    const counted = await python("place_order", { given: [order], options: { max_retries: 2 } });
    assert.equal(counted.error.attempts, 3);
    assert.equal(counted.error.idempotency_key, seen[0]?.key);
    const late = await python("read_order", { given: ["ord_1"] });
    assert.equal(late.error.retry_after_s, 3_600);
    const silent = await python("read_order", { given: ["ord_1"], options: { timeout_ms: 50 } });
    assert.equal(silent.error.slug, "timed_out");
    const { error } = await python("place_order", { given: [order] });
    const { slug, code, status, message, detail, request_id } = error;
    assert.deepEqual(
      { slug, code, status, message, detail, request_id },
      {
        slug: "conflict",
        code: "conflict",
        status: 409,
        message: "no",
        detail: { a: 1 },
        request_id: "req_1",
      },
    );
    const moved = await python("read_order", { given: ["ord_1"] });
    assert.equal(moved.error.status, 302);
    assert.equal(seen.length, 7);
    for (const [method, call] of [
      ["cancel_order", { given: ["ord_1"], options: { idempotency_key: "mine" } }],
      ["read_order", { given: ["ord_1"], options: { timeout: 1 } }],
      ["read_order", { given: [".."] }],
    ] as const) {
      assert.ok((await python(method, call)).refused, method);
    }
    assert.equal(seen.length, 7);
  },
);

test("a stream that Python reads goes on where it was cut", { skip }, async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const line = await openLine(t, service);
  const python = openPython(t, line.url, key);
  const options = { reconnect_ms: 1 };
  const reading = python("stream_events", { given: [{ after_sequence: 0 }], options, count: 10 });
  for (let turn = 1; turn <= 3; turn++) {
    for (let tries = 0; tries < 1_000 && line.opened < turn; tries++) await sleep(10);
    await mintChild(service, key);
    line.cut();
    await mintChild(service, key);
    await mintChild(service, key);
  }
  const { answer: events, heads } = await reading;
  assert.deepEqual(
    events.map(([id]: [string]) => Number(id)),
    Array.from({ length: 10 }, (_, at) => at + 1),
  );
  assert.ok(line.opened >= 4 && heads.length > 1, "it was cut");
  const [snapshot] = (await python("stream_market", { count: 1 })).answer;
  assert.equal(snapshot[1], "snapshot");
});

test(
  "Python verifies a webhook, and refuses one that is changed, late or of another",
  { skip },
  () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
    const body = Buffer.from(`{"event":"webhook.ping","note":"₹"}`);
    const now = new Date("2026-11-15T09:15:00Z");
    const sign = (secrets: string[]) =>
      buildHeaders({ deliveryId: "dlv_1", event: "webhook.ping", body, secrets, now });
    const program = `
import json, sys
from scripdesk_client import ScripdeskError, verify_webhook
for case in json.load(sys.stdin):
    try:
        found = verify_webhook(case["body"].encode(), case["headers"], case["secret"], now_s=case["now"])
        print(found.delivery_id, found.event["event"])
    except ScripdeskError as error:
        print(error.slug)
`;
    const headers = sign([secret]);
    const base = { body: body.toString(), headers, secret, now: now.getTime() / 1_000 };
    const cases = [
      base,
      { ...base, secret: [other, secret] },
      { ...base, headers: sign([other, secret]) },
      { ...base, body: body.toString().replace("ping", "pong") },
      { ...base, secret: other },
      { ...base, now: base.now + 301 },
      { ...base, now: base.now - 301 },
      {
        ...base,
        headers: { ...headers, "webhook-timestamp": String(base.now + 301) },
        now: base.now + 301,
      },
      { ...base, headers: { ...headers, "x-service-delivery": "dlv_2" } },
      { ...base, headers: {} },
      { ...base, headers: { ...headers, "x-service-signature": "sha256=₹" } },
    ];
    const ran = spawnSync("python3", ["-c", program], { env, input: JSON.stringify(cases) });
    const genuine = "dlv_1 webhook.ping";
    const expected = cases.map((_, at) => (at < 3 ? genuine : "forged_webhook"));
    assert.deepEqual(ran.stdout.toString().trim().split("\n"), expected, ran.stderr.toString());
  },
);

test("every name in the types of the Python client is there", { skip }, () => {
  const program = `
import typing
from scripdesk_client import operations, options, schemas
absent = {"NotRequired": typing.Optional, "Unpack": typing.Optional, "schemas": schemas}
names = {**vars(schemas), **vars(options), **absent}
shapes = [shape for shape in vars(schemas).values() if typing.is_typeddict(shape)]
methods = [one for name, one in vars(operations.Operations).items() if not name.startswith("_")]
for one in shapes + methods:
    typing.get_type_hints(one, localns=names)
print(len(shapes) > 100, len(methods))
`;
  const ran = spawnSync("python3", ["-c", program], { env });
  const expected = `True ${Object.keys(operations).length}\n`;
  assert.equal(ran.stdout.toString(), expected, ran.stderr.toString());
});

test(
  "Python keeps its connections for the next call, but none that has ended",
  { skip },
  async (t) => {
    const opened = new Set<unknown>();
    const server = createServer((request, response) => {
      opened.add(request.socket);
      if (request.url?.endsWith("last")) response.setHeader("connection", "close");
      good(response, request);
    });
    server.keepAliveTimeout = 60_000;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => void server.close());
    const python = openPython(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const call = async (id: string) => {
      const { error } = await python("cancel_order", { given: [id] });
      assert.equal(error, undefined);
    };
    for (let at = 0; at < 5; at++) await call("ord_1");
    assert.equal(opened.size, 1);
    // A cancellation is never sent again, so it must not meet a connection that the server has ended.
    server.closeIdleConnections();
    await sleep(50);
    await call("ord_2");
    assert.equal(opened.size, 2);
    await call("ord_1");
    assert.equal(opened.size, 2);
  },
);

test(
  "Python reads the head of an answer, and waits until an order is settled",
  { skip },
  async (t) => {
    const service = await startService(t);
    const { key, scripNo } = await dealer(service);
    const program = `
import os, sys
from scripdesk_client import Scripdesk, ScripdeskError, read_head
with Scripdesk(os.environ["SCRIPDESK_URL"], os.environ["SCRIPDESK_KEY"]) as desk:
    sale = {"side": "sell", "scrip_no": os.environ["SCRIP_NO"]}
    tried = desk.place_order(sale, dry_run=True)
    order = desk.place_order(sale, idempotency_key="a")
    again = desk.place_order(sale, idempotency_key="a")
    print(tried["dry_run"], "dry_run" in order, read_head(order).status, read_head(again).replayed)
    limits = [read_head(one).rate_limit.remaining for one in (order, again)]
    print(limits[0] - limits[1])
    try:
        desk.until_settled(order["order_id"], within_ms=20, poll_ms=5)
    except ScripdeskError as error:
        print(error.slug, flush=True)
    print([one["status"] for one in desk.until_settled(order["order_id"], poll_ms=5).settlements])
`;
    const given = { SCRIPDESK_URL: service.url, SCRIPDESK_KEY: key, SCRIP_NO: scripNo };
    const child = spawn("python3", ["-c", program], {
      env: { ...env, ...given },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line === "timed_out") await letSettle(service);
    }
    assert.deepEqual(lines, ["True False 201 True", "1", "timed_out", "['settled']"]);
  },
);

test("a delivery that Python signs for a test is signed as the service signs", { skip }, () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const program = `
import json, sys
from scripdesk_client import sign_webhook, verify_webhook
body, headers = sign_webhook({"event": "webhook.ping"}, sys.argv[1], delivery_id="dlv_1", now_s=1794734100)
verify_webhook(body, headers, sys.argv[1], now_s=1794734100)
print(json.dumps([body.decode(), {name.lower(): value for name, value in headers.items()}]))
`;
  const ran = spawnSync("python3", ["-c", program, secret], { env });
  const [body, headers] = JSON.parse(ran.stdout.toString());
  const now = new Date(1_794_734_100_000);
  const delivery = { deliveryId: "dlv_1", event: "webhook.ping", body: Buffer.from(body) };
  const made = buildHeaders({ ...delivery, secrets: [secret], now });
  assert.deepEqual({ "user-agent": made["user-agent"], ...headers }, made);
});

test(
  "the Python client installs without a network and leaves nothing behind",
  { skip },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "scripdesk-python-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const sources = join(folder, "python");
    const filter = (path: string) => !path.endsWith("__pycache__");
    await cp(join(root, "client/python"), sources, { recursive: true, filter });
    const before = await readdir(sources, { recursive: true });
    const words = ["-m", "pip", "install", "--no-index", "--target", join(folder, "site"), sources];
    const ran = spawnSync("python3", words, {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    });
    assert.equal(ran.status, 0, ran.stderr.toString());
    assert.deepEqual(await readdir(sources, { recursive: true }), before);
    const use = ["-c", "import scripdesk_client as c; print(c.__file__, len(c.OPERATIONS))"];
    const used = spawnSync("python3", use, {
      cwd: folder,
      env: { ...process.env, PYTHONPATH: join(folder, "site") },
    });
    const installed = join(folder, "site/scripdesk_client/__init__.py");
    assert.equal(used.stdout.toString(), `${installed} ${Object.keys(operations).length}\n`);
    const typed = await readdir(join(folder, "site/scripdesk_client"));
    assert.ok(typed.includes("py.typed"));
  },
);

const hasMypy = spawnSync("mypy", ["--version"]).status === 0;

const wrongCalls = `
from scripdesk_client import Scripdesk

desk = Scripdesk("http://127.0.0.1:1", "x")
desk.place_order({})
desk.place_order({"side": "sell"})
desk.place_order({"quote_ref": "qte_1", "limit_bps": 9_800})
desk.take_quote({"side": "sell", "scheme": "RODTEP", "requirement_paise": 1})
desk.mint_key({"name": "x", "kind": "sub_account", "scopes": ["quote"]})
desk.place_order({"quote_ref": "qte_1"}, idempotencyKey="a")
desk.take_quote({"side": "sell", "scrip_no": "X"})["price_bps"]
`;

test(
  "the Python client, its script and the README's examples hold under mypy --strict",
  { skip: skip || (!hasMypy && "needs Debian's package mypy") },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "scripdesk-mypy-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const check = (...files: string[]) =>
      spawnSync(
        "mypy",
        [
          "--strict",
          "--enable-incomplete-feature=Unpack",
          "--cache-dir",
          join(folder, "cache"),
          ...files,
        ],
        { cwd: folder, env: { ...process.env, MYPYPATH: join(root, "client/python") } },
      );
    const page = await readFile(join(root, "client/python/README.md"), "utf8");
    const examples = [...page.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(
      ([, text = ""]) => text,
    );
    const files = examples.map((_, at) => `example${at}.py`);
    for (const [at, name] of files.entries())
      await writeFile(join(folder, name), examples[at] ?? "");
    const sources = [
      "client/python/scripdesk_client",
      "client/python/build_wheel.py",
      "client/examples/sell.py",
    ];
    const held = check(...files, ...sources.map((path) => join(root, path)));
    assert.equal(held.status, 0, held.stdout.toString());
    await writeFile(join(folder, "wrong.py"), wrongCalls);
    const wrong = check("wrong.py").stdout.toString();
    const lines = [...wrong.matchAll(/^wrong\.py:(\d+): error/gm)].map(([, line]) => Number(line));
    assert.deepEqual([...new Set(lines)], [5, 6, 7, 8, 9, 10, 11], wrong);
  },
);

test("the programs of the Python client's README run", { skip }, async (t) => {
  const page = await readFile(join(root, "client/python/README.md"), "utf8");
  const examples = [...page.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  const service = await startService(t);
  await seedInventory(service.ctx);
  const { api_key } = await service.issue({ firmName: "Demo Desk" });
  const run = async (example = "") => {
    const child = spawn("python3", ["-"], {
      env: { ...env, SCRIPDESK_URL: service.url, SCRIPDESK_KEY: api_key },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(example);
    return (await child.stdout.toArray()).join("");
  };
  const [who, made, listed] = (await run(examples[0])).split("\n");
  assert.equal(who, "a key of the sandbox with *");
  const [, id] = /^order (ord_\w{26}) is matched at \d+ bps$/.exec(made ?? "") ?? [];
  assert.equal(listed, `${id} matched`);
  assert.equal(await run(examples.find((text) => text.includes("asyncio"))), "8 prices\n");
});
