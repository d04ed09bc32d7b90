// Colluding desks and honest ones in live, two operators, and a bank that keeps its own record of who
// owns each rupee. The gang changes its names and accounts at any moment, names payments as victims do,
// crosses, sells, buys without money, withdraws, and pays with words that are not its own; sales are
// reversed; files for the bank are written, lost, voided and paid; statements come in parts, again, in
// other letters, without balances and without accounts.
//
// What holds is read off the bank's record and the deals that the service tells its desks of:
//
//   what came     is with the firm of its sender, waits in the queue, or went back; each line counts once
//   what leaves   goes to an account that the bank confirmed for the firm, and is no more than what came
//                 from it, and what it earned, less what it spent, owes and was paid before
//   each firm     has in the books, less its dues, exactly that

import { attestSubjects } from "../../src/outside/attest.ts";
import { attestQuestions } from "../../src/outside/answer-questions.ts";
import { readOpenQuestions } from "../../src/outside/ask.ts";
import {
  type CheckResult,
  type Question,
  listIdentityChecks,
} from "../../src/outside/question-rules.ts";
import { assignLine, repeatLine, sendLineBack } from "../../src/bankbook/decide-line.ts";
import { importStatement, type LineResult } from "../../src/bankbook/import-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { revealAccount } from "../../src/firms/bank-accounts.ts";
import { makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import { type Actor, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { addDays, istDay } from "../../src/kernel/time.ts";
import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { readBalances } from "../../src/ledger/read-books.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import type { FileFormat } from "../../src/payouts/file-rules.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { listFiles, readFile } from "../../src/payouts/read-files.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { appliers } from "../../src/workers.ts";
import { addCard } from "../support/cards.ts";
import { mandate as clientMandate } from "../support/client-firms.ts";
import { addCredits } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Random, seededRandom } from "../support/random.ts";
import type { Answer, Service } from "../support/service.ts";
import { planAsBefore } from "./former-matching.ts";
import {
  type BankEntry,
  describeAlike,
  exportFormats,
  type ExportStyle,
  type HeldAccount,
  type Holder,
  type PaymentOrder,
  RecordingBank,
  squeeze,
  writeStatement,
} from "./recording-bank.ts";

/** A long run goes on for years. */
const mandate = { ...clientMandate, valid_until: "2099-03-31T23:59:59+05:30" };

export type BankEconomySettings = {
  readonly steps: number;
  readonly seed: number;
  /** Lets lines be matched by any part of their text and by names that nobody has confirmed. */
  readonly matchesAsBefore?: boolean;
  /** Ends the run with the first loss. */
  readonly stopsAtLoss?: boolean;
  readonly onProgress?: (steps: number) => void;
};

export type Loss = { readonly step: number; readonly what: string };

export type BankEconomyReport = {
  readonly steps: number;
  /** How often each kind of step was made. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How often each action was answered in each way. */
  readonly answers: Readonly<Record<string, number>>;
  readonly losses: readonly Loss[];
  readonly faults: readonly string[];
};

const live = { environment: "live" } as const;
const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
/** So low that both sums that one person may move and sums that take two come often. */
const twoFromPaise = 60_000_000;
const facePaise = 40_000_000;
const checkEvery = 500;
const workEvery = 20;
/** Those that move money or end deals; all run when the books are held against the bank. */
const moneyWorkers = [
  "ledger-check", // No payout leaves before it.
  "funding",
  "settlement",
  "deadlines",
  "cross-deadlines",
  "dues",
  "payouts",
];
/** Overlap of a file with those before. */
const overlapMax = 12;
const kept = 30;

/** With the firm, so that what leaves can be held against what the bank confirmed for it. */
const orderFormat: FileFormat = {
  name: "orders",
  has_header: false,
  day_form: "YYYY-MM-DD",
  columns: [
    { header: "reference", field: "reference" },
    { header: "firm", field: "firm_id" },
    { header: "account", field: "account_no" },
    { header: "ifsc", field: "ifsc" },
    { header: "name", field: "name" },
    { header: "paise", field: "amount_paise" },
  ],
};

const victimNames = [
  "Konkan Exports Private Limited",
  "Malabar Spice Traders LLP",
  "Deccan Yarn Mills Limited",
] as const;
/** One of them is called as a victim is, but for its marks. */
const gangNames = [
  "Blue Lagoon Trading Company",
  "Konkan-Exports Private-Limited",
  "Harbour Metals",
  "Northern Bulk Carriers",
] as const;
/** What victims write beside their payments. */
const victimWords = ["RTGS 2026", "PAY BILL 2026 0042", "INV 2026 114", "ADVANCE PAYMENT"] as const;
const paymentNames = [
  "RTGS",
  "RTGS-2026",
  "PAY",
  "Pay-Bill-2026-0042",
  "INV-2026-114",
  "A-----",
  "ADVANCE-PAYMENT",
  "BILL2026",
] as const;

type Client = {
  readonly key: string;
  readonly deskId: string;
  readonly firmId: string;
  readonly iec: string;
  readonly holder: Holder;
  readonly account: HeldAccount;
};

type Crossed = {
  readonly seller: Client;
  readonly buyer: Client;
  readonly crossId: string;
  readonly buyerPaise: number;
  name?: string;
};

type Waiting = {
  readonly client: Client;
  readonly dealId: string;
  readonly paise: number;
};

/** What the service said of a line of the bank. */
type Told = {
  readonly state: "queued" | "counted" | "assigned" | "back";
  readonly lineId: string;
  readonly reason: string;
  readonly firmId: string | null;
};

type PaidFile = {
  readonly fileId: string;
  readonly text: string;
  readonly orders: readonly PaymentOrder[];
  state: "kept" | "given" | "over";
  readonly debits: BankEntry[];
};

class World {
  readonly kinds: Record<string, number> = {};
  readonly answers: Record<string, number> = {};
  readonly losses: Loss[] = [];
  readonly faults: string[] = [];
  readonly clients: Client[] = [];
  readonly crosses: Crossed[] = [];
  readonly waiting: Waiting[] = [];
  readonly files: PaidFile[] = [];
  readonly told = new Map<number, Told>();
  readonly bounced = new Set<number>();
  /** The lines that were exported and are alike, in their order. */
  readonly #alike = new Map<string, BankEntry[]>();
  exported = 0;
  steps = 0;
  /** How often lines that are alike were counted. */
  readonly #counted = new Map<string, number>();

  readonly service: Service;
  readonly random: Random;
  readonly bank: RecordingBank;
  readonly matchesAsBefore: boolean;

  constructor(service: Service, { seed, matchesAsBefore = false }: BankEconomySettings) {
    this.service = service;
    this.random = seededRandom(seed);
    this.bank = new RecordingBank(service.clock.now);
    this.matchesAsBefore = matchesAsBefore;
  }

  get gang(): Client[] {
    return this.clients.filter(({ holder }) => holder.isGang);
  }

  get victims(): Client[] {
    return this.clients.filter(({ holder }) => !holder.isGang);
  }

  step(kind: string): void {
    this.steps++;
    this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
  }

  lose(what: string): void {
    this.losses.push({ step: this.steps, what });
  }

  note(action: string, answer: string): void {
    const name = `${action}: ${answer}`;
    this.answers[name] = (this.answers[name] ?? 0) + 1;
  }

  async call(
    action: string,
    client: Pick<Client, "key">,
    path: string,
    body: object,
    method = "POST",
  ): Promise<Answer> {
    const answer = await this.service.send(method, path, { key: client.key, body });
    const why = answer.body?.detail?.reason ?? answer.body?.reason ?? "";
    this.note(action, `${answer.status} ${answer.status < 400 ? "" : why}`.trim());
    if (answer.status >= 500) this.faults.push(`${action}: ${answer.text}`);
    return answer;
  }

  /** One person acts, and another one with it where it takes two; undefined when it is refused. */
  async decide<Result extends object>(
    action: string,
    act: (who: Actor) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      const first = await act(asha);
      const isOpen = "outcome" in first && first.outcome === "proposed";
      const result = isOpen ? await act(ravi) : first;
      this.note(action, "outcome" in result ? String(result.outcome) : "done");
      return result;
    } catch (error) {
      if (!(error instanceof Failure)) {
        this.faults.push(`${action}: ${String(error)}`);
        return undefined;
      }
      const why = JSON.stringify(error.detail?.["reason"] ?? error.code);
      this.note(action, `refused ${why}`);
      return undefined;
    }
  }

  findClient(firmId: string | null | undefined): Client | undefined {
    return this.clients.find((client) => client.firmId === firmId);
  }

  /** The gang's money is the gang's, whichever of its firms has it. */
  isOwner(client: Client | undefined, holder: Holder | undefined): boolean {
    if (!client || !holder) return false;
    return client.holder === holder || (client.holder.isGang && holder.isGang);
  }

  /**
   * Where a statement has no accounts, the gang can give its money away: to a victim that is called like
   * one of it, or as a payout of a victim that comes back.
   */
  isSender(client: Client | undefined, { holder }: BankEntry, reason: string): boolean {
    const isGift =
      client !== undefined &&
      holder?.isGang === true &&
      (reason === "returned" || squeeze(client.holder.name) === squeeze(holder.name));
    return isGift || this.isOwner(client, holder);
  }

  count(entry: BankEntry): number {
    const alike = describeAlike(entry);
    const times = (this.#counted.get(alike) ?? 0) + 1;
    this.#counted.set(alike, times);
    return times;
  }

  uncount(entry: BankEntry): void {
    const alike = describeAlike(entry);
    this.#counted.set(alike, (this.#counted.get(alike) ?? 0) - 1);
  }

  countAlike(entry: BankEntry): { readonly counted: number; readonly exported: number } {
    const counted = this.#counted.get(describeAlike(entry)) ?? 0;
    return { counted, exported: this.listAlike(entry).length };
  }

  listAlike(entry: BankEntry): readonly BankEntry[] {
    return this.#alike.get(describeAlike(entry)) ?? [];
  }

  /** The lines of a file: those that no file had, and some before them. */
  export(overlap: number): readonly BankEntry[] {
    const { entries } = this.bank;
    for (const entry of entries.slice(this.exported)) {
      this.#alike.set(describeAlike(entry), [...this.listAlike(entry), entry]);
    }
    const from = Math.max(0, this.exported - overlap);
    this.exported = entries.length;
    return entries.slice(from);
  }
}

/** Whether there was something to do. */
type Act = (world: World) => Promise<boolean> | boolean;

function pickLast<Item>({ random }: World, items: readonly Item[]): Item | undefined {
  return items.length === 0 ? undefined : random.pick(items.slice(-kept));
}

function remember<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > kept) items.shift();
}

// What people pay into the house's account.

function pickPaise({ random }: World): number {
  return random.pick([100_001, 2_500_000, 10_000_000, 39_380_000]) + random.below(1_000);
}

function payForFirm(world: World): boolean {
  const { account, firmId } = world.random.pick(world.clients);
  world.bank.receive(account, { paise: pickPaise(world), text: `NEFT ${firmId}` });
  return true;
}

function payForDeal(world: World): boolean {
  const { random } = world;
  const crosses = world.crosses.map(({ buyer, crossId, buyerPaise }) => ({
    client: buyer,
    dealId: crossId,
    paise: buyerPaise,
  }));
  const deal = pickLast(world, [...world.waiting, ...crosses]);
  if (!deal) return false;
  const paise = random.below(5) === 0 ? Math.ceil(deal.paise / 2) : deal.paise;
  world.bank.receive(deal.client.account, { paise, text: `RTGS ${deal.dealId}` });
  return true;
}

/** A victim pays and names nothing; the gang knows what it pays and what it writes. */
function payWithoutId(world: World): boolean {
  const { random } = world;
  const { account, holder } = random.pick(world.victims);
  const awaited = world.crosses.filter(({ buyer }) => buyer.holder.isGang);
  const known = pickLast(world, awaited);
  const paise = known && random.below(3) > 0 ? known.buyerPaise : pickPaise(world);
  const own = `${random.pick(victimWords)} ${random.below(2) === 0 ? holder.name : ""}`;
  const text = known?.name !== undefined && random.below(2) === 0 ? `RTGS ${known.name}` : own;
  world.bank.receive(account, { paise, text: text.trim() });
  return true;
}

function payWithTypo(world: World): boolean {
  const { random } = world;
  const { account, firmId } = random.pick(world.victims);
  const at = 6 + random.below(firmId.length - 7);
  const letter = firmId[at] === "0" ? "1" : "0";
  const written = `${firmId.slice(0, at)}${letter}${firmId.slice(at + 1)}`;
  world.bank.receive(account, { paise: pickPaise(world), text: `NEFT ${written}` });
  return true;
}

function payAsStranger(world: World): boolean {
  const stranger = world.bank.openAccount({ name: "Somebody Else LLP", isGang: false });
  const { firmId } = world.random.pick(world.clients);
  world.bank.receive(stranger, { paise: pickPaise(world), text: `FOR ${firmId}` });
  return true;
}

/** The gang writes a victim's id beside its own money, alone or with an id of its own. */
function payWithOthersId(world: World): boolean {
  const { random } = world;
  const payer = random.pick(world.gang);
  const { firmId } = random.pick(world.victims);
  const text = random.below(2) === 0 ? `NEFT ${firmId}` : `NEFT ${firmId} ${payer.firmId}`;
  world.bank.receive(payer.account, { paise: pickPaise(world), text });
  return true;
}

function payByName(world: World): boolean {
  const named = world.crosses.filter(({ name }) => name !== undefined);
  const cross = pickLast(world, named);
  if (!cross) return false;
  const { buyer, buyerPaise: paise, name } = cross;
  world.bank.receive(buyer.account, { paise, text: `RTGS ${name} OURS` });
  return true;
}

function payTwiceAlike(world: World): boolean {
  const { random } = world;
  const { account, firmId } = random.pick(world.clients);
  const line = { paise: 600_000 + random.below(3), text: `NEFT ${firmId}`, utr: "" };
  world.bank.receive(account, line);
  world.bank.receive(account, line);
  return true;
}

function charge(world: World): boolean {
  world.bank.charge(590 + world.random.below(100));
  return true;
}

/** The gang pays as if a payout came back. */
function feignReturn(world: World): boolean {
  const paid = world.bank.entries.filter(({ order }) => order !== undefined).slice(-kept);
  const debit = pickLast(
    world,
    paid.filter(({ paise }) => paise < 0),
  );
  if (!debit) return false;
  const { account } = world.random.pick(world.gang);
  world.bank.receive(account, { paise: -debit.paise, text: `RTN ${debit.utr}` });
  return true;
}

// What the bank does with files.

function payOrder(world: World): boolean {
  const given = world.files.filter(({ state }) => state === "given");
  const file = given.find(({ debits, orders }) => debits.length < orders.length);
  const order = file?.orders[file.debits.length];
  if (!file || !order) return false;
  const debit = world.bank.pay(order);
  file.debits.push(debit);
  if (file.debits.length === file.orders.length) file.state = "over";
  const client = world.findClient(order.firmId);
  if (!world.isOwner(client, debit.holder)) {
    world.lose(`${order.paise} of ${order.firmId} left to the account of ${debit.holder?.name}`);
  }
  return true;
}

function bounceOrder(world: World): boolean {
  const isPaid = ({ place, order, paise }: BankEntry) =>
    order !== undefined && paise < 0 && !world.bounced.has(place);
  const debit = pickLast(world, world.bank.entries.slice(-300).filter(isPaid));
  if (!debit) return false;
  world.bounced.add(debit.place);
  world.bank.bounce(debit);
  return true;
}

// What operators do.

/** The bank's lines since the last export, and some before them. */
async function bringStatement(world: World, style: ExportStyle, overlap = 0): Promise<boolean> {
  const { service, random } = world;
  const entries = world.export(overlap);
  if (entries.length === 0) return false;
  const text = writeStatement(entries, style, random);
  const format = exportFormats[style];
  if (world.matchesAsBefore) await planAsBefore(service, { text, format });
  const asked = { ...live, text, format, twoFromPaise };
  const imported = await world.decide("import", (who) => importStatement(service.ctx, who, asked));
  if (!imported) {
    world.faults.push("a statement was refused");
    return true;
  }
  if (imported.outcome === "known") return true;
  for (const [at, result] of imported.results.entries()) {
    const entry = entries[at];
    if (entry) hearResult(world, entry, result);
  }
  return true;
}

function hearResult(world: World, entry: BankEntry, result: LineResult): void {
  const { status, reason, firm_id: firmId, line_id: lineId } = result;
  world.note("line", reason);
  if (status === "repeated") return;
  const times = world.count(entry);
  const { exported } = world.countAlike(entry);
  if (times > exported && status === "matched") {
    world.lose(`the line "${entry.text}" of ${entry.paise} counted ${times} times of ${exported}`);
  }
  const state = status === "queued" ? "queued" : "counted";
  const place = findUntold(world, entry);
  world.told.set(place, { state, lineId, reason, firmId });
  if (status !== "matched") return;
  const client = world.findClient(firmId);
  if (reason === "sent_back" || (firmId === null && reason === "known")) return;
  if (reason === "paid" && entry.order?.firmId === firmId) return;
  if (reason !== "paid" && world.isSender(client, entry, reason)) return;
  const holder = client?.holder.name ?? "nobody";
  world.lose(
    `${entry.paise} of ${entry.holder?.name} (${entry.text}) went to ${holder}: ${reason}`,
  );
}

/** Of lines that are alike, one that the service has said nothing of. */
function findUntold(world: World, entry: BankEntry): number {
  if (!world.told.has(entry.place)) return entry.place;
  const other = world.listAlike(entry).find(({ place }) => !world.told.has(place));
  // A line that may be one that counted waits without a line of its own.
  return other?.place ?? -1 - entry.place;
}

/** The queue by what the bank's record says. */
async function decideQueued(world: World, isBack: boolean): Promise<boolean> {
  const { bank, service } = world;
  const queued = [...world.told].filter(([, { state }]) => state === "queued");
  const chosen = pickLast(world, queued);
  if (!chosen) return false;
  const [place, told] = chosen;
  const entry = bank.entries[place < 0 ? -1 - place : place];
  if (!entry) return false;
  const line = { lineId: told.lineId, reason: "as the bank's record says", twoFromPaise };
  const settle = (state: Told["state"], firmId: string | null = null) =>
    world.told.set(place, { ...told, state, firmId });
  const { counted, exported } = world.countAlike(entry);
  if (told.reason === "perhaps_counted" && counted > exported) {
    const done = await world.decide("repeat", (who) => repeatLine(service.ctx, who, line));
    if (done) world.uncount(entry);
    if (done) world.told.delete(place);
    return done !== undefined;
  }
  const owner = world.clients.find(({ holder }) => holder === entry.holder);
  if (entry.paise < 0) {
    if (entry.holder !== undefined) {
      world.lose(`the payment "${entry.text}" waits in the queue: ${told.reason}`);
    }
    const to = { ...line, to: null };
    const done = await world.decide("assign", (who) => assignLine(service.ctx, who, to));
    if (done) settle("assigned");
    return done !== undefined;
  }
  const isSendable = entry.account !== undefined;
  if (isSendable && (isBack || owner === undefined)) {
    const utr = bank.nextUtr();
    const back = { ...line, utr };
    const done = await world.decide("send back", (who) => sendLineBack(service.ctx, who, back));
    if (!done || !entry.account) return false;
    bank.sendBack(entry.account, entry.paise, utr);
    settle("back");
    if (!isBack) world.step("a line is sent back");
    return isBack;
  }
  if (isBack || owner === undefined) return false;
  const to = { ...line, to: owner.firmId };
  const done = await world.decide("assign", (who) => assignLine(service.ctx, who, to));
  if (done) settle("assigned", owner.firmId);
  return done !== undefined;
}

async function makeOrders(world: World): Promise<boolean> {
  const { service } = world;
  await service.workOn(moneyWorkers);
  const asked = { ...live, format: orderFormat, twoFromPaise };
  const act = async (who: Actor) => {
    const files = await makeFiles(service.ctx, who, asked);
    const isOpen = files.some(({ outcome }) => outcome === "proposed");
    return { outcome: isOpen ? "proposed" : "made", files };
  };
  const before = new Set(world.files.map(({ fileId }) => fileId));
  const first = await world.decide("make file", act);
  const made = await listNewFiles(world, before);
  if (!first || made.length === 0) return false;
  for (const fileId of made) await takeFile(world, fileId);
  return true;
}

async function listNewFiles({ service }: World, known: ReadonlySet<string>): Promise<string[]> {
  const files = await listFiles(service.ctx, { state: "live", limit: 100 });
  return files.map(({ file_id }) => file_id).filter((fileId) => !known.has(fileId));
}

async function takeFile(world: World, fileId: string): Promise<void> {
  const bytes = await world.decide("write file", (who) => readFile(world.service.ctx, who, fileId));
  if (!bytes) return void world.faults.push(`${fileId} is new and was not written`);
  const rows = bytes.text.trim().split("\r\n");
  const orders = rows.map((row): PaymentOrder => {
    const [reference = "", firmId = "", account = "", ifsc = "", name = "", paise] = row.split(",");
    return { reference, firmId, account, ifsc, name, paise: Number(paise) };
  });
  world.files.push({ fileId, text: bytes.text, orders, state: "kept", debits: [] });
  const wealth = await computeWealth(world);
  for (const order of orders) {
    if (!world.bank.hasConfirmed(order)) {
      world.lose(`${order.reference} pays ${order.account}, not confirmed for ${order.firmId}`);
    }
    const own = (wealth.get(order.firmId) ?? 0) - sumInstructed(world, order.firmId);
    if (own < 0) world.lose(`${order.reference} pays ${order.firmId} ${-own} more than it has`);
  }
}

/** What files tell the bank to pay to a firm, and no statement has said. */
function sumInstructed(world: World, firmId: string): number {
  let sum = 0;
  for (const { state, orders, debits } of world.files) {
    for (const [at, order] of orders.entries()) {
      const debit = debits[at];
      const isOpen = debit ? !world.told.has(debit.place) : state !== "over";
      if (isOpen && order.firmId === firmId) sum += order.paise;
    }
  }
  return sum;
}

function giveFile(world: World): boolean {
  const file = world.files.find(({ state }) => state === "kept");
  if (!file) return false;
  file.state = "given";
  return true;
}

/** The upload was lost, so it is written once more; or somebody asks for one that is over. */
async function writeAgain(world: World): Promise<boolean> {
  const file = pickLast(world, world.files);
  if (!file) return false;
  const read = await world.decide("write again", (who) =>
    readFile(world.service.ctx, who, file.fileId),
  );
  const isOver = file.state === "over" && file.debits.every(({ place }) => world.told.has(place));
  if (read && read.text !== file.text) world.lose(`${file.fileId} is written otherwise again`);
  if (read && isOver) world.lose(`${file.fileId} is written again although it is over`);
  return true;
}

/** What the bank has not paid of a file and will not pay is voided. */
async function voidOrders(world: World): Promise<boolean> {
  const { told } = world;
  const findOpen = () =>
    world.files.findLast(
      ({ state, debits }) =>
        (state === "kept" || (state === "given" && debits.length > 0)) &&
        debits.every(({ place }) => told.has(place)),
    );
  if (!findOpen()) await makeOrders(world);
  const file = findOpen();
  if (!file) return false;
  const asked = { fileId: file.fileId, reason: "the bank refused the upload" };
  const done = await world.decide("void", (who) => voidFile(world.service.ctx, who, asked));
  if (done) file.state = "over";
  return done !== undefined;
}

/** Customs and the bank answer about firms; the bank by its own record. */
async function answerParticulars(world: World): Promise<boolean> {
  const { service } = world;
  const open = await readOpenQuestions(service.ctx, live);
  const asked = open.filter(({ kind }) => kind === "firm_identity" || kind === "bank_account");
  if (asked.length === 0) return false;
  for (const question of asked) {
    const checks = await findChecks(world, question);
    if (!checks) continue;
    const answer = { checks };
    const attestation = { questionId: question.question_id, answer, reference: "TICKET-1" };
    await world.decide("answer particulars", async (who) => {
      await attestQuestions(service.ctx, who, [attestation], appliers);
      return { outcome: "done" };
    });
  }
  return true;
}

async function findChecks(
  world: World,
  question: Question,
): Promise<readonly CheckResult[] | undefined> {
  if (question.kind === "firm_identity") {
    return listIdentityChecks(question.facts).map((check) => ({
      check,
      outcome: "pass",
      cure: null,
    }));
  }
  if (question.kind !== "bank_account") return undefined;
  const { subject_id: firmId, facts } = question;
  const look = { firmId, reason: "the bank is asked about it" };
  const account = await world.decide("reveal", (who) =>
    revealAccount(world.service.ctx, who, look),
  );
  const client = world.findClient(firmId);
  if (!account || !client) return undefined;
  const names = [facts.account_name, facts.legal_name];
  const isTrue = world.bank.confirm(
    firmId,
    { number: account.account_no, ifsc: facts.ifsc, names },
    (holder) => world.isOwner(client, holder),
  );
  const cure = isTrue ? null : "give an account in the firm's own name";
  return [{ check: "BANK_NAME_MATCH", outcome: isTrue ? "pass" : "fail", cure }];
}

async function confirmTransfers(world: World): Promise<boolean> {
  const { service } = world;
  await service.workOn(["settlement"]);
  const open = await readOpenQuestions(service.ctx, live);
  const asked = open.find((question) => question.kind === "credit_transfer");
  if (!asked) return false;
  const [subjectId = ""] = asked.subject_id.split(":");
  const answer = { outcome: "transferred" } as const;
  const seen = [{ subjectId, answer, reference: "ICEGATE-1" }];
  const done = await world.decide("transfer", async (who) => {
    await attestSubjects(service.ctx, who, { kind: "credit_transfer", seen, appliers });
    return { outcome: "done" };
  });
  await service.workOn(["settlement", "payouts"]);
  return done !== undefined;
}

async function reverseSale(world: World): Promise<boolean> {
  const { service } = world;
  const { rows } = await service.ctx.db.pool.query<{ settlement_id: string }>(
    `select settlement_id from settlements
    where environment = 'live' and state = 'settled' order by created_at desc limit 12`,
  );
  const deal = pickLast(world, rows);
  if (!deal) return false;
  const asked = { settlementId: deal.settlement_id, reason: "forged mandate" };
  const done = await world.decide("reverse", (who) => reverseSettlement(service.ctx, who, asked));
  return done !== undefined;
}

// What desks do.

async function change(world: World, client: Client, body: object): Promise<boolean> {
  const path = `/v1/firms/${client.firmId}`;
  const { status } = await world.call("change", client, path, body, "PATCH");
  return status === 200;
}

const toBank = ({ number, ifsc, holder }: HeldAccount) => ({
  account_no: number,
  ifsc,
  name: holder.name,
});

const changers: Readonly<Record<string, (world: World, client: Client) => object>> = {
  "a firm's name changes": ({ random }) => ({ legal_name: random.pick(gangNames) }),
  "a firm's account changes": ({ random, gang }) => ({ bank: toBank(random.pick(gang).account) }),
  "name and account change at once": ({ random, gang }) => {
    const { account } = random.pick(gang);
    return { legal_name: account.holder.name, bank: toBank(account) };
  },
  "name and account change back": (_, { holder, account }) => ({
    legal_name: holder.name,
    bank: toBank(account),
  }),
  "a firm takes a victim's name": ({ random, victims }) => ({
    legal_name: random.pick(victims).holder.name,
  }),
  "a firm takes a victim's account": ({ random, victims }) => {
    const { account } = random.pick(victims);
    const bank = toBank(account);
    return random.below(2) === 0 ? { bank } : { legal_name: account.holder.name, bank };
  },
};

/** Brings a firm of the gang back to where it may trade, under whatever name the bank confirms. */
async function regain(world: World, client = world.random.pick(world.gang)): Promise<boolean> {
  const path = `/v1/firms/${client.firmId}`;
  await answerParticulars(world);
  const { body } = await world.service.send("GET", path, { key: client.key, expect: 200 });
  if (body.connection_state === "authorized") return false;
  if (body.connection_state === "action_required") {
    const { holder, account } = client;
    await change(world, client, { legal_name: holder.name, bank: toBank(account) });
    await world.call("verify", client, `${path}/verify`, {});
    await answerParticulars(world);
  }
  const { status } = await world.call("authorize", client, `${path}/authorize`, { mandate });
  return status === 200;
}

/** Whether a firm does what it wants to; one that may not trade first sees to it that it may. */
async function trade(world: World, client: Client, act: () => Promise<Answer>): Promise<Answer> {
  const answer = await act();
  if (answer.body?.detail?.reason !== "firm_not_authorized" || !client.holder.isGang) return answer;
  return (await regain(world, client)) ? await act() : answer;
}

async function giveCredit({ service }: World, { firmId, deskId }: Client): Promise<string> {
  const expiresOn = addDays(istDay(service.clock.now()), 500);
  const scheme = "RODTEP" as const;
  const credit = { firmId, scheme, facePaise, expiresOn, state: "listed" };
  const [scripNo = ""] = await addCredits(service, deskId, [credit]);
  return scripNo;
}

async function sellSomething(world: World): Promise<boolean> {
  const client = world.random.pick(world.clients);
  const scripNo = await giveCredit(world, client);
  const wanted = { side: "sell", scrip_no: scripNo, firm_id: client.firmId };
  const sell = () => world.call("sell", client, "/v1/orders", wanted);
  return (await trade(world, client, sell)).status === 201;
}

async function buyWithoutMoney(world: World): Promise<boolean> {
  const client = world.random.pick(world.clients);
  await stockHouse(world.service.ctx, [{ face_paise: facePaise }], "live");
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: facePaise };
  const order = { ...wanted, firm_id: client.firmId };
  const buy = () => world.call("buy", client, "/v1/orders", order);
  const { status, body } = await trade(world, client, buy);
  const dealId: string | undefined = body?.settlement_id ?? undefined;
  if (status !== 201) return false;
  if (dealId) remember(world.waiting, { client, dealId, paise: body.all_in_paise });
  return true;
}

async function withdraw(world: World): Promise<boolean> {
  const { random, service } = world;
  const client = random.pick(world.clients);
  const [balance] = await readBalances(service.ctx.db, "live", [client.firmId]);
  const available = Number(balance?.available_paise ?? 0);
  if (available <= 0) return false;
  const amount_paise = random.below(3) === 0 ? available : Math.ceil(available / 2);
  const path = `/v1/firms/${client.firmId}/withdrawals`;
  const { status } = await world.call("withdraw", client, path, { amount_paise });
  return status === 201;
}

async function crossSomething(world: World): Promise<boolean> {
  const { random } = world;
  const seller = random.pick(world.gang);
  const others = world.clients.filter(({ key }) => key !== seller.key);
  const buyer = random.below(4) === 0 ? random.pick(others) : random.pick(world.gang);
  if (buyer.firmId === seller.firmId) return false;
  const terms = {
    kind: "block",
    side: "sell",
    firm_id: seller.firmId,
    counterparty_iec: buyer.iec,
    scrip_nos: [await giveCredit(world, seller)],
    price_bps: random.pick([9_300, 9_700, 9_830]),
  };
  const quote = () => world.call("cross quote", seller, "/v1/cross/quote", terms);
  const quoted = await trade(world, seller, quote);
  const cross_quote_ref = quoted.body?.cross_quote_ref;
  if (cross_quote_ref === undefined) return false;
  const proposed = await world.call("propose", seller, "/v1/cross", { cross_quote_ref });
  const { cross_id: crossId, terms_hash } = proposed.body ?? {};
  if (crossId === undefined) return false;
  const path = `/v1/cross/${crossId}`;
  const accept = () => world.call("accept", buyer, `${path}/accept`, { terms_hash });
  if (buyer.key !== seller.key) await trade(world, buyer, accept);
  const { status, body } = await world.service.send("GET", path, { key: buyer.key });
  if (status !== 200 || body.status !== "agreed") return true;
  const bought = body.sides.find(({ side }: { side: string }) => side === "buy");
  remember(world.crosses, { seller, buyer, crossId, buyerPaise: bought.all_in_paise });
  return true;
}

async function nameCross(world: World): Promise<boolean> {
  const cross = pickLast(
    world,
    world.crosses.filter(({ name }) => name === undefined),
  );
  if (!cross) return false;
  const { buyer, crossId } = cross;
  const payment_ref = world.random.pick(paymentNames);
  const path = `/v1/cross/${crossId}/fund`;
  const fund = () => world.call("fund", buyer, path, { payment_ref });
  const { status, body } = await trade(world, buyer, fund);
  if (status === 200) cross.name = payment_ref;
  const isOver = ["deadline_passed", "wrong_state"].includes(body?.detail?.reason);
  if (isOver) world.crosses.splice(world.crosses.indexOf(cross), 1);
  return status === 200;
}

async function releaseCross(world: World): Promise<boolean> {
  const { bank, crosses, service } = world;
  const release = async ({ seller, crossId }: Crossed): Promise<boolean> => {
    const path = `/v1/cross/${crossId}`;
    const { body } = await service.send("GET", path, { key: seller.key, expect: 200 });
    const at = crosses.findIndex((cross) => cross.crossId === crossId);
    if (body.status !== "agreed") crosses.splice(at, 1);
    if (body.status !== "funded") return false;
    const act = () => world.call("release", seller, `${path}/release`, {});
    return (await trade(world, seller, act)).status === 200;
  };
  for (const cross of crosses.toReversed()) if (await release(cross)) return true;
  const [waiting] = crosses.slice(-1);
  if (!waiting) return false;
  const { buyer, buyerPaise: paise, crossId } = waiting;
  if (buyer.holder.isGang) await regain(world, buyer);
  bank.receive(buyer.account, { paise, text: `RTGS ${crossId}` });
  await bringStatement(world, "plain");
  return await release(waiting);
}

/**
 * A firm of the gang waits for a payment that it names as a victim's, and calls itself like the victim,
 * or takes its account as well, before the victim pays just that.
 */
async function setTrap(world: World): Promise<boolean> {
  const { random, bank } = world;
  await crossSomething(world);
  const cross = world.crosses.at(-1);
  if (!cross?.buyer.holder.isGang || cross.name !== undefined) return false;
  const { buyer, crossId, buyerPaise: paise } = cross;
  const payment_ref = random.pick(paymentNames);
  const { status } = await world.call("fund", buyer, `/v1/cross/${crossId}/fund`, { payment_ref });
  if (status !== 200) return false;
  cross.name = payment_ref;
  const { holder, account } = random.pick(world.victims);
  const taken = random.below(3) === 0 ? { bank: toBank(account) } : {};
  await change(world, buyer, { legal_name: holder.name, ...taken });
  if (random.below(2) === 0) await answerParticulars(world);
  bank.receive(account, { paise, text: `RTGS ${payment_ref} ${holder.name}` });
  if (random.below(2) === 0) await bringStatement(world, "plain");
  return true;
}

/** Every kind of step; most are made as often as others. */
const acts: Readonly<Record<string, Act>> = {
  "a line names its firm": payForFirm,
  "a line names its deal": payForDeal,
  "a victim's line without an id": payWithoutId,
  "a victim's line with a mistyped id": payWithTypo,
  "a line of a third party": payAsStranger,
  "a line with another's id": payWithOthersId,
  "a line with the buyer's name for it": payByName,
  "two lines that are equal": payTwiceAlike,
  "a charge of the bank": charge,
  "a payout leaves": payOrder,
  "a payout comes back": bounceOrder,
  "a feigned return": feignReturn,
  "a statement": (world) => bringStatement(world, "plain"),
  "a statement again": (world) =>
    bringStatement(world, "plain", 1 + world.random.below(overlapMax)),
  "a statement in other letters": (world) => bringStatement(world, "other letters", 3),
  "a statement without balances": (world) => bringStatement(world, "without balances", 3),
  "a statement without accounts": (world) => bringStatement(world, "without accounts", 3),
  "a line is assigned": (world) => decideQueued(world, false),
  "a line is sent back": (world) => decideQueued(world, true),
  "a payout file is made": makeOrders,
  "a payout file is given to the bank": giveFile,
  "a payout file is written again": writeAgain,
  "a payout file is voided": voidOrders,
  "particulars are answered": answerParticulars,
  "a transfer is confirmed": confirmTransfers,
  "a sale is reversed": reverseSale,
  "a firm is authorized again": (world) => regain(world),
  "a sale": sellSomething,
  "a buy without money": buyWithoutMoney,
  "a withdrawal": withdraw,
  "a cross is agreed": crossSomething,
  "a cross is named": nameCross,
  "a cross is released": releaseCross,
  "a victim pays as a firm waits for it": setTrap,
  ...Object.fromEntries(
    Object.entries(changers).map(([kind, build]): [string, Act] => [
      kind,
      async (world) => {
        const client = world.random.pick(world.gang);
        return await change(world, client, build(world, client));
      },
    ]),
  ),
};

const stepKinds = Object.keys(acts);

/** The kinds of which fewer than one step of a hundred was. */
export function findRareKinds({
  steps,
  kinds,
}: Pick<BankEconomyReport, "steps" | "kinds">): string[] {
  return stepKinds.filter((kind) => (kinds[kind] ?? 0) < steps / 100);
}

// What holds.

/** By firm: what came from it and counted, and what it earned, less what it spent and was paid. */
async function computeWealth(world: World): Promise<ReadonlyMap<string, number>> {
  const wealth = new Map<string, number>();
  const add = (firmId: string | null, paise: number) => {
    if (firmId !== null) wealth.set(firmId, (wealth.get(firmId) ?? 0) + paise);
  };
  for (const [place, { firmId }] of world.told) {
    if (place >= 0) add(firmId, world.bank.entries[place]?.paise ?? 0);
  }
  for (const key of new Set(world.clients.map((client) => client.key))) {
    for (const { status, sides } of await listDeals(world, key)) {
      if (status !== "settled") continue;
      for (const { side, firm_id, settled_paise } of sides) {
        add(firm_id, side === "sell" ? settled_paise : -settled_paise);
      }
    }
  }
  return wealth;
}

async function listDeals({ service }: World, key: string): Promise<Answer["body"][]> {
  const deals: Answer["body"][] = [];
  let cursor = "";
  do {
    const path = `/v1/settlements?limit=500${cursor}`;
    const { body } = await service.send("GET", path, { key, expect: 200 });
    deals.push(...body.settlements);
    cursor = body.next_cursor ? `&cursor=${encodeURIComponent(body.next_cursor)}` : "";
  } while (cursor !== "");
  return deals;
}

/** Reads all that the bank has told nobody of, and holds the books against the bank's record. */
async function checkBooks(world: World): Promise<void> {
  const { service, clients } = world;
  await bringStatement(world, "plain");
  await service.work();
  for (const entry of world.bank.entries.slice(0, world.exported)) {
    if (!world.told.has(entry.place)) {
      const { counted, exported } = world.countAlike(entry);
      if (counted < exported) world.lose(`the line "${entry.text}" of ${entry.paise} is nowhere`);
    }
  }
  const wealth = await computeWealth(world);
  const firmIds = clients.map(({ firmId }) => firmId);
  for (const balance of await readBalances(service.ctx.db, "live", firmIds)) {
    const has = BigInt(balance.posted_paise) - BigInt(balance.dues_paise);
    const owned = BigInt(wealth.get(balance.firm_id) ?? 0);
    if (balance.dues_paise > 0) world.note("firm", "owes");
    if (has !== owned) world.lose(`${balance.firm_id} has ${has} in the books and owns ${owned}`);
  }
  const queue = new Set<string>();
  for (let after: string | undefined; ;) {
    const page = await listQueue(service.ctx, { ...live, after, limit: 500 });
    for (const { line_id, state } of page) if (state === "queued") queue.add(line_id);
    after = page.at(-1)?.line_id;
    if (page.length < 500) break;
  }
  for (const { state, lineId } of world.told.values()) {
    if ((state === "queued") !== queue.has(lineId)) world.lose(`${lineId} is ${state} for us only`);
  }
  const { sound, firstBreak } = await checkLedger(service.ctx);
  if (!sound) world.lose(`the ledger is broken: ${JSON.stringify(firstBreak)}`);
}

async function settleIn(world: World): Promise<void> {
  const { service, bank, clients } = world;
  await addCard(service, live);
  const join = async (holder: Holder, desk: { api_key: string; firm_id: string }) => {
    const account = bank.openAccount(holder);
    const pan = makeSyntheticPan(`${holder.name} ${clients.length}`);
    const body = {
      legal_name: holder.name,
      iec: pan,
      pan,
      email: "accounts@client.example",
      role: "both",
      bank: toBank(account),
    };
    const key = desk.api_key;
    const { body: firm } = await service.send("POST", "/v1/firms", { key, body, expect: 201 });
    const firmId: string = firm.firm_id;
    clients.push({ key, deskId: desk.firm_id, firmId, iec: pan, holder, account });
    const path = `/v1/firms/${firmId}`;
    await service.send("POST", `${path}/verify`, { key, body: {}, expect: 200 });
    await answerParticulars(world);
    await service.send("POST", `${path}/authorize`, { key, body: { mandate }, expect: 200 });
  };
  const honest = await service.issue(live);
  for (const name of victimNames) await join({ name, isGang: false }, honest);
  const desks = [await service.issue(live), await service.issue(live)] as const;
  for (const [at, name] of gangNames.entries()) {
    await join({ name, isGang: true }, desks[at % 2 === 0 ? 0 : 1]);
  }
  await service.work();
}

/** The kinds that came least often often go first; what they need may not be there. */
async function makeStep(world: World): Promise<void> {
  const { random, kinds } = world;
  const isLagging = random.below(3) > 0;
  const least = stepKinds.toSorted((a, b) => (kinds[a] ?? 0) - (kinds[b] ?? 0)).slice(0, 5);
  const kind = random.pick(isLagging ? least : stepKinds);
  if (await acts[kind]?.(world)) world.step(kind);
}

/** Of a run that cannot go on. */
const turnsPerStep = 20;

export async function runBankEconomy(
  service: Service,
  settings: BankEconomySettings,
): Promise<BankEconomyReport> {
  const world = new World(service, settings);
  await settleIn(world);
  let nextCheck = checkEvery;
  // A short run goes on until it has had enough of each kind.
  const isOver = () =>
    world.steps >= settings.steps * 2 ||
    (world.steps >= settings.steps && findRareKinds(world).length === 0);
  for (let turn = 1; !isOver(); turn++) {
    if (turn > settings.steps * turnsPerStep) throw new Error("there is nothing left to do");
    const { random } = world;
    service.clock.advance({ seconds: random.below(50) === 0 ? 90_000 : 60 + random.below(900) });
    if (turn % workEvery === 0) await service.workOn(moneyWorkers);
    await makeStep(world);
    if (settings.stopsAtLoss && world.losses.length > 0) break;
    if (world.steps < nextCheck) continue;
    nextCheck += checkEvery;
    await checkBooks(world);
    settings.onProgress?.(world.steps);
  }
  await checkBooks(world);
  const { steps, kinds, answers, losses, faults } = world;
  return { steps, kinds, answers, losses, faults };
}
