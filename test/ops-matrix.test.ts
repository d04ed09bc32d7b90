// Every operation of the operators' API, by every role, signed in, out, expired and disabled. The
// operations are those that were registered, so a new one is checked from the moment it exists; what it
// permits is written down here once more.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { approvalKinds } from "../src/approval-kinds.ts";
import { type Actor, type OperatorRole, operatorRoles } from "../src/kernel/actor.ts";
import { approveProposal } from "../src/operators/decide-approval.ts";
import { enterByDirectory } from "../src/operators/directory.ts";
import {
  disableOperator,
  grantRole,
  listOperators,
  resetOperator,
} from "../src/operators/manage-operators.ts";
import { recoverAdmin } from "../src/operators/recover.ts";
import { type MachinePermission, machinePermissions } from "../src/operators/machine-rules.ts";
import { disableMachine } from "../src/operators/machines.ts";
import { operations } from "../src/ops/operations.ts";
import { opsOpenApiFile, openApiText } from "./support/golden.ts";
import { addTestMachine, addTwoAdmins } from "./support/machines.ts";
import { asBearer, startOps } from "./support/ops.ts";
import { addPerson, type TestPerson } from "./support/people.ts";
import { type Answer, type Service, startService } from "./support/service.ts";

const everybody = operatorRoles;
const settlement = ["settlement", "admin"] as const;
const admin = ["admin"] as const;
const traders = ["dealer", "settlement", "admin"] as const;

/** Who may call what; those that only read are everybody's unless they are listed. */
const permitted: Readonly<Record<string, readonly OperatorRole[]>> = {
  signOut: everybody,
  renewRecoveryCodes: everybody,
  beginAuthenticator: everybody,
  confirmAuthenticator: everybody,
  previewCard: everybody,
  addOperator: admin,
  resetOperator: admin,
  disableOperator: admin,
  grantRole: admin,
  addMachine: admin,
  disableMachine: admin,
  approveProposal: traders,
  rejectProposal: traders,
  issueKey: admin,
  revokeAnyKey: admin,
  moveChildKeys: admin,
  setPlan: admin,
  cancelAnyOrder: traders,
  verifyAnyFirm: settlement,
  authorizeAnyFirm: settlement,
  suspendAnyFirm: settlement,
  resumeAnyFirm: settlement,
  setCommission: admin,
  payCommission: settlement,
  attestQuestions: settlement,
  setOutage: settlement,
  importAnyCredits: settlement,
  recordNews: settlement,
  importCalendar: settlement,
  addCalendarDay: settlement,
  removeCalendarDay: settlement,
  setGstLine: admin,
  setTdsLine: admin,
  setScripLine: admin,
  setFeeLine: admin,
  setRailLimits: admin,
  confirmTaxLine: admin,
  addTdsCertificate: admin,
  setHouse: admin,
  setNumberForm: admin,
  endTaxLine: admin,
  closeEnquiry: traders,
  listEnquiries: traders,
  readEnquiry: traders,
  replayAnyDeliveries: settlement,
  publishCard: ["dealer", "admin"],
  haltMarket: traders,
  openMarket: ["dealer", "admin"],
  addInventory: traders,
  fundSettlement: settlement,
  importLedgerReport: settlement,
  markInitiated: settlement,
  confirmTransfer: settlement,
  failSettlement: settlement,
  liftUnpaid: settlement,
  reverseSettlement: settlement,
  takeBackRefund: settlement,
  fundAnyCross: settlement,
  addDeposit: settlement,
  reverseDeposit: settlement,
  releasePayout: settlement,
  sendPayout: settlement,
  confirmPayout: settlement,
  returnPayout: settlement,
  resendPayout: settlement,
  makeFiles: settlement,
  readFile: settlement,
  voidFile: settlement,
  revealAccount: settlement,
  importBankStatement: settlement,
  previewBankStatement: settlement,
  saveStatementForm: settlement,
  removeStatementForm: settlement,
  readBankLine: settlement,
  listBankQueue: settlement,
  readBankStatement: settlement,
  assignBankLine: settlement,
  undoBankAssignment: settlement,
  returnBankLine: settlement,
  repeatBankLine: settlement,
  addPayingAccount: settlement,
  removePayingAccount: settlement,
  addNoticeAddress: settlement,
  setNoticeOptOuts: settlement,
  removeNoticeAddress: settlement,
  sendNoticeAgain: settlement,
};

/** The acts that machines may do, and what each takes; what reads takes machines with its permission. */
const ofMachines: Readonly<Record<string, MachinePermission>> = {
  importBankStatement: "bank.write",
  previewBankStatement: "bank.write",
  importAnyCredits: "credits.write",
  importLedgerReport: "settlements.write",
  makeFiles: "payouts.write",
  readFile: "payouts.write",
  haltMarket: "market.halt",
};

const open = ["signIn", "enrol", "confirmEnrolment"];

async function addPersonAs(service: Service, role: OperatorRole, admins: readonly TestPerson[]) {
  return await addPerson(service, { name: `the ${role}`, role, by: admins });
}

function fillPath(path: string): string {
  return path.replaceAll(/:\w+/g, "none_0");
}

const hasAnswered = ({ status }: Answer) => status !== 401 && status !== 403;

test("every operation admits exactly its roles, and nobody signed out, expired or disabled", async (t) => {
  const service = await startService(t);
  const { send, app } = await startOps(t, service);
  const first = await addPerson(service, { name: "first", role: "admin" });
  const second = await addPerson(service, { name: "second", role: "admin", by: [first] });
  const { api_key: serviceKey } = await service.issue({ environment: "live" });

  const registered = app.routes.filter(
    ({ method, path }) => path.startsWith("/ops/") && method !== "HEAD",
  );
  const closed = operations.filter(({ permission }) => permission !== undefined);
  assert.equal(registered.length, operations.length + 1, "the document is the one page besides");
  assert.deepEqual(
    operations.filter(({ permission }) => permission === undefined).map(({ id }) => id),
    open,
  );
  const call = async (operation: (typeof operations)[number], headers: Record<string, string>) =>
    await send(operation.method, fillPath(operation.path), {
      headers,
      ...(operation.body && { body: { no_such_field: 1 } }),
    });

  let cells = 0;
  const assertNobody = async (
    operation: (typeof operations)[number],
    those: readonly (readonly [string, Record<string, string>])[],
  ) => {
    const answers = await Promise.all(
      those.map(async ([who, headers]) => [who, await call(operation, headers)] as const),
    );
    for (const [who, { status }] of answers) {
      assert.equal(status, 401, `${who} ${operation.id}`);
      cells++;
    }
    service.clock.advance({ seconds: 1 });
  };
  for (const [turn, role] of operatorRoles.entries()) {
    const person = await addPersonAs(service, role, [first, second]);
    for (const operation of closed) {
      // Signing out ends the session, so it is asked last and with one of its own.
      if (operation.id === "signOut") continue;
      const { token } = await signInOnce(person, service);
      const answer = await call(operation, asBearer(token));
      const allowed = permitted[operation.id] ?? everybody;
      const isRead = operation.method === "GET";
      assert.ok(isRead || permitted[operation.id], `${operation.id} is listed`);
      assert.equal(
        hasAnswered(answer),
        allowed.includes(role),
        `${role} ${operation.id}: ${answer.status} ${answer.text}`,
      );
      cells++;
    }
    const { token } = await person.signIn();
    await send("POST", "/ops/sign-out", { headers: asBearer(token), expect: 200 });
    const expired = (await person.signIn()).token;
    service.clock.advance({ seconds: 12 * 3_600 });
    const shut = (await person.signIn()).token;
    await disableOperator(service.ctx, first.actor, person.name);
    fresh.clear();
    const nobody = { out: token, expired, disabled: shut, forged: `operator_${"A".repeat(43)}` };
    const dead = Object.entries(nobody).map(([state, of]) => [state, asBearer(of)] as const);
    // A dead token is refused before its role is known: each operation meets all of them, one by role.
    for (const [at, operation] of closed.entries()) {
      const state = dead[(at + turn) % dead.length];
      if (state) await assertNobody(operation, [state]);
    }
  }
  const strangers = [
    ["nobody", {}],
    ["a desk", { "x-service-key": serviceKey }],
    ["a desk as a bearer", asBearer(serviceKey)],
    ["a name with a password", { authorization: "Basic YTpi" }],
  ] as const;
  for (const operation of closed) await assertNobody(operation, strangers);
  const kinds = operatorRoles.length * 2 + strangers.length;
  assert.equal(cells, closed.length * kinds - operatorRoles.length, "every cell is looked at");
});

test("a machine does what takes machines, with the one permission it was given, and nothing else", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service, { trustProxy: ["127.0.0.1"] });
  const admins = await addTwoAdmins(service);
  const taken = new Set<string>();
  const closed = operations.filter(({ permission }) => permission !== undefined);
  for (const [turn, permission] of machinePermissions.entries()) {
    // What a machine may do makes no difference to a token that is used elsewhere or is disabled: each
    // operation meets both once, each time from another machine.
    const shared = closed.filter((_, at) => at % machinePermissions.length === turn);
    const name = permission;
    const token = await addTestMachine(service, admins, { name, permissions: [permission] });
    for (const operation of closed) {
      const call = async (headers: Record<string, string>) =>
        await send(operation.method, fillPath(operation.path), {
          headers: { ...asBearer(token), ...headers },
          ...(operation.body && { body: { no_such_field: 1 } }),
        });
      const isStream = operation.config?.streams === true;
      const isRead = operation.method === "GET" && !isStream;
      const needed = isRead ? operation.permission : ofMachines[operation.id];
      const may = needed === permission;
      const what = `${permission} ${operation.id}`;
      const answer = await call({});
      assert.equal(hasAnswered(answer), may, `${what}: ${answer.status} ${answer.text}`);
      if (!may) assert.equal(answer.status, 403, what);
      if (may && !isRead) taken.add(operation.id);
      if (!(may && !isRead) && !shared.includes(operation)) continue;
      const elsewhere = { "x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https" };
      const stolen = await call(elsewhere);
      assert.equal(stolen.body.detail?.reason, "machine_address", what);
    }
    service.clock.advance({ seconds: 60 });
    await disableMachine(service.ctx, admins[0].actor, name);
    for (const operation of shared) {
      const answer = await send(operation.method, fillPath(operation.path), {
        headers: asBearer(token),
        ...(operation.body && { body: {} }),
      });
      assert.equal(answer.status, 401, `disabled ${operation.id}`);
    }
  }
  assert.deepEqual([...taken].toSorted(), Object.keys(ofMachines).toSorted());
  const marked = operations.filter(({ config }) => config?.machines);
  assert.deepEqual(marked.map(({ id }) => id).toSorted(), Object.keys(ofMachines).toSorted());
});

test("a person of the directory may look and no more, until two admins grant a role", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const { send } = await startOps(t, service);
  const first = await addPerson(service, { name: "first", role: "admin" });
  const second = await addPerson(service, { name: "second", role: "admin", by: [first] });
  const lena = {
    issuer: "https://directory.example",
    subject: "1",
    names: ["lena"],
    authAt: undefined,
  };
  const how = { isFresh: true, requestId: "directory" };
  const assertRole = async (role: OperatorRole) => {
    const { token } = await enterByDirectory(ctx, lena, how);
    for (const operation of operations) {
      if (operation.permission === undefined || operation.id === "signOut") continue;
      const answer = await send(operation.method, fillPath(operation.path), {
        headers: asBearer(token),
        ...(operation.body && { body: { no_such_field: 1 } }),
      });
      const allowed = permitted[operation.id] ?? everybody;
      assert.equal(hasAnswered(answer), allowed.includes(role), `${role} ${operation.id}`);
    }
    service.clock.advance({ seconds: 60 });
  };
  const propose = async () =>
    await grantRole(ctx, first.actor, { name: "lena", role: "settlement" });
  await assertRole("viewer");
  const { approval_id: approvalId = "", outcome } = await propose();
  assert.equal(outcome, "proposed");
  await assertRole("viewer");
  const decide = { approvalId, kinds: approvalKinds };
  await assert.rejects(approveProposal(ctx, first.actor, decide), {
    detail: { reason: "own_proposal", proposed_by: "first" },
  });
  await approveProposal(ctx, second.actor, decide);
  await assertRole("settlement");
  for (const change of [resetOperator, recover]) {
    await assert.rejects(change(ctx, first.actor, { name: "lena" }), {
      detail: { reason: "of_directory" },
    });
  }
  await disableOperator(ctx, first.actor, "lena");
  await assert.rejects(enterByDirectory(ctx, lena, how), { detail: { reason: "disabled" } });
  await assert.rejects(
    enterByDirectory(ctx, { ...lena, subject: "2", names: ["First"] }, how),
    { detail: { reason: "name_taken" } },
    "whoever bears an admin's name in the directory is not that admin",
  );
  const names = ["o'brien", "cli", "Zoë", "zoe@house.example", "3"];
  await enterByDirectory(ctx, { ...lena, subject: "3", names }, how);
  assert.equal((await listOperators(ctx)).at(-1)?.name, "zoe@house.example");
  await assert.rejects(enterByDirectory(ctx, { ...lena, subject: "4", names: ["ॐ"] }, how), {
    detail: { reason: "no_name" },
  });
});

test("the directory's people are no first people", async (t) => {
  const { ctx } = await startService(t);
  const lena = {
    issuer: "https://directory.example",
    subject: "1",
    names: ["lena"],
    authAt: undefined,
  };
  await assert.rejects(enterByDirectory(ctx, lena, { isFresh: true, requestId: "directory" }), {
    detail: { reason: "nobody_yet" },
  });
});

async function recover(ctx: Service["ctx"], _actor: Actor, { name }: { readonly name: string }) {
  await recoverAdmin(ctx, { name, reason: "lost", by: "root@desk-1" });
}

/** One session per person while it holds: a code is used once. */
const fresh = new Map<string, { token: string; until: number }>();

async function signInOnce(person: TestPerson, { clock }: Service): Promise<{ token: string }> {
  const known = fresh.get(person.name);
  if (known && known.until > clock.elapsedMs()) return known;
  const { token } = await person.signIn();
  const kept = { token, until: clock.elapsedMs() + 3_600_000 };
  fresh.set(person.name, kept);
  return kept;
}

test("operators' tokens are refused under /v1, and desks' keys under /ops", async (t) => {
  const service = await startService(t);
  const ops = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const { token } = await asha.signIn();
  const keyed = service.app.routes.filter(({ config }) => config.demand !== undefined);
  assert.ok(keyed.length > 50);
  for (const { method, path } of keyed) {
    const asKey = await service.send(method, path, { key: token });
    const asPerson = await service.send(method, path, { headers: asBearer(token) });
    assert.deepEqual([asKey.status, asPerson.status], [401, 401], `${method} ${path}`);
    assert.equal(asKey.text.includes(token), false);
  }
  for (const path of ["/ops/whoami", "/ops/firms"]) {
    await service.send("GET", path, { headers: asBearer(token), expect: 404 });
  }
  await ops.send("GET", "/ops/whoami", { headers: asBearer(token), expect: 200 });
  await ops.send("GET", "/v1/whoami", { headers: asBearer(token), expect: 404 });
  await ops.send("GET", "/metrics", { expect: 200 });
});

test("docs/ops-openapi.json is the document that is served", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const { body } = await send("GET", "/ops/openapi.json", { expect: 200 });
  assert.equal(openApiText(body), await readFile(opsOpenApiFile, "utf8"));
});
