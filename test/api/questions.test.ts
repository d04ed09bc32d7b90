import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  answerDueQuestions,
  type Appliers,
  attestQuestions,
} from "../../src/outside/answer-questions.ts";
import {
  askOutside,
  dropQuestions,
  readOpenQuestions,
  listPortStatus,
  type NewQuestion,
  setOutage,
} from "../../src/outside/ask.ts";
import type { AnsweredQuestion, Simulators } from "../../src/outside/question-rules.ts";
import type { Actor } from "../../src/kernel/actor.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import { sql, type Tx } from "../../src/platform/postgres/postgres.ts";
import { type Service, startService } from "../support/service.ts";

const simulators: Simulators = {
  firm_identity: ({ pan }) => ({
    checks: [{ check: "PAN_MATCH", outcome: pan === "wrong" ? "fail" : "pass", cure: null }],
  }),
  bank_account: () => ({ checks: [{ check: "BANK_NAME_MATCH", outcome: "pass", cure: null }] }),
  credit_holding: () => ({ held: true, reason: null }),
  deal_funding: () => ({ arrived: true, reference: null }),
  credit_transfer: ({ scrip_no }) =>
    scrip_no === "SILENT" ? undefined : { outcome: "transferred" },
  payout: () => ({ outcome: "paid", reason: null }),
};

const operator: Actor = { kind: "operator", id: "asha", requestId: null };
const held = { held: true, reason: null };

/** Appliers that keep what they are given, and then do what the test wants of them. */
function recorder(then: () => Promise<void> = async () => {}) {
  const applied: AnsweredQuestion[] = [];
  const keep = async (_tx: unknown, _actor: unknown, answered: readonly AnsweredQuestion[]) => {
    applied.push(...answered);
    await then();
  };
  const appliers: Appliers = {
    firms: keep,
    credits: keep,
    funding: keep,
    transfers: keep,
    payouts: keep,
  };
  const subjects = () => applied.map(({ subject_id }) => subject_id).toSorted();
  return { applied, appliers, subjects };
}

async function outside(t: TestContext) {
  const service = await startService(t);
  const { firm_id: sandbox } = await service.issue();
  const { firm_id: live } = await service.issue({ environment: "live" });
  const ask = (...questions: NewQuestion[]) =>
    service.ctx.db.transaction((tx) => tx.run(askOutside(questions, service.clock.now())));
  const chooseDesk = (environment: Environment) => (environment === "live" ? live : sandbox);
  const holding = (subjectId: string, environment: Environment = "sandbox"): NewQuestion => ({
    environment,
    deskId: chooseDesk(environment),
    port: "registry",
    kind: "credit_holding",
    subjectId,
    facts: {
      iec: "AAACA1234A",
      scrip_no: subjectId,
      scheme: "RODTEP",
      face_paise: 1,
      expires_on: "2028-01-31",
    },
  });
  const account = (subjectId: string): NewQuestion => ({
    environment: "sandbox",
    deskId: sandbox,
    port: "bank",
    kind: "bank_account",
    subjectId,
    facts: {
      legal_name: "A",
      account_name: "A",
      last4: "0001",
      ifsc: "HDFC0000001",
      account_id: "acc_1",
    },
  });
  const identity = (subjectId: string, pan: string): NewQuestion => ({
    environment: "sandbox",
    deskId: sandbox,
    port: "registry",
    kind: "firm_identity",
    subjectId,
    facts: { legal_name: "A", iec: pan, pan, gstin: null },
  });
  const fallDue = () => service.clock.advance({ seconds: 1 });
  const answer = (appliers: Appliers) => answerDueQuestions(service.ctx, simulators, appliers);
  const open = async () =>
    (await readOpenQuestions(service.ctx, { environment: null, port: null })).map(
      ({ question_id, subject_id }) => ({ question_id, subject_id }),
    );
  return { service, ask, holding, account, identity, fallDue, answer, open };
}

type Stored = { state: string; answer: unknown; reference: string | null; answered_by: string };

async function listStored({ ctx }: Service, subjectId: string): Promise<Stored[]> {
  const { rows } = await ctx.db.pool.query<Stored>(
    `select state, answer, reference, answered_by
    from questions where subject_id = $1 order by created_at, question_id`,
    [subjectId],
  );
  return rows;
}

test("a question waits until it is due and is then answered by the simulator of its kind", async (t) => {
  const { service, ask, holding, account, identity, fallDue, answer } = await outside(t);
  await ask(holding("crd-1"), account("frm-1"), identity("frm-1", "wrong"));
  const { applied, appliers } = recorder();
  assert.equal(await answer(appliers), "idle");
  assert.deepEqual(applied, []);
  fallDue();
  await answer(appliers);
  const found = Object.fromEntries(applied.map(({ kind, answer }) => [kind, answer]));
  assert.deepEqual(found, {
    credit_holding: held,
    bank_account: { checks: [{ check: "BANK_NAME_MATCH", outcome: "pass", cure: null }] },
    firm_identity: { checks: [{ check: "PAN_MATCH", outcome: "fail", cure: null }] },
  });
  for (const { as_of } of applied) assert.deepEqual(as_of, service.clock.now());
  assert.deepEqual(await listStored(service, "crd-1"), [], "a simulated answer leaves no row");
});

test("concurrent workers answer every question once", async (t) => {
  const { ask, holding, fallDue, answer, open } = await outside(t);
  const subjects = Array.from({ length: 1_000 }, (_, n) => `crd-${String(n).padStart(4, "0")}`);
  await ask(...subjects.map((subject) => holding(subject)));
  fallDue();
  const answerers = Array.from({ length: 4 }, () => recorder());
  for (let rounds = 0; rounds < 50 && (await open()).length > 0; rounds++) {
    await Promise.all(answerers.map(({ appliers }) => answer(appliers)));
  }
  assert.deepEqual(answerers.flatMap(({ subjects }) => subjects()).toSorted(), subjects);
  assert.ok(answerers.filter(({ applied }) => applied.length > 0).length > 1, "several took part");
});

test("a worker skips questions that another has locked", async (t) => {
  const { service, ask, holding, fallDue, answer } = await outside(t);
  await ask(holding("crd-1"));
  fallDue();
  const taken = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const first = recorder(async () => {
    taken.resolve();
    await gate.promise;
  });
  const answering = answer(first.appliers);
  await taken.promise;
  await ask(holding("crd-2"));
  fallDue();
  const second = recorder();
  await answer(second.appliers);
  assert.deepEqual(second.subjects(), ["crd-2"]);
  // Control: whoever reads without the claim still sees the question that is being answered.
  const { rows } = await service.ctx.db.pool.query(
    "select subject_id from questions where state = 'open' and due_at <= $1",
    [service.clock.now()],
  );
  assert.deepEqual(rows, [{ subject_id: "crd-1" }]);
  gate.resolve();
  await answering;
  assert.deepEqual(first.subjects(), ["crd-1"]);
});

test("an answer that cannot be applied is rolled back and given later", async (t) => {
  const { service, ask, holding, fallDue, answer } = await outside(t);
  await ask(holding("crd-1"));
  fallDue();
  const failing = recorder(() => Promise.reject(new Error("the consequences failed")));
  assert.equal(await answer(failing.appliers), "idle");
  assert.equal((await listStored(service, "crd-1"))[0]?.state, "open");
  const working = recorder();
  await answer(working.appliers);
  assert.deepEqual(working.subjects(), ["crd-1"]);
});

test("an outage holds the questions of its own office only, until it ends", async (t) => {
  const { service, ask, holding, account, fallDue, answer } = await outside(t);
  const { ctx } = service;
  const registry = { environment: "sandbox", port: "registry" } as const;
  assert.deepEqual(await listPortStatus(ctx.db, "sandbox"), [
    { port: "registry", state: "up", since: null },
    { port: "bank", state: "up", since: null },
  ]);
  await ask(holding("crd-1"), account("frm-1"));
  await setOutage(ctx, registry, "customs is down");
  const since = "2026-11-15T14:45:00.000+05:30";
  fallDue();
  await setOutage(ctx, registry, "still down");
  assert.deepEqual(await listPortStatus(ctx.db, "sandbox"), [
    { port: "registry", state: "outage", since },
    { port: "bank", state: "up", since: null },
  ]);
  assert.ok((await listPortStatus(ctx.db, "live")).every(({ state }) => state === "up"));
  const during = recorder();
  await answer(during.appliers);
  assert.deepEqual(during.subjects(), ["frm-1"]);
  await setOutage(ctx, registry, undefined);
  const after = recorder();
  await answer(after.appliers);
  assert.deepEqual(after.subjects(), ["crd-1"]);
});

test("live questions are not simulated: an operator attests them with a reference", async (t) => {
  const { service, ask, holding, fallDue, answer, open } = await outside(t);
  await ask(holding("crd-1", "live"));
  fallDue();
  const simulated = recorder();
  await answer(simulated.appliers);
  assert.deepEqual(simulated.applied, []);
  const [question] = await open();
  const { applied, appliers } = recorder();
  const attestation = { questionId: question?.question_id ?? "", answer: held, reference: "T-17" };
  assert.equal(await attestQuestions(service.ctx, operator, [attestation], appliers), 1);
  assert.deepEqual([applied[0]?.answer, applied[0]?.reference], [held, "T-17"]);
  assert.deepEqual(await listStored(service, "crd-1"), [
    { state: "answered", answer: held, reference: "T-17", answered_by: "asha" },
  ]);
});

test("a batch of attestations is applied whole or not at all", async (t) => {
  const { service, ask, holding, open } = await outside(t);
  await ask(holding("crd-1", "live"), holding("crd-2", "live"), holding("crd-3", "live"));
  const attest = (ids: readonly string[], appliers: Appliers) =>
    attestQuestions(
      service.ctx,
      operator,
      ids.map((questionId) => ({ questionId, answer: held, reference: "T-17" })),
      appliers,
    );
  const [first, ...rest] = await open();
  const answered = first?.question_id ?? "";
  const others = rest.map(({ question_id }) => question_id);
  await attest([answered], recorder().appliers);
  for (const wrong of ["inq_01jd2m7q4x8r5v6w9y0abcdefg", answered]) {
    const { applied, appliers } = recorder();
    await assert.rejects(attest([...others, wrong], appliers), { code: "not_found" });
    assert.deepEqual(applied, []);
  }
  const failing = recorder(() => Promise.reject(new Error("the consequences failed")));
  await assert.rejects(attest(others, failing.appliers));
  assert.equal((await open()).length, 2);
  const racing = [recorder(), recorder()];
  const outcomes = await Promise.allSettled(racing.map(({ appliers }) => attest(others, appliers)));
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  assert.deepEqual(
    racing.flatMap(({ subjects }) => subjects()).toSorted(),
    rest.map(({ subject_id }) => subject_id).toSorted(),
  );
});

test("an open question is not repeated; a closed one may be", async (t) => {
  const { service, ask, holding, account, identity, fallDue, answer, open } = await outside(t);
  await ask(holding("crd-1"), holding("crd-1"));
  await Promise.all(Array.from({ length: 10 }, () => ask(holding("crd-1"))));
  assert.equal((await open()).length, 1);
  await ask(account("frm-1"), identity("frm-1", "AAACA1234A"));
  assert.equal((await open()).length, 3, "another kind of question about one thing is another");
  fallDue();
  await answer(recorder().appliers);
  await ask(holding("crd-1"));
  assert.deepEqual(
    (await listStored(service, "crd-1")).map(({ state }) => state),
    ["open"],
  );
});

test("a withdrawn question is never answered", async (t) => {
  const { service, ask, holding, fallDue, answer } = await outside(t);
  await ask(holding("crd-1"), holding("crd-2"));
  await service.ctx.db.transaction((tx) => dropQuestions(tx, { credit_holding: ["crd-1"] }));
  fallDue();
  const { subjects, appliers } = recorder();
  await answer(appliers);
  assert.deepEqual(subjects(), ["crd-2"]);
  assert.deepEqual(
    (await listStored(service, "crd-1")).map(({ state }) => state),
    ["dropped"],
  );
  await ask(holding("crd-1"));
  assert.equal((await listStored(service, "crd-1")).length, 2);
});

test("a dropped question leaves those of other kinds and subjects open", async (t) => {
  const { service, ask, account, identity, open } = await outside(t);
  await ask(account("frm-1"), identity("frm-1", "AAACA1234A"), account("frm-2"));
  await service.ctx.db.transaction((tx) => dropQuestions(tx, { bank_account: ["frm-1"] }));
  const stored = await listStored(service, "frm-1");
  assert.deepEqual(stored.map(({ state }) => state).toSorted(), ["dropped", "open"]);
  assert.equal((await open()).length, 2);
});

test("a caller that changes the subject of an answer is never the deadlock victim", async (t) => {
  const { service, ask, holding, fallDue, answer } = await outside(t);
  const { ctx } = service;
  await ask(holding("crd-1"));
  fallDue();
  const lockFirms = (db: Pick<Tx, "rows">) => db.rows(sql`select from firms for update`);
  const taken = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const credits = async (tx: Tx) => {
    taken.resolve();
    await gate.promise;
    await lockFirms(tx);
  };
  const answering = answer({ ...recorder().appliers, credits });
  const outcome = Promise.allSettled([answering]);
  await taken.promise;
  // The caller has the firm and waits for the question; the answerer has the question and now
  // wants the firm.
  await ctx.db.transaction(async (tx) => {
    await lockFirms(tx);
    const dropping = dropQuestions(tx, { credit_holding: ["crd-1"] });
    setTimeout(gate.resolve, 100);
    await dropping;
  });
  const [answered] = await outcome;
  assert.deepEqual(answered, { status: "fulfilled", value: "idle" });
  assert.deepEqual(
    (await listStored(service, "crd-1")).map(({ state }) => state),
    ["dropped"],
  );
});
