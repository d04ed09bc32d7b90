// A day in live as two people have it, from a new desk to books that come to what the bank says: once
// on the command line, once through the operators' API.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { operations } from "../src/ops/operations.ts";
import { commandLine } from "./support/cli.ts";
import { haveDay, mandate, type Office, twoFromPaise } from "./support/live-day.ts";
import { asBearer, startOps } from "./support/ops.ts";
import { addPerson } from "./support/people.ts";
import { type Service, startService } from "./support/service.ts";

/** By commands, with names; nobody has signed in. */
async function openByCommands(t: TestContext, service: Service): Promise<Office> {
  const settings = { TWO_OPERATORS_FROM_PAISE: String(twoFromPaise) };
  const { run, dataDir } = await commandLine(t, service, settings);
  const asha = ["--operator", "asha"];
  const ravi = ["--operator", "ravi"];
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, `${words.join(" ")}: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  };
  const byTwo = async (...words: string[]) => {
    await ok(...words, ...asha);
    const [waiting] = await ok("approvals", "list");
    assert.ok(waiting, `${words.join(" ")} waits for a second person`);
    assert.equal((await run("approvals", "approve", waiting.approval_id, ...asha)).code, 1);
    return await ok("approvals", "approve", waiting.approval_id, ...ravi);
  };
  const waiting = async (): Promise<{ question_id: string }[]> =>
    await ok("registry", "list", "--env", "live");
  let files = 0;
  return {
    firstCardTakes: 1,
    async issueKey(firm) {
      const desk = ["--firm", firm, "--env", "live", "--plan", "desk", "--buy"];
      return (await ok("keys", "issue", ...desk, ...asha)).api_key;
    },
    async verifyFirm(firmId) {
      await ok("firms", "verify", firmId, ...asha);
    },
    async authorizeFirm(firmId) {
      const { signatory, reference, until } = mandate;
      const signed = ["--signatory", signatory, "--reference", reference, "--until", until];
      await ok("firms", "authorize", firmId, ...signed, ...asha);
    },
    async confirmFirms() {
      for (const { question_id } of await waiting()) {
        await ok("registry", "confirm", question_id, "--reference", "TICKET-1", ...asha);
      }
    },
    async confirmCredits() {
      for (const { question_id } of await waiting()) {
        const held = ["--held", "yes", "--reference", "ICEGATE-1"];
        await byTwo("registry", "confirm", question_id, ...held);
      }
    },
    async publishCard(midBps, people) {
      const words = ["rates", "publish", "--env", "live", "--scheme", "RODTEP"];
      const card = [...words, "--mid", String(midBps)];
      await (people === 2 ? byTwo(...card) : ok(...card, ...asha));
    },
    async confirmTransfer(settlementId, reference) {
      await byTwo("settlements", "confirm-transfer", settlementId, "--reference", reference);
    },
    async importStatement(csv, people) {
      const file = join(dataDir, `statement-${++files}.csv`);
      await writeFile(file, csv);
      if (people === 2) return await byTwo("bank", "import", file);
      return await ok("bank", "import", file, ...ravi);
    },
    async previewPaise() {
      return (await ok("payouts", "file", "--preview")).at(-1).amount_paise;
    },
    async makeFile() {
      const made = await byTwo("payouts", "file", "--out", dataDir);
      const written = await ok("payouts", "file", "write", made.file_id, "--out", dataDir, ...asha);
      const { lines } = await ok("payouts", "file", "show", made.file_id);
      return { text: await readFile(written.path, "utf8"), reference: lines[0].reference };
    },
    async readPayout() {
      const [{ status, utr }] = await ok("payouts", "list", "--env", "live");
      return [status, utr];
    },
    reconcile: () => ok("bank", "reconcile"),
  };
}

/** Through the API, by people who have signed in. */
async function openByApi(t: TestContext, service: Service): Promise<Office> {
  const { send } = await startOps(t, service, { twoOperatorsFromPaise: twoFromPaise });
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  const tokens = new Map<typeof asha, string>();
  for (const person of [asha, ravi]) tokens.set(person, (await person.signIn()).token);
  /** Calls an operation by its name, for a person; the path's parameters in their order. */
  const ask = async (person: typeof asha, name: string, given: Given = {}, expect = 200) => {
    const operation = operations.find(({ id }) => id === name);
    assert.ok(operation, name);
    const rest = [...(given.path ?? [])];
    const path = operation.path.replaceAll(/:\w+/g, () => rest.shift() ?? "");
    const query = new URLSearchParams(given.query ?? {}).toString();
    return (
      await send(operation.method, query === "" ? path : `${path}?${query}`, {
        headers: asBearer(tokens.get(person) ?? ""),
        ...(operation.body && { body: given.body ?? {} }),
        expect,
      })
    ).body;
  };
  const byTwo = async (name: string, given: Given = {}) => {
    await ask(asha, name, given);
    const { approvals } = await ask(asha, "listApprovals", { query: { status: "proposed" } });
    const [waiting] = approvals;
    assert.ok(waiting, `${name} waits for a second person`);
    const path = [waiting.approval_id];
    await ask(asha, "approveProposal", { path }, 403);
    return (await ask(ravi, "approveProposal", { path })).result;
  };
  const live = { environment: "live" };
  const confirmAll = async (found: object, people: 1 | 2) => {
    const { questions } = await ask(asha, "listQuestions", { query: live });
    for (const { question_id } of questions) {
      const body = { findings: [{ question_id, ...found }] };
      await (people === 2
        ? byTwo("attestQuestions", { body })
        : ask(asha, "attestQuestions", { body }));
    }
  };
  return {
    firstCardTakes: 2,
    async issueKey(firm) {
      const body = { firm, ...live, scopes: ["*"], plan: "desk", buy_side: true };
      return (await ask(asha, "issueKey", { body })).api_key;
    },
    async verifyFirm(firmId) {
      await ask(asha, "verifyAnyFirm", { path: [firmId] });
    },
    async authorizeFirm(firmId) {
      const { signatory: signatory_name, reference, until: valid_until } = mandate;
      const body = { signatory_name, reference, valid_until };
      await ask(asha, "authorizeAnyFirm", { path: [firmId], body });
    },
    confirmFirms: () => confirmAll({ reference: "TICKET-1" }, 1),
    confirmCredits: () => confirmAll({ reference: "ICEGATE-1", held: true }, 2),
    async publishCard(mid_bps, people) {
      const body = { ...live, scheme: "RODTEP", terms: { mid_bps } };
      await (people === 2 ? byTwo("publishCard", { body }) : ask(asha, "publishCard", { body }));
    },
    async confirmTransfer(settlementId, reference) {
      const body = { reference, outcome: "transferred" };
      await byTwo("confirmTransfer", { path: [settlementId], body });
    },
    async importStatement(csv, people) {
      const body = { content_base64: Buffer.from(csv).toString("base64") };
      if (people === 2) return await byTwo("importBankStatement", { body });
      return await ask(ravi, "importBankStatement", { body });
    },
    async previewPaise() {
      return (await ask(asha, "previewFiles", { query: live })).files.at(-1).amount_paise;
    },
    async makeFile() {
      const { file_id } = await byTwo("makeFiles", { body: live });
      const { text } = await ask(asha, "readFile", { path: [file_id] });
      const { lines } = await ask(asha, "readFileFacts", { path: [file_id] });
      return { text, reference: lines[0].reference };
    },
    async readPayout() {
      const { payouts } = await ask(asha, "listAllPayouts", { query: live });
      return [payouts[0].status, payouts[0].utr];
    },
    reconcile: () => ask(asha, "reconcileBank"),
  };
}

type Given = {
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
};

const doors = { "on the command line": openByCommands, "through the operators' API": openByApi };

for (const [door, openOffice] of Object.entries(doors)) {
  test(`a live day ${door} goes from a new desk to books that agree with the bank`, async (t) => {
    const service = await startService(t);
    await haveDay(service, await openOffice(t, service));
  });
}
