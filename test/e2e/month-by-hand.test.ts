// One month of a desk by hand, through the front door: twenty deals of every kind, and the pack that the
// accountant gets of it by command, by operation and by the console's button. Each paper's total is found
// in the ledger, and LibreOffice opens every workbook.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

import { unzipSync } from "fflate";

import { computeGstinCheckCharacter, makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import { istDay } from "../../src/kernel/time.ts";
import { operations } from "../../src/ops/operations.ts";
import { chromiumMissing, browser } from "../support/chromium.ts";
import { bank, firmThatIs } from "../support/client-firms.ts";
import { commandLine } from "../support/cli.ts";
import { signInToConsole } from "../support/console.ts";
import { putCard } from "../support/dealing-house.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { asBearer, type OpsService, startOps } from "../support/ops.ts";
import { addPerson, type TestPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";
import { readXlsx } from "../support/xlsx.ts";

const period = "2026-11";
const environment = "sandbox";
const lakh = 10_000_000;
const crore = 100 * lakh;

const browse = browser(fileScope());
const skip = (await chromiumMissing()) ?? false;

type Trader = Awaited<ReturnType<typeof openTrader>>;

let scrips = 0;

/** A desk with a firm that was registered, checked and authorized. */
async function openTrader(
  service: Service,
  name: string,
  { state, desk }: { readonly state: string | null; readonly desk?: { readonly key: string } },
) {
  const key = desk?.key ?? (await service.issue({ buySide: true })).api_key;
  const pan = makeSyntheticPan(name);
  const gstin = state === null ? null : `${state}${pan}1Z`;
  const changes = {
    legal_name: name,
    iec: pan,
    pan,
    role: "both",
    bank: bank(name, `50200${String(++scrips).padStart(9, "0")}`),
    ...(gstin !== null && { gstin: gstin + computeGstinCheckCharacter(gstin) }),
  };
  const { firm_id: firmId } = await firmThatIs(service, key, "authorized", changes);
  const send = async (method: string, path: string, body?: object, expect = 200) =>
    (await service.send(method, path, { key, ...(body && { body }), expect })).body;
  return {
    key,
    pan,
    firmId: firmId as string,
    send,
    /** A credit that customs has confirmed. */
    async declare(face_paise: number, scheme = "RODTEP", ending = "0001"): Promise<string> {
      const scrip_no = `${String(++scrips).padStart(8, "0")}${ending}`;
      const days = { issued_on: "2026-10-01", expires_on: "2028-09-30" };
      const credits = [{ scrip_no, scheme, face_paise, ...days }];
      await send("POST", `/v1/firms/${firmId}/credits`, { credits });
      await letSettle(service, 2);
      return scrip_no;
    },
    order: async (body: object) =>
      await send("POST", "/v1/orders", { firm_id: firmId, ...body }, 201),
  };
}

/** What an operator does, who signs in every day, by the names of operations. */
function operate({ clock }: Service, ops: OpsService, person: TestPerson) {
  const signed = { on: "", token: "" };
  return async (name: string, path: readonly string[], body?: object, query = "") => {
    const operation = operations.find(({ id }) => id === name) ?? assert.fail(name);
    const rest = [...path];
    const url = operation.path.replaceAll(/:\w+/g, () => rest.shift() ?? "") + query;
    const on = istDay(clock.now());
    if (signed.on !== on) Object.assign(signed, { on, token: (await person.signIn()).token });
    const options = { headers: asBearer(signed.token), expect: 200, ...(body && { body }) };
    return (await ops.send(operation.method, url, options)).body;
  };
}

type Operate = ReturnType<typeof operate>;

type Deal = { readonly by: Trader; readonly settlementId: string };

/** Twenty deals of every kind, one on each day; what was settled, and what came back. */
async function liveThrough(service: Service, asha: Operate): Promise<Deal[]> {
  const exporter = await openTrader(service, "Shree Exports Limited", { state: "27" });
  const mill = await openTrader(service, "Deccan Textiles Limited", { state: "29" });
  const importer = await openTrader(service, "Bharat Imports Limited", { state: "24" });
  const trader = await openTrader(service, "Uma Traders", { state: null });
  const sister = await openTrader(service, "Shree Imports Limited", {
    state: "27",
    desk: exporter,
  });
  await stockHouse(service.ctx, [
    ...Array.from({ length: 12 }, () => ({ face_paise: 2 * lakh })),
    { face_paise: 3 * lakh, scheme: "ROSCTL" },
  ]);
  const deals: Deal[] = [];
  /** The deal of a day, which is settled before the next one. */
  const day = async (by: Trader, deal: Promise<Answer["body"]>) => {
    const settlementId = (await deal).settlement_id as string;
    assert.match(settlementId, /^stl_/);
    deals.push({ by, settlementId });
    await letSettle(service, 5);
    service.clock.advance({ days: 1 });
    return settlementId;
  };
  const sell = async (by: Trader, face: number, scheme?: string, terms: object = {}) =>
    by.order({ side: "sell", scrip_no: await by.declare(face, scheme), ...terms });
  const cover = (by: Trader, requirement_paise: number, terms: object = {}) =>
    by.order({ side: "buy", scheme: "RODTEP", requirement_paise, ...terms });

  // Clients sell to the house: at its price, by a quote, in a batch, in the other scheme, in part.
  await day(exporter, sell(exporter, 3 * lakh));
  const quoted = await exporter.declare(3 * lakh);
  const { quote_ref } = await exporter.send("POST", "/v1/quote", {
    side: "sell",
    scrip_no: quoted,
  });
  await day(exporter, exporter.order({ quote_ref }));
  const batch = [await mill.declare(2 * lakh), await mill.declare(2 * lakh)];
  const orders = batch.map((scrip_no) => ({ side: "sell", scrip_no, firm_id: mill.firmId }));
  const { results } = await mill.send("POST", "/v1/orders:batch", { orders });
  for (const { order } of results) await day(mill, Promise.resolve(order));
  await day(mill, sell(mill, 4 * lakh, "ROSCTL"));
  const parted = await exporter.declare(3 * lakh);
  const used_on = istDay(service.clock.now());
  const bill = { bill_of_entry: "7781234", used_on, port: "INNSA1", amount_paise: lakh };
  await exporter.send("POST", `/v1/credits/${parted}/use`, bill);
  await day(exporter, exporter.order({ side: "sell", scrip_no: parted }));
  // By a certificate, less is withheld of the mill's next sale.
  await asha("addTdsCertificate", [], {
    environment,
    certificate_no: "197/2026/001",
    pan: mill.pan,
    rate_bps: 5,
    limit_paise: crore,
    effective_from: "2026-11-01",
    effective_until: "2027-03-31",
  });
  await day(mill, sell(mill, 5 * lakh));

  // The house sells: to a firm of another state, to one without a GSTIN, for a requirement.
  await day(importer, cover(importer, 2 * lakh));
  await day(trader, cover(trader, 4 * lakh));
  await day(
    importer,
    importer.order({ side: "buy", scheme: "ROSCTL", requirement_paise: 3 * lakh }),
  );
  const duty = {
    scheme: "RODTEP",
    amount_paise: 2 * lakh,
    due_on: "2026-12-31",
    reference: "BE-1",
  };
  const path = `/v1/firms/${importer.firmId}/requirements`;
  const { requirement_id } = await importer.send("POST", path, duty, 201);
  await day(importer, importer.send("POST", `${path}/${requirement_id}/cover`, {}, 201));

  // Clients deal with each other: in the book either way, in a block, inside a group.
  await cover(importer, 2 * lakh, { limit_bps: 9_850 });
  await day(exporter, sell(exporter, 2 * lakh));
  await sell(mill, 2 * lakh, "RODTEP", { limit_bps: 9_790 });
  await day(trader, cover(trader, 2 * lakh));
  const block = await cross(exporter, importer, {
    kind: "block",
    side: "sell",
    firm_id: exporter.firmId,
    counterparty_iec: importer.pan,
    scrip_nos: [await exporter.declare(crore)],
    price_bps: 9_800,
  });
  await letSettle(service, 2);
  await day(importer, importer.send("GET", `/v1/cross/${block}`));
  const { group_id } = await exporter.send("POST", "/v1/groups", { name: "Shree" }, 201);
  for (const { firmId } of [exporter, sister]) {
    await exporter.send("PUT", `/v1/groups/${group_id}/members/${firmId}`);
  }
  const inside = await cross(exporter, sister, {
    kind: "intra_group",
    side: "sell",
    firm_id: exporter.firmId,
    counterparty_firm_id: sister.firmId,
    scrip_nos: [await exporter.declare(2 * lakh)],
    price_bps: 9_900,
  });
  await letSettle(service, 2);
  await day(exporter, exporter.send("GET", `/v1/cross/${inside}`));

  // A sale and two purchases come back; customs refuses a transfer.
  for (const by of [importer, trader]) {
    const id = await day(by, cover(by, 2 * lakh));
    if (by === trader) await reverse(id);
  }
  for (const by of [exporter, mill]) await reverse(await day(by, sell(by, 2 * lakh)));
  const refused = await exporter.declare(2 * lakh, "RODTEP", "0409");
  await day(exporter, exporter.order({ side: "sell", scrip_no: refused }));
  await letSettle(service, 5);
  return deals;

  async function reverse(settlementId: string) {
    const body = { reason: "wrong" };
    assert.equal((await asha("reverseSettlement", [settlementId], body)).outcome, "reversed");
    await letSettle(service, 2);
  }
}

async function cross(from: Trader, to: Trader, terms: object): Promise<string> {
  const quote = await from.send("POST", "/v1/cross/quote", terms);
  const { cross_quote_ref } = quote;
  const made = await from.send("POST", "/v1/cross", { cross_quote_ref }, 201);
  const own = `/v1/cross/${made.cross_id}`;
  const { terms_hash } = await to.send("GET", own);
  if (to.key !== from.key) await to.send("POST", `${own}/accept`, { terms_hash });
  await to.send("POST", `${own}/fund`, { payment_ref: "PAY-1" });
  await from.send("POST", `${own}/release`, {});
  return made.cross_id as string;
}

type Papers = {
  readonly notes: readonly Answer["body"][];
  readonly bills: readonly Answer["body"][];
};

/** Every paper of the month, as those see it whom it is for. */
async function readPapers(service: Service, traders: readonly string[]): Promise<Papers> {
  const notes = [];
  const bills = new Map<string, Answer["body"]>();
  for (const key of traders) {
    const read = async (path: string) => await service.send("GET", path, { key });
    const { settlements } = (await read("/v1/settlements?limit=100")).body;
    for (const { settlement_id: id } of settlements) {
      const note = await read(`/v1/settlements/${id}/contract-note`);
      notes.push(...note.body.notes.map((own: object) => ({ ...own, settlement_id: id })));
      const supply = await read(`/v1/settlements/${id}/bill-of-supply`);
      if (supply.status !== 200) continue;
      for (const bill of supply.body.bills) {
        const name = [id, bill.kind, bill.supplier.name, bill.recipient.name, bill.date].join();
        bills.set(bill.number ?? name, { ...bill, settlement_id: id });
      }
    }
  }
  return { notes, bills: [...bills.values()] };
}

/** The numbers that the house gave to papers. */
function listNumbers({ notes, bills }: Papers): string[] {
  const invoices = notes.flatMap(({ invoices: own = [] }) => own);
  const numbers = [
    ...invoices.map(({ invoice_no }) => invoice_no as string),
    ...bills.flatMap(({ number }) => (number as string | null) ?? []),
  ];
  assert.ok(numbers.length > 20);
  return numbers;
}

const sum = (amounts: readonly number[]) => amounts.reduce((all, paise) => all + paise, 0);
const signed = ({ kind }: { readonly kind: string }) => (/return|credit/.test(kind) ? -1 : 1);

/** What was posted about a deal to accounts of this kind. */
async function askLedger({ ctx }: Service, kind: string, subject: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ paise: string }>(
    `select coalesce(sum(case when starts_with(m.to_account, $1) then m.amount else 0 end
      - case when starts_with(m.from_account, $1) then m.amount else 0 end), 0)::text as paise
    from ledger_entries as e
    left join ledger_entries as held on held.entry_no = e.resolves
    cross join lateral unnest(coalesce(held.movements, e.movements))
      as m (from_account, to_account, scrip_no, amount)
    where e.subject = $2 and e.phase = 'posted' and m.scrip_no is null and e.kind <> 'commission'
      and not (starts_with(m.from_account, $1) and starts_with(m.to_account, $1))`,
    [kind, subject],
  );
  return Number(rows[0]?.paise);
}

const taxKinds = ["cgst", "sgst", "igst"] as const;

/** The totals of the papers, each of which the ledger has deal by deal. */
async function findInLedger(service: Service, { notes, bills }: Papers, houseName: string) {
  const invoices = notes.flatMap(({ settlement_id, invoices: own = [] }) =>
    own.map((invoice: object) => ({ ...invoice, settlement_id })),
  );
  const withheld = notes.flatMap(({ settlement_id, taxes = [] }) =>
    taxes
      .filter((tax: Answer["body"]) => tax.kind === "tds")
      .map((tax: object) => ({ ...tax, settlement_id })),
  );
  const supplies = bills.filter(({ supplier }) => supplier.name === houseName);
  const purchases = bills.filter(({ recipient }) => recipient.name === houseName);
  assert.ok(supplies.every(({ draft, number }) => !draft && number !== null));
  assert.ok(purchases.every(({ draft }) => draft));
  const totals: Record<string, number> = {};
  const find = async (
    total: string,
    account: string,
    papers: readonly Answer["body"][],
    amount: (paper: Answer["body"]) => number,
  ) => {
    for (const [id, own] of Map.groupBy(papers, ({ settlement_id }) => settlement_id as string)) {
      const paise = sum(own.map(amount));
      const posted = Math.abs(await askLedger(service, account, id));
      assert.equal(posted, Math.abs(paise), `${total} of ${id}`);
    }
    totals[total] = sum(papers.map(amount));
  };
  const value = (bill: Answer["body"]) => signed(bill) * bill.total_paise;
  await find("sales", "house_cash", supplies, value);
  await find("bills of supply", "house_cash", supplies, value);
  await find("purchases", "house_cash", purchases, value);
  await find("fees", "house_fees", invoices, (paper) => signed(paper) * paper.fee_paise);
  for (const kind of taxKinds) {
    const amount = (paper: Answer["body"]) => signed(paper) * paper[`${kind}_paise`];
    await find(kind.toUpperCase(), `${kind}_payable`, invoices, amount);
  }
  await find("TDS", "tds_payable", withheld, ({ amount_paise }) => amount_paise);
  return totals;
}

type Pack = Readonly<Record<string, Uint8Array>>;

function unpack(content: Uint8Array): Pack {
  return Object.fromEntries(
    Object.entries(unzipSync(content)).map(([name, bytes]) => [name.split("/")[1] ?? "", bytes]),
  );
}

const libreOffice = "/usr/bin/soffice";

/** What LibreOffice shows below a column, by workbook. */
async function openInOffice(t: TestContext, pack: Pack) {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-month-"));
  t.after(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const names = Object.keys(pack).filter((name) => name.endsWith(".xlsx"));
  for (const name of names) await writeFile(join(folder, name), pack[name] ?? "");
  const profile = `-env:UserInstallation=file://${join(folder, "profile")}`;
  const words = ["--headless", profile, "--convert-to", "csv", "--outdir", folder];
  await promisify(execFile)(libreOffice, [...words, ...names.map((name) => join(folder, name))]);
  return async (name: string, column: string) => {
    const text = await readFile(join(folder, `${name}.csv`), "utf8");
    const plain = text.replaceAll(/"([^"]*)"/g, (_, inside: string) => inside.replaceAll(",", ""));
    const rows = plain.trim().split("\n");
    const at = rows[0]?.split(",").indexOf(column) ?? -1;
    assert.ok(at >= 0, `${name} has ${column}`);
    return rows.at(-1)?.split(",")[at];
  };
}

test(
  "a month of twenty deals comes to one pack by every door, and each paper is in the ledger",
  { skip },
  async (t) => {
    const service = await startService(t);
    const { run, dataDir } = await commandLine(t, service);
    service.clock.set(new Date("2026-11-02T04:30:00Z"));
    await putCard(service, { fee_bps: 10 });
    await putCard(service, { fee_bps: 10, scheme: "ROSCTL" });
    const ops = await startOps(t, service);
    const person = await addPerson(service, { name: "asha", role: "admin" });
    const asha = operate(service, ops, person);
    const from = istDay(service.clock.now());
    const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
    await asha("setGstLine", [], { environment, from, ...gst });
    const tds = { section: "393(1) Table Sl. 8(ii)", payment_code: "1031", rate_bps: 10 };
    await asha("setTdsLine", [], { environment, from, ...tds, threshold_paise: 5 * lakh });

    const deals = await liveThrough(service, asha);
    assert.equal(new Set(deals.map(({ settlementId }) => settlementId)).size, 20);
    await assertLedgerSound(service);
    const keys = new Set(deals.map(({ by }) => by.key));
    const papers = await readPapers(service, [...keys]);
    const { house } = await asha("showHouse", [], undefined, `?environment=${environment}`);
    const totals = await findInLedger(service, papers, house.legal_name);
    assert.ok(
      Object.values(totals).every((paise) => paise > 0),
      JSON.stringify(totals),
    );

    const out = join(dataDir, "pack.zip");
    const words = ["--env", environment, "--period", period, "--out", out, "--json"];
    const ran = await run("accounts", "pack", ...words);
    assert.equal(ran.code, 0, ran.stderr);
    const byCommand = unpack(await readFile(out));
    const asked = await asha("readMonthPack", [period], undefined, `?environment=${environment}`);
    const byOperation = unpack(Buffer.from(asked.content, "base64"));
    const { page, open, act, complaints } = await signInToConsole(t, { browse, ops, person });
    await open("/taxes?env=sandbox");
    const downloading = page.waitForEvent("download");
    const said = await act("Month's pack", { Month: period });
    assert.match(said, /every total ties to the ledger/);
    const byButton = unpack(await readFile(await (await downloading).path()));
    assert.deepEqual(complaints(), []);
    for (const name of ["gstr1-draft.json", "tally.xml"]) {
      assert.deepEqual(byOperation[name], byCommand[name], name);
      assert.deepEqual(byButton[name], byCommand[name], name);
    }
    const ties = readXlsx(byButton["ties.xlsx"] ?? assert.fail()).rows;
    assert.deepEqual(readXlsx(byCommand["ties.xlsx"] ?? assert.fail()).rows, ties);
    for (const [total, paise] of Object.entries(totals)) {
      const row = ties.find((one) => one["total"]?.value === total) ?? assert.fail(total);
      assert.equal(Number(row["register_rupees"]?.value), paise / 100, total);
      assert.equal(Number(row["ledger_rupees"]?.value), paise / 100, total);
    }
    const vouchers = Buffer.from(byCommand["tally.xml"] ?? assert.fail()).toString();
    for (const number of listNumbers(papers)) assert.match(vouchers, new RegExp(`${number}[ <]`));
    if (process.env["PACK_OUT"] !== undefined) {
      await writeFile(process.env["PACK_OUT"], await readFile(out));
    }
    if (!existsSync(libreOffice)) return t.diagnostic(`${libreOffice} is missing`);
    const show = await openInOffice(t, byCommand);
    for (const [name, column, total] of [
      ["sales", "value_rupees", "sales"],
      ["purchases", "value_rupees", "purchases"],
      ["fees", "fee_rupees", "fees"],
      ["fees", "igst_rupees", "IGST"],
      ["deductions", "tax_rupees", "TDS"],
    ] as const) {
      assert.equal(Number(await show(name, column)), (totals[total] ?? 0) / 100, name);
    }
    assert.equal(
      await show("trial-balance", "closing_debit_rupees"),
      await show("trial-balance", "closing_credit_rupees"),
    );
    assert.equal(await show("ties", "ties"), "yes");
  },
);
