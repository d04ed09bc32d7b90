// Everyone who must not enter, at every door. The doors are the routes that the service registered,
// so a new route is checked from the moment it exists; what it demands is written down here, and a
// route that is not in these tables fails.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pino } from "pino";

import { type Demand, scopes } from "../src/kernel/caller.ts";
import { notFound } from "../src/kernel/failure.ts";
import { newId } from "../src/kernel/ids.ts";
import { parseApiKey } from "../src/access/key-rules.ts";
import type { Context } from "../src/platform/context.ts";
import { type App, createServer, type RouteEntry } from "../src/platform/http/server.ts";
import { firmBody } from "./support/client-firms.ts";
import { furnishDesks } from "./support/furnished-desks.ts";
import { checkIsolation, checkReads, type Document, listSlots } from "./support/isolation.ts";
import { mintChild, underOtherPrefix, unknownKey } from "./support/keys.ts";
import { fileScope } from "./support/scope.ts";
import { type Answer, startService } from "./support/service.ts";

/** What every keyed operation demands. */
const demands: Readonly<Record<string, Demand>> = {
  whoAmI: "any key",
  readUsage: "any key",
  listStates: "any key",
  mintKey: "root key",
  listKeys: "root key",
  readKey: "root key",
  updateKey: "root key",
  revokeKey: "root key",
  reissueKey: "root key",
  registerFirm: "firms",
  listFirms: "firms",
  readFirm: "firms",
  updateFirm: "firms",
  readConnection: "firms",
  verifyFirm: "firms",
  authorizeFirm: "firms",
  suspendFirm: "firms",
  resumeFirm: "firms",
  offboardFirm: "firms",
  createGroup: "firms",
  listGroups: "firms",
  readGroup: "firms",
  updateGroup: "firms",
  deleteGroup: "firms",
  listMembers: "firms",
  addMember: "firms",
  removeMember: "firms",
  readGroupPositions: "orders:read",
  proposeNetting: "orders:read",
  crossNetting: "orders:write",
  declareRequirement: "firms",
  listRequirements: "firms",
  readRequirement: "firms",
  updateRequirement: "firms",
  deleteRequirement: "firms",
  coverRequirement: "orders:write",
  listCredits: "firms",
  declareCredits: "firms",
  importCredits: "firms",
  syncCredits: "firms",
  readCredit: "firms",
  withdrawCredit: "firms",
  useCredit: "firms",
  takeQuote: "quote",
  readQuote: "quote",
  readPositions: "orders:read",
  placeOrder: "orders:write",
  withdrawMoney: "orders:write",
  readApprovalRules: "any key",
  setApprovalRules: "root key",
  proposeAct: "firms",
  listDeskApprovals: "firms",
  readDeskApproval: "firms",
  approveAct: "firms",
  rejectAct: "firms",
  takeQuoteBatch: "quote",
  placeOrderBatch: "orders:write",
  listOrders: "orders:read",
  readOrder: "orders:read",
  cancelOrder: "orders:write",
  quoteCross: "quote",
  proposeCross: "orders:write",
  listCrosses: "orders:read",
  readCross: "orders:read",
  acceptCross: "orders:write",
  declineCross: "orders:write",
  fundCross: "orders:write",
  releaseCross: "orders:write",
  cancelCross: "orders:write",
  listMarkets: "market:read",
  readMarket: "market:read",
  streamMarket: "market:read",
  listSettlements: "orders:read",
  readSettlement: "orders:read",
  readFunding: "orders:read",
  listDeposits: "orders:read",
  listTasks: "orders:read",
  finishTask: "orders:write",
  reportMissing: "orders:write",
  listPayouts: "orders:read",
  readPayout: "orders:read",
  readContractNote: "orders:read",
  readBillOfSupply: "orders:read",
  readEarnings: "orders:read",
  listStatements: "orders:read",
  readStatement: "orders:read",
  advanceSettlement: "orders:write",
  advanceClock: "orders:write",
  setScenario: "orders:write",
  seedSandbox: "orders:write",
  resetSandbox: "orders:write",
  listEvents: "orders:read",
  readEvent: "orders:read",
  listRequests: "orders:read",
  readRequest: "orders:read",
  streamEvents: "orders:read",
  listAudit: "orders:read",
  exportAudit: "orders:read",
  listAuditKeys: "any key",
  registerWebhook: "webhooks:write",
  updateWebhook: "webhooks:write",
  listWebhooks: "webhooks:write",
  readWebhook: "webhooks:write",
  deleteWebhook: "webhooks:write",
  testWebhook: "webhooks:write",
  rotateSecret: "webhooks:write",
  enableWebhook: "webhooks:write",
  listDeliveries: "webhooks:write",
  listFailures: "webhooks:write",
  replayDeliveries: "webhooks:write",
};

/** What other scopes open as well. */
const orDemands: Readonly<Record<string, readonly Demand[]>> = {
  listRequirements: ["orders:read"],
  proposeAct: ["orders:write"],
  listDeskApprovals: ["orders:write"],
  readDeskApproval: ["orders:write"],
  approveAct: ["orders:write"],
  rejectAct: ["orders:write"],
  readRequirement: ["orders:read"],
  listGroups: ["orders:read"],
  listCredits: ["quote", "orders:read"],
  readCredit: ["quote", "orders:read"],
};

/** What anyone may call, one by one; the pages for people are recognised by their path. */
const keylessOperations = [
  "isAlive",
  "isReady",
  "readOpenApi",
  "listRates",
  "readRate",
  "readRateOfDay",
  "readRateHistory",
  "exportRateHistory",
  "readMethodology",
  "estimateEnquiry",
  "submitSellEnquiry",
  "submitBuyEnquiry",
  "submitContactEnquiry",
  "readEnquiry",
  "readHouse",
  "readPreview",
  "allowSites",
];
const isPage = ({ path }: RouteEntry) =>
  path === "/" ||
  path === "/robots.txt" ||
  path === "/public/notices/opt-out" ||
  /^\/(docs|web|terms|privacy)(\/|$)/.test(path);
/** What HTTP adds to an operation is documented with it. */
const isOperation = ({ method }: RouteEntry) => method !== "HEAD" && method !== "OPTIONS";

const service = await startService(fileScope());
const document = (await service.send("GET", "/v1/openapi.json", { expect: 200 })).body as Document;
const keyedRoutes = service.app.routes.filter(({ config }) => config.demand !== undefined);
const slots = listSlots(keyedRoutes, document);
/** Nothing below changes anything of these desks: what writes is only tried. */
const desks = await furnishDesks(service);

const meterHeaders = ["plan", "limit", "remaining", "reset", "quota-used"].map(
  (name) => `x-ratelimit-${name}`,
);

/** Asks without changing anything and about nothing that exists. */
async function callRoute(route: RouteEntry, key?: string): Promise<Answer> {
  const { send, clock } = service;
  const path = route.path.replaceAll(/\{\w+\}/g, newId("key", clock.now()));
  const writes = route.method !== "GET" && route.method !== "HEAD";
  return await send(route.method, path, { key, ...(writes && { headers: { "x-dry-run": "1" } }) });
}

function formatTitle({ method, path }: RouteEntry): string {
  return `${method} ${path}`;
}

/** The door's own refusal, and not that of a rule behind it. */
function isTurnedAway({ status, headers, body }: Answer, method: string): boolean {
  if (status !== 403) return false;
  return method === "HEAD" ? headers.has("x-ratelimit-plan") : body.error === "forbidden";
}

test("every route is documented, and its demand is the one written down here", () => {
  const documented = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  const undocumented = service.app.routes
    .filter((route) => !isPage(route) && isOperation(route))
    .filter(
      ({ method, path }) =>
        !documented.some((known) => known.path === path && known.method === method.toLowerCase()),
    );
  assert.deepEqual(undocumented.map(formatTitle), []);

  for (const { method, path, operation } of documented) {
    const route = service.app.routes.find(
      (known) => known.path === path && known.method.toLowerCase() === method,
    );
    assert.ok(route, `${method} ${path} is documented and does not exist`);
    const {
      operationId,
      "x-scope": scope,
      security,
    } = operation as typeof operation & {
      "x-scope"?: string;
      security: unknown[];
    };
    const demand = demands[operationId];
    if (demand === undefined) {
      assert.ok(
        keylessOperations.includes(operationId),
        `add ${operationId} to the demands in test/authorization.test.ts`,
      );
    }
    assert.equal(route.config.demand, demand, `${operationId} demands something else`);
    assert.equal(scope, demand);
    const others = [route.config.orDemand ?? []].flat();
    assert.deepEqual(others, orDemands[operationId] ?? [], `${operationId} has others`);
    assert.equal(security.length, demand === undefined ? 0 : 1);
  }
});

test("only the listed operations and pages are keyless", () => {
  const open = service.app.routes.filter(({ config }) => config.demand === undefined);
  const unnamed = open.filter(
    (route) => !isPage(route) && !keylessOperations.includes(route.operationId ?? ""),
  );
  assert.deepEqual(unnamed.map(formatTitle), []);
});

test("a route that declares neither a demand nor keyless cannot be registered", async (t) => {
  await assert.rejects(
    startService(t, { routes: (app) => void app.get("/v1/forgotten", async () => ({})) }),
    /GET \/v1\/forgotten must say what it demands/,
  );
  const app = createServer({
    log: pino({ level: "silent" }),
    now: () => new Date(0),
    trustProxy: [],
    tls: undefined,
    inFlightMax: 1,
  });
  assert.throws(() => app.get("/docs/private", async () => ({})), /must say what it demands/);
});

test("a keyless route cannot be registered without saying what pays for its calls", async (t) => {
  const register = async (keyless: unknown) => {
    const config = { keyless } as { keyless: "free" };
    await startService(t, {
      routes: (app) => void app.get("/v1/open", { config }, async () => ({})),
    });
  };
  for (const forgotten of [true, "cheap", {}, { budget: "nobody's" }]) {
    await assert.rejects(register(forgotten), /must say what pays for calls without a key/);
  }
  for (const told of ["constant", "free", { budget: "rates" }]) await register(told);
});

test("every keyed operation answers the same 401 without a valid key", async (t) => {
  const { send, clock } = service;
  const { api_key: root, key_id } = await service.issue();
  const live = await service.issue({ environment: "live" });
  const revoked = await mintChild(service, root);
  await send("DELETE", `/v1/keys/${revoked.key_id}`, { key: root, expect: 200 });
  const soon = new Date(clock.now().getTime() + 1_000).toISOString();
  const expired = await mintChild(service, root, { expires_at: soon });
  await send("GET", "/v1/whoami", { key: expired.api_key, expect: 200 });
  const replaced = await mintChild(service, root);
  await send("POST", `/v1/keys/${replaced.key_id}/reissue`, { key: root, expect: 200 });
  const otherRoot = await service.issue();
  const orphan = await mintChild(service, otherRoot.api_key);
  await send("DELETE", `/v1/keys/${otherRoot.key_id}`, { key: root, expect: 404 });
  await send("DELETE", `/v1/keys/${otherRoot.key_id}`, { key: otherRoot.api_key, expect: 200 });
  clock.advance({ seconds: 1 });

  const strangers: Record<string, string | undefined> = {
    "no key": undefined,
    "an empty key": "",
    garbage: "service_test_garbage",
    "a key id": key_id,
    "a key with a broken checksum": root.slice(0, -1) + (root.endsWith("0") ? "1" : "0"),
    "an unknown sandbox key": unknownKey("sandbox", clock.now()),
    "an unknown live key": unknownKey("live", clock.now()),
    "a revoked key": revoked.api_key,
    "an expired key": expired.api_key,
    "a key that was issued anew": replaced.api_key,
    "a revoked root key": otherRoot.api_key,
    "a child of a revoked root key": orphan.api_key,
    "a sandbox key under the live prefix": underOtherPrefix(root),
    "a live key under the sandbox prefix": underOtherPrefix(live.api_key),
  };
  for (const name of [
    "a sandbox key under the live prefix",
    "a live key under the sandbox prefix",
  ]) {
    assert.ok(parseApiKey(strangers[name] ?? ""), "the forgery is refused for its prefix alone");
  }

  const bodies = new Set<string>();
  let cells = 0;
  for (const route of keyedRoutes) {
    const refused = Object.entries(strangers).map(
      async ([who, key]) => [who, await callRoute(route, key)] as const,
    );
    for (const [who, answer] of await Promise.all(refused)) {
      assert.equal(answer.status, 401, `${formatTitle(route)} with ${who}`);
      const shown = [...answer.headers.keys()].filter((name) => name.startsWith("x-ratelimit"));
      assert.deepEqual(shown, [], `${formatTitle(route)} shows ${who} a meter`);
      assert.ok(answer.headers.get("x-request-id"));
      if (route.method !== "HEAD") bodies.add(answer.text);
      cells += 1;
    }
    assert.notEqual((await callRoute(route, root)).status, 401, formatTitle(route));
  }
  assert.deepEqual(
    [...bodies].map((text) => JSON.parse(text).code),
    ["unauthorized"],
  );
  t.diagnostic(`${cells} refusals, all alike`);
});

/** The table of scopes, written a second time: this test does not ask the code it tests. */
function opens(demand: Demand, key: { scope: string; kind: string }): boolean {
  if (demand === "any key") return true;
  if (demand === "root key") return key.kind === "root";
  return key.scope === "*" || key.scope === demand;
}

test("each scope opens exactly the operations that demand it", async (t) => {
  const all = await service.issue();
  const holders = await Promise.all(
    scopes.flatMap((scope) => [
      service
        .issue({ scopes: [scope] })
        .then((root) => ({ scope, kind: "root", key: root.api_key })),
      mintChild(service, all.api_key, { scopes: [scope] }).then((child) => ({
        scope,
        kind: "child",
        key: child.api_key,
      })),
    ]),
  );
  let cells = 0;
  for (const route of keyedRoutes) {
    const demand = demands[route.operationId ?? ""];
    const answers = holders.map(
      async (holder) => [holder, await callRoute(route, holder.key)] as const,
    );
    for (const [{ scope, kind }, answer] of await Promise.all(answers)) {
      const isWelcome = [demand, ...(orDemands[route.operationId ?? ""] ?? [])].some(
        (enough) => enough !== undefined && opens(enough, { scope, kind }),
      );
      const who = `a ${kind} key with ${scope}`;
      assert.notEqual(answer.status, 401, `${formatTitle(route)} does not know ${who}`);
      assert.ok(answer.status < 500, `${formatTitle(route)} fails for ${who}`);
      assert.equal(
        isTurnedAway(answer, route.method),
        !isWelcome,
        `${formatTitle(route)} and ${who}`,
      );
      for (const name of meterHeaders) {
        assert.ok(answer.headers.has(name), `${formatTitle(route)} hides ${name} from ${who}`);
      }
      assert.equal(answer.headers.has("x-ratelimit-quota"), false, "a sandbox key has no quota");
      cells += 1;
    }
  }
  t.diagnostic(`${cells} cells`);
});

test("a live key sees its quota on every answer, refusals included", async () => {
  const { api_key } = await service.issue({ environment: "live" });
  const child = await mintChild(service, api_key);
  for (const route of keyedRoutes) {
    for (const key of [api_key, child.api_key]) {
      const { headers } = await callRoute(route, key);
      for (const name of [...meterHeaders, "x-ratelimit-quota"]) {
        assert.ok(headers.has(name), `${formatTitle(route)} hides ${name}`);
      }
    }
  }
});

test("another desk's resource cannot be told from one that does not exist", async (t) => {
  const { cells, breaches } = await checkIsolation(service, { ...desks.root, slots });
  assert.deepEqual(breaches, []);
  assert.ok(slots.length >= 40, "the routes with ids were found");
  t.diagnostic(`${cells} cells in ${slots.length} slots`);
});

test("sibling firms and their resources are not found for a sub_account key", async (t) => {
  const { cells, breaches } = await checkIsolation(service, { ...desks.sub, slots });
  assert.deepEqual(breaches, []);
  t.diagnostic(`${cells} cells in ${slots.length} slots`);
});

test("no read shows data of another desk or firm", async (t) => {
  // A key is told on purpose which desk and which root key it belongs to.
  const routes = keyedRoutes.filter(({ operationId }) => operationId !== "whoAmI");
  for (const [who, caller] of Object.entries(desks)) {
    const { cells, breaches } = await checkReads(service, { ...caller, routes });
    assert.deepEqual(breaches, [], `to a ${who} key`);
    t.diagnostic(`${cells} cells for a ${who} key`);
  }
});

test("a name or IEC that another desk uses can be used here too", async () => {
  const others = [await service.issue(), await service.issue({ environment: "live" })];
  const mine = await service.issue();
  for (const { api_key } of others) {
    const body = firmBody({ external_id: "ERP-1" });
    await service.send("POST", "/v1/firms", { key: api_key, body, expect: 201 });
    const headers = { "x-dry-run": "1" };
    await service.send("POST", "/v1/firms", { key: mine.api_key, body, headers, expect: 200 });
  }
});

type Leak = (row: { desk_id: string; key_id: string } | undefined, deskId: string) => object;

/** Routes that are not as they should be, by their path. */
const leaks: Readonly<Record<string, Leak>> = {
  "/v1/forgetful/:key_id": (row) => {
    if (!row) throw notFound();
    return { key_id: row.key_id };
  },
  "/v1/talkative/:key_id": (row, deskId) => {
    if (!row) throw notFound();
    if (row.desk_id !== deskId) throw Object.assign(notFound(), { message: "no such key here" });
    return { key_id: row.key_id };
  },
  "/v1/unknown/:leak_id": () => ({}),
};

function addLeaks(app: App, { db }: Context): void {
  for (const [path, answer] of Object.entries(leaks)) {
    app.get<{ Params: Record<string, string> }>(
      path,
      { config: { demand: "root key" }, schema: { operationId: "readLeak" } },
      async ({ params, caller }) => {
        const { rows } = await db.pool.query<{ desk_id: string; key_id: string }>(
          "select desk_id, key_id from api_keys where key_id = $1",
          [Object.values(params)[0]?.replaceAll("\u0000", "") ?? ""],
        );
        return answer(rows[0], caller.deskId);
      },
    );
  }
}

test("control: the isolation check finds", async (t) => {
  const leaky = await startService(t, { routes: addLeaks });
  const { root } = await furnishDesks(leaky);
  const listBreaches = async (name: string): Promise<readonly string[]> => {
    const routes = leaky.app.routes.filter(({ path }) => path.startsWith(`/v1/${name}/`));
    const found = await checkIsolation(leaky, { ...root, slots: listSlots(routes, { paths: {} }) });
    return found.breaches;
  };

  await t.test("a route that forgets the desk", async () => {
    const text = (await listBreaches("forgetful")).join("\n");
    assert.match(text, /GET \/v1\/forgetful\/\{key_id\}.*another desk's key answers 200/);
    assert.match(text, /the other environment's key answers 200/);
  });

  await t.test("a refusal that differs only in its words", async () => {
    const text = (await listBreaches("talkative")).join("\n");
    assert.match(text, /another desk's key answers 404 .*no such key here/);
  });

  await t.test("a parameter without a fixture", async () => {
    assert.deepEqual(
      new Set((await listBreaches("unknown")).map((text) => text.split(": ")[1])),
      new Set(["add a fixture for leak_id to test/support/furnished-desks.ts"]),
    );
  });
});
