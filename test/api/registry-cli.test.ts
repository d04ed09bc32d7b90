import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { commandLine } from "../support/cli.ts";
import { bank, firmBody } from "../support/client-firms.ts";
import { startService } from "../support/service.ts";

type Listed = {
  question_id: string;
  kind: string;
  subject_id: string;
  facts: Readonly<Record<string, unknown>>;
};

test("an operator takes live firms from question to trading on the command line", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { run, dataDir } = await commandLine(t, service);
  const { api_key: key } = await service.issue({ environment: "live", plan: "desk" });
  const body = firmBody({ bank: bank("Live Firm") });
  const firm = (await send("POST", "/v1/firms", { key, body, expect: 201 })).body;
  const readConnectionState = async () =>
    (await send("GET", `/v1/firms/${firm.firm_id}`, { key, expect: 200 })).body.connection_state;
  const open = async () =>
    JSON.parse((await run("registry", "list", "--env", "live", "--json")).stdout) as Listed[];

  await t.test("verifying makes two questions", async () => {
    assert.equal((await run("firms", "verify", firm.firm_id)).code, 0);
    assert.deepEqual((await open()).map(({ kind }) => kind).toSorted(), [
      "bank_account",
      "firm_identity",
    ]);
  });

  await t.test(
    "customs is asked whether the name is that of the code, as the bank asks for it",
    async () => {
      const asked = (await open()).find(({ kind }) => kind === "firm_identity");
      assert.equal(asked?.facts["legal_name"], firm.legal_name);
    },
  );

  await t.test("a file with one wrong line answers nothing", async () => {
    const file = join(dataDir, "answers.csv");
    const lines = (await open()).map(({ question_id }) => `${question_id},pass,,T-1`);
    const header = "question_id,outcome,check,reference";
    for (const wrong of ["inq_nothing,pass,,T-1", `${lines[0]?.split(",")[0]},maybe,,T-1`, "a,b"]) {
      await writeFile(file, [header, ...lines, wrong].join("\n"));
      assert.notEqual((await run("registry", "confirm", "--csv", file)).code, 0, wrong);
    }
    assert.equal((await open()).length, 2);
  });

  await t.test("a faulty line is named by the number that a spreadsheet shows", async () => {
    const file = join(dataDir, "answers.csv");
    const header = "question_id,outcome,check,reference";
    const faults: [string, RegExp][] = [
      ["inq_1,maybe,,T-1", /line 4: outcome must be pass/],
      ["inq_1,pass,T-1", /line 4 has 3 cells, not 4/],
      ['"inq_1"x,pass,,T-1', /line 4: text follows a closing quotation mark/],
      ['"inq_1,pass,,T-1', /line 4: a quotation mark is not closed/],
    ];
    for (const [line, says] of faults) {
      await writeFile(file, [header, "", "inq_0,pass,,T-1", line].join("\n"));
      const ran = await run("registry", "confirm", "--csv", file);
      assert.notEqual(ran.code, 0, line);
      assert.match(ran.stderr, says);
    }
  });

  await t.test("a file answers all of its questions, with the failed checks", async () => {
    const file = join(dataDir, "answers.csv");
    const lines = (await open()).map(({ question_id, kind }) =>
      kind === "bank_account"
        ? `${question_id};fail;"BANK_NAME_MATCH:another, please";T-1`
        : `${question_id};pass;;T-1`,
    );
    const text = ["question_id;outcome;check;reference", ...lines, ""].join("\r\n");
    await writeFile(file, `\uFEFF${text}`);
    const ran = await run("registry", "confirm", "--csv", file, "--json");
    assert.deepEqual(JSON.parse(ran.stdout), { answered: 2 });
    assert.equal(await readConnectionState(), "action_required");
    assert.match((await run("firms", "show", firm.firm_id)).stdout, /fail \(another, please\)/);
  });

  await t.test("single answers need a reference and must fit their question", async () => {
    await run("firms", "verify", firm.firm_id);
    const [first, second] = (await open()).map(({ question_id }) => question_id);
    const confirm = async (id = "", ...words: string[]) =>
      (await run("registry", "confirm", id, ...words)).code;
    assert.equal(await confirm(first), 2);
    assert.equal(await confirm(first, "--reference", "T-2", "--held", "yes"), 1);
    assert.equal(await confirm(first, "--reference", "T-2"), 0);
    assert.equal(await confirm(first, "--reference", "T-2"), 1);
    assert.equal(await confirm(second, "--reference", "T-2"), 0);
    assert.equal(await readConnectionState(), "verified");
  });

  await t.test("the operator authorizes, suspends and resumes", async () => {
    const given = ["--signatory", "R. Mehta", "--reference", "M-1", "--until", "2099-03-31"];
    assert.equal((await run("firms", "authorize", firm.firm_id, ...given)).code, 0);
    assert.equal(await readConnectionState(), "authorized");
    assert.equal((await run("firms", "suspend", firm.firm_id, "--reason", "review")).code, 0);
    const refused = await send("POST", `/v1/firms/${firm.firm_id}/resume`, { key, body: {} });
    assert.equal(refused.status, 403);
    assert.equal((await run("firms", "resume", firm.firm_id)).code, 0);
    assert.equal(await readConnectionState(), "authorized");
    assert.equal((await run("firms", "show", "frm_nobody")).code, 1);
    const listed = await run("firms", "list", "--env", "live", "--state", "authorized", "--json");
    assert.deepEqual(
      (JSON.parse(listed.stdout) as { firm_id: string }[]).map(({ firm_id }) => firm_id),
      [firm.firm_id],
    );
  });

  await t.test("an outage is declared and lifted", async () => {
    const outage = ["registry", "outage", "--env", "live", "--port", "bank"];
    assert.equal((await run(...outage)).code, 2);
    assert.equal((await run(...outage, "--on", "holiday")).code, 0);
    const path = `/v1/firms/${firm.firm_id}/connection`;
    assert.equal((await send("GET", path, { key })).body.ports[1].state, "outage");
    assert.equal((await run(...outage, "--off")).code, 0);
    assert.equal((await send("GET", path, { key })).body.ports[1].state, "up");
  });
});
