// A file that the bank has answered in part, or that was voided, is never written again, in whichever
// order it is written, paid, imported, voided and made anew.

import assert from "node:assert/strict";
import { test } from "node:test";

import { importStatement } from "../../src/bankbook/import-statement.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { readFile, showFile } from "../../src/payouts/read-files.ts";
import { recallPayout } from "../../src/payouts/recall-payouts.ts";
import { statement } from "../support/bank.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type LiveSeller, liveSeller } from "../support/live-sales.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts } from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
const duePaise = 4_000_000;

function permute<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) =>
    permute(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

/** The failure, if that is what came. */
async function refusal(acting: Promise<unknown>): Promise<Failure | undefined> {
  try {
    await acting;
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

let utrs = 0;

/** What the bank was given and did, kept apart from the service's own tables. */
class Bank {
  readonly service: Service;
  /** The account that each reference pays, of every file that the bank was given. */
  readonly given = new Map<string, string>();
  readonly paid = new Set<string>();
  /** References that the service was told are paid, or that people said the bank never got. */
  readonly over = new Set<string>();
  #balance = 1_000_000_000;

  constructor(service: Service) {
    this.service = service;
  }

  /** Takes a file as it is written now; false when the service does not write it. */
  async take(fileId: string): Promise<boolean> {
    let text = "";
    const refused = await refusal(
      readFile(this.service.ctx, asha, fileId).then((bytes) => {
        text = bytes.text;
      }),
    );
    if (refused) return false;
    for (const row of text.trim().split("\r\n").slice(1)) {
      const [, , account = "", , , , reference = ""] = row.split(",");
      assert.ok(!this.over.has(reference), `${reference} was answered or voided`);
      this.given.set(reference, account);
    }
    return true;
  }

  /** Pays the first line that it was given and has not paid; the service reads so in a statement. */
  async pay(): Promise<void> {
    const reference = [...this.given.keys()].find((known) => !this.paid.has(known));
    if (reference === undefined || this.over.has(reference)) return;
    this.paid.add(reference);
    const line = {
      utr: `HDFCR52026${String(++utrs).padStart(9, "0")}`,
      text: `NEFT ${reference}`,
      paise: -duePaise,
    };
    const text = statement(this.#balance, [line]);
    this.#balance -= duePaise;
    await importStatement(this.service.ctx, asha, { ...live, text });
    this.over.add(reference);
  }
}

async function owe(service: Service): Promise<LiveSeller> {
  const seller = await liveSeller(service);
  const { firmId } = seller;
  const reference = `HDFCR52025${String(++utrs).padStart(9, "0")}`;
  await addDeposit(service.ctx, asha, { ...live, firmId, paise: duePaise, reference });
  await service.send("POST", `/v1/firms/${seller.firmId}/withdrawals`, {
    key: seller.key,
    body: { amount_paise: duePaise },
    expect: 201,
  });
  return seller;
}

test("no order of writing, paying, importing and voiding writes a line again that is over", async (t) => {
  const service = await startService(t);
  await service.work(); // The books are checked before money leaves.
  const bank = new Bank(service);
  for (const order of permute(["write", "pay", "void", "renew"] as const)) {
    const sellers = [await owe(service), await owe(service)];
    const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
    const fileId = made.file_id ?? "";
    for (const step of [...order, "write"] as const) {
      if (step === "write") await bank.take(fileId);
      if (step === "pay") await bank.pay();
      if (step === "void") {
        const voiding = { fileId, reason: "the bank refused the upload" };
        const open = (await showFile(service.ctx, fileId)).lines.filter(
          ({ state }) => state === "live",
        );
        const first = await refusal(voidFile(service.ctx, asha, voiding));
        const second = await refusal(voidFile(service.ctx, ravi, voiding));
        assert.deepEqual([first, second], [undefined, undefined], order.join(" "));
        for (const { reference } of open) bank.over.add(reference);
      }
      if (step === "renew") {
        const renewed = await makeFiles(service.ctx, asha, live);
        for (const { file_id } of renewed) {
          assert.ok(await bank.take(file_id ?? ""), "a new file is written");
        }
      }
    }
    assert.equal(await bank.take(fileId), false, `${order.join(" ")}: it was voided`);
    for (const { accountNo } of sellers) {
      const owed = [...bank.given].filter(
        ([reference, account]) =>
          account === accountNo && (!bank.over.has(reference) || bank.paid.has(reference)),
      );
      assert.ok(owed.length <= 1, `${order.join(" ")}: one line pays one debt`);
    }
    for (const seller of sellers) await keepBack(service, seller);
    bank.given.clear();
  }
  await assertLedgerSound(service);
});

/** What is due again stays out of the files of the next order. */
async function keepBack(service: Service, seller: LiveSeller): Promise<void> {
  for (const { payout_id: payoutId, status } of await listPayouts(service, seller)) {
    const reason = "the next order begins";
    if (status === "scheduled") await recallPayout(service.ctx, asha, { payoutId, reason });
  }
}

test("a file that the bank has answered in part is not written again, and says why", async (t) => {
  const service = await startService(t);
  await service.work(); // The books are checked before money leaves.
  const bank = new Bank(service);
  await owe(service);
  await owe(service);
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
  const fileId = made.file_id ?? "";
  assert.ok(await bank.take(fileId));
  await bank.pay();
  const refused = await refusal(readFile(service.ctx, asha, fileId));
  assert.deepEqual(refused?.detail, { reason: "file_answered", state: "live", lines: 2, live: 1 });
});
