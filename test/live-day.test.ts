// A day in live as two people have it, from a new desk to books that come to what the bank says: once
// on the command line, once through the operators' API.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { rupeesPlain } from "../src/kernel/money.ts";
import { operations } from "../src/ops/operations.ts";
import { bank, firmBody } from "./support/client-firms.ts";
import { commandLine } from "./support/cli.ts";
import { assertLedgerSound } from "./support/ledger.ts";
import { asBearer, startOps } from "./support/ops.ts";
import { addPerson } from "./support/people.ts";
import { type Service, startService } from "./support/service.ts";

const facePaise = 30_000_000;
const twoFromPaise = 25_000_000;
const openedPaise = 500_000_000;

/** What the two of them do, by either door. What takes both is proposed by one and approved by the other. */
type Office = {
  /** A desk's key. */
  issueKey(firm: string): Promise<string>;
  verifyFirm(firmId: string): Promise<void>;
  authorizeFirm(firmId: string): Promise<void>;
  /** Answers all questions to customs and the bank that wait. */
  confirmFirms(): Promise<void>;
  confirmCredits(): Promise<void>;
  publishCard(midBps: number, people: 1 | 2): Promise<void>;
  confirmTransfer(settlementId: string, reference: string): Promise<void>;
  importStatement(csv: string, people: 1 | 2): Promise<object>;
  previewPaise(): Promise<number>;
  makeFile(): Promise<{ readonly text: string; readonly reference: string }>;
  /** Status and UTR of the one payout. */
  readPayout(): Promise<readonly string[]>;
  reconcile(): Promise<object>;
};

const mandate = { signatory: "R. Mehta", reference: "M-1", until: "2099-03-31" };

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
  const waiting = async (): Promise<{ inquiry_id: string }[]> =>
    await ok("registry", "list", "--env", "live");
  let files = 0;
  return {
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
      for (const { inquiry_id } of await waiting()) {
        await ok("registry", "confirm", inquiry_id, "--reference", "TICKET-1", ...asha);
      }
    },
    async confirmCredits() {
      for (const { inquiry_id } of await waiting()) {
        const held = ["--held", "yes", "--reference", "ICEGATE-1"];
        await byTwo("registry", "confirm", inquiry_id, ...held);
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
    const operation = operations.find(({ operationId }) => operationId === name);
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
    const { inquiries } = await ask(asha, "listInquiries", { query: live });
    for (const { inquiry_id } of inquiries) {
      const body = { findings: [{ inquiry_id, ...found }] };
      await (people === 2
        ? byTwo("attestInquiries", { body })
        : ask(asha, "attestInquiries", { body }));
    }
  };
  return {
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

async function haveDay(service: Service, office: Office): Promise<void> {
  const { send } = service;
  /** A desk with a client that customs and the bank know, and that has signed its mandate. */
  const openDesk = async (name: string, accountNo: string) => {
    const key = await office.issueKey(`${name} Desk`);
    const body = firmBody({ legal_name: name, role: "both", bank: bank(name, accountNo) });
    const firm = (await send("POST", "/v1/firms", { key, body, expect: 201 })).body;
    const firmId = firm.firm_id as string;
    await office.verifyFirm(firmId);
    await office.confirmFirms();
    await office.authorizeFirm(firmId);
    return { key, firmId };
  };
  const seller = await openDesk("Shree Exports Limited", "50200011110001");
  const buyer = await openDesk("Bharat Imports Limited", "50200011110002");
  await office.publishCard(9_850, 1);
  await office.publishCard(9_700, 2);

  const credit = {
    scrip_no: "0123/RODTEP/7001",
    scheme: "RODTEP",
    face_paise: facePaise,
    issued_on: "2026-10-01",
    expires_on: "2028-09-30",
  };
  const path = `/v1/firms/${seller.firmId}/credits`;
  await send("POST", path, { key: seller.key, body: { credits: [credit] }, expect: 200 });
  await office.confirmCredits();

  const deal = async (key: string, body: object, firm: { firm_id?: string } = {}) => {
    const quote = (await send("POST", "/v1/quote", { key, body, expect: 200 })).body;
    assert.ok(quote.quote_ref, JSON.stringify(quote));
    const order = { quote_ref: quote.quote_ref, ...firm };
    const placed = (await send("POST", "/v1/orders", { key, body: order, expect: 201 })).body;
    return { settlementId: placed.settlement_id as string, paise: placed.all_in_paise as number };
  };
  const settle = async (key: string, settlementId: string, reference: string) => {
    await service.work();
    await office.confirmTransfer(settlementId, reference);
    const settled = await send("GET", `/v1/settlements/${settlementId}`, { key, expect: 200 });
    assert.equal(settled.body.status, "settled");
  };
  const sale = await deal(seller.key, { side: "sell", scrip_no: credit.scrip_no });
  await settle(seller.key, sale.settlementId, "ICEGATE-2");
  await service.work();

  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: facePaise };
  const purchase = await deal(buyer.key, wanted, { firm_id: buyer.firmId });
  let balancePaise = openedPaise;
  const statement = (utr: string, words: string, paise: number, remitter = "") => {
    balancePaise += paise;
    const amount = rupeesPlain(Math.abs(paise));
    const sides = paise < 0 ? [amount, ""] : ["", amount];
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    const row = ["16/11/2026", utr, words, ...sides, rupeesPlain(balancePaise), remitter, ""];
    return `${heading}\n${row.join(",")}\n`;
  };
  const remitter = "BHARAT IMPORTS LIMITED";
  await office.importStatement(
    statement("HDFCR52026970000001", purchase.settlementId, purchase.paise, remitter),
    2,
  );
  await settle(buyer.key, purchase.settlementId, "ICEGATE-3");

  assert.equal(await office.previewPaise(), sale.paise);
  const { text, reference } = await office.makeFile();
  assert.match(text, /50200011110001/);
  const left = statement("HDFCR52026970000002", reference, -sale.paise);
  const answer = await office.importStatement(left, 1);
  const { outcome, matched, queued } = answer as Record<string, unknown>;
  assert.deepEqual([outcome, matched, queued], ["applied", 1, 0]);
  assert.deepEqual(await office.readPayout(), ["paid", "HDFCR52026970000002"]);
  assert.deepEqual(await office.reconcile(), {
    as_of: "2026-11-16",
    bank_paise: balancePaise,
    books_paise: balancePaise - openedPaise,
    difference_paise: openedPaise,
    unexplained_paise: 0,
    queued: 0,
    differences: [{ what: "on the account before the first statement", amount_paise: openedPaise }],
  });
  const { rows } = await service.ctx.db.pool.query<{ actor_id: string }>(
    `select distinct actor_id from audit_records
    where actor_kind = 'operator' and action not like 'operator.%' order by 1`,
  );
  assert.deepEqual(
    rows.map(({ actor_id }) => actor_id),
    ["asha", "ravi"],
    "every act names its person",
  );
  await assertLedgerSound(service);
}
