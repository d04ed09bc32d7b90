// Everybody who moves live money locks in the one order, too: every two of payout files, the bank's
// answers and statements, its queue, approvals, payouts by hand, reversals and the reseal of a new
// master key are run against each other on the same firm, payouts and lines.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds, attesting } from "../../src/approval-kinds.ts";
import { approveProposal, rejectProposal } from "../../src/operators/decide-approval.ts";
import { assignLine, sendLineBack } from "../../src/bankbook/decide-line.ts";
import { fundDeal } from "../../src/bankbook/fund-deal.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { reverseDeposit } from "../../src/bankbook/reverse-deposit.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { sealedAccounts } from "../../src/firms/bank-accounts.ts";
import { type Actor, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { rupeesPlain } from "../../src/kernel/money.ts";
import {
  addNoticeAddress,
  removeNoticeAddress,
  setNoticeOptOuts,
} from "../../src/notices/manage-addresses.ts";
import { createNoticeQueue } from "../../src/notices/queue-notices.ts";
import { loadTemplates } from "../../src/notices/templates.ts";
import { addOperator, disableOperator } from "../../src/operators/manage-operators.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { readFile } from "../../src/payouts/read-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { releasePayout, resendPayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { returnPayout } from "../../src/payouts/recall-payouts.ts";
import { open, seal } from "../../src/platform/seal.ts";
import { sealedPlaces } from "../../src/rotate-master-key.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { holdRow } from "../support/locks.ts";
import {
  assertLockOrder,
  listPairs,
  recordDeadlocks,
  recordLocks,
} from "../support/lock-record.ts";
import { addPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, makeDeal } from "../support/settlements.ts";

const live = { environment: "live" } as const;
/** One person may do everything alone, or nothing. */
const alone = Number.MAX_SAFE_INTEGER;
const byTwo = 1;
const paise = 4_000_000;

/** Steps of the use cases. */
const mustBeSeen = [
  ["approvals", "bank_statements"],
  ["approvals", "bank_lines"],
  ["approvals", "payouts"],
  ["bank_statements", "payouts"],
  ["payouts", "payout_files"],
  ["payouts", "settlements"],
  ["payouts", "firms"],
  ["firms", "ledger_balances"],
  ["notice_cursors", "notice_addresses"],
] as const;

/** Who acts, and who is the second person where it takes two. */
type Pair = { readonly one: Actor; readonly other: Actor };

async function isDone(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Failure) return false;
      throw error;
    },
  );
}

async function openWorld(service: Service, beside: Service) {
  const { ctx, clock } = service;
  const seller = await liveSeller(service);
  const buyer = await liveSeller(service);
  const queryRows = async <Row extends object>(text: string, ...values: unknown[]) =>
    (await ctx.db.pool.query<Row>(text, values)).rows;
  const queryIds = async (text: string) =>
    (await queryRows<{ id: string }>(text, seller.firmId)).map(({ id }) => id);
  const payoutIn = async (state: string) =>
    (
      await queryIds(
        `select payout_id as id from payouts where firm_id = $1 and state = '${state}' order by 1 limit 1`,
      )
    )[0] ?? "none";
  const liveFile = async () =>
    (
      await queryIds(
        `select file_id as id from payout_files where state = 'live' and $1 <> '' limit 1`,
      )
    )[0];

  let references = 0;
  const nextUtr = () => `HDFCR52027${String(++references).padStart(9, "0")}`;
  type Line = { readonly words: string; readonly paise: number; readonly account?: string };
  const statement = (lines: readonly Line[]) => {
    let balance = 900_000_000;
    const rows = lines.map(({ words, paise: amount, account = "" }) => {
      balance += amount;
      const [debit, credit] = amount < 0 ? [rupeesPlain(-amount), ""] : ["", rupeesPlain(amount)];
      const day = "15/11/2026";
      return [day, nextUtr(), words, debit, credit, rupeesPlain(balance), "", account].join(",");
    });
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    return `${[heading, ...rows].join("\n")}\n`;
  };
  const filedLines = async () =>
    await queryRows<{ reference: string; paise: string }>(
      `select reference, paise from payout_file_lines where state = 'live' and firm_id = $1`,
      seller.firmId,
    );
  const read = async (by: Actor, lines: readonly Line[], twoFromPaise = alone) =>
    lines.length === 0
      ? undefined
      : await importStatement(ctx, by, { ...live, text: statement(lines), twoFromPaise });
  const decide = async (approvalId: string | null | undefined, by: Actor, word: Word) => {
    if (typeof approvalId !== "string") return;
    if (word === "approve") await approveProposal(ctx, by, { approvalId, kinds: approvalKinds });
    else await rejectProposal(ctx, by, { approvalId, reason: "no", kinds: approvalKinds });
  };
  const proposeFiles = async ({ one, other }: Pair, word: Word) => {
    const made = await makeFiles(ctx, one, { ...live, twoFromPaise: byTwo });
    for (const { approval_id } of made) await decide(approval_id, other, word);
  };
  const stranger = () => ({ words: "who knows", paise: 7_000, account: "99900011122" });
  const gift = () => ({ words: seller.firmId, paise: 5_000, account: seller.accountNo });
  let turn = 0;
  const queueNotices = createNoticeQueue(ctx, await loadTemplates());

  const useCases: Readonly<Record<string, (pair: Pair) => Promise<unknown>>> = {
    makeFile: ({ one }) => makeFiles(ctx, one, { ...live, twoFromPaise: alone }),
    approveFile: (pair) => proposeFiles(pair, "approve"),
    rejectFile: (pair) => proposeFiles(pair, "reject"),
    readFile: async ({ one }) => await readFile(ctx, one, (await liveFile()) ?? "none"),
    voidFile: async ({ one, other }) => {
      const voiding = { fileId: (await liveFile()) ?? "none", reason: "never sent" };
      await voidFile(ctx, one, voiding);
      await voidFile(ctx, other, voiding);
    },
    answerFile: async ({ one }) => {
      const filed = await filedLines();
      const paid = filed.map((line) => ({ words: line.reference, paise: -Number(line.paise) }));
      await read(one, paid);
    },
    bounceFile: async ({ one }) => {
      const filed = await filedLines();
      const lines = filed.flatMap((line) => [
        { words: line.reference, paise: -Number(line.paise) },
        { words: line.reference, paise: Number(line.paise) },
      ]);
      await read(one, lines);
    },
    importMoney: async ({ one }) => {
      const legs = [{ seller, scripNo: await addCredit(service, seller) }];
      const dealId = await makeDeal(service, { ...live, buyer, legs });
      await read(one, [
        gift(),
        { words: dealId, paise: 3_000, account: buyer.accountNo },
        stranger(),
      ]);
    },
    approveImport: async ({ one, other }) => {
      const imported = await read(one, [gift(), stranger()], byTwo);
      await decide(imported?.approval_id, other, "approve");
    },
    decideLines: async ({ one }) => {
      const [first, second] = await queryIds(
        `select line_id as id from bank_lines where state = 'queued' and $1 <> '' order by 1 limit 2`,
      );
      const what = { reason: "their letter", twoFromPaise: alone };
      await assignLine(ctx, one, { ...what, lineId: first ?? "none", to: seller.firmId });
      await sendLineBack(ctx, one, { ...what, lineId: second ?? "none", utr: nextUtr() });
    },
    sendPayout: async ({ one }) => {
      const payoutId = await payoutIn("scheduled");
      await sendPayout(ctx, one, { payoutId, utr: nextUtr(), twoFromPaise: alone });
    },
    releasePayout: async ({ one, other }) => {
      const asked = await releasePayout(ctx, one, await payoutIn("scheduled"));
      // Two people who release one payout at once are proposer and approver already.
      if (asked.outcome === "proposed") await decide(asked.approval_id, other, "approve");
    },
    returnPayout: async ({ one }) => {
      const payoutId = await payoutIn("sent");
      const returning = { payoutId, reason: "account_closed", kind: attesting };
      await returnPayout(ctx, one, { ...returning, twoFromPaise: alone });
    },
    resendPayout: async ({ one }) => await resendPayout(ctx, one, await payoutIn("returned")),
    reverse: async ({ one, other }) => {
      const [settlementId = "none"] = await queryIds(
        `select p.settlement_id as id from payouts as p join settlements as s using (settlement_id)
        where p.firm_id = $1 and p.state = 'scheduled' and s.state = 'settled' order by 1 limit 1`,
      );
      const command = { settlementId, reason: "forged mandate" };
      await reverseSettlement(ctx, one, command);
      await reverseSettlement(ctx, other, command);
    },
    addDeposit: async ({ one }) => {
      const deposit = { ...live, firmId: seller.firmId, paise: 9_000, reference: nextUtr() };
      await addDeposit(ctx, one, { ...deposit, twoFromPaise: alone });
    },
    /** And takes it back while the bank tells of it. */
    reverseDeposit: async ({ one, other }) => {
      const reference = nextUtr();
      const deposit = { ...live, firmId: seller.firmId, paise: 9_000, reference };
      await addDeposit(ctx, one, { ...deposit, twoFromPaise: alone });
      const reversing = { ...live, reference, reason: "a slip", twoFromPaise: alone };
      await Promise.all([
        isDone(reverseDeposit(ctx, one, reversing)),
        read(other, [{ words: `NEFT ${reference}`, paise: 9_000 }]),
      ]);
    },
    fundDeal: async ({ one }) => {
      const legs = [{ seller, scripNo: await addCredit(service, seller) }];
      const dealId = await makeDeal(service, { ...live, buyer, legs });
      const money = { dealId, paise: 2_000, reference: nextUtr() };
      await fundDeal(ctx, one, { ...money, twoFromPaise: alone });
    },
    withdraw: async () => {
      const path = `/v1/firms/${seller.firmId}/withdrawals`;
      const asked = { key: seller.key, body: { amount_paise: 1_000 } };
      const { status, text } = await service.send("POST", path, asked);
      assert.ok(status < 500, text);
    },
    changePeople: async ({ one, other }) => {
      const admins = [one, other].map((person) => ({ ...person, role: "admin" as const }));
      const [first = one, second = other] = admins;
      const name = `person ${++references}`;
      const added = await addOperator(ctx, first, { name, role: "viewer" });
      await decide(added.approval_id, second, "approve");
      await disableOperator(ctx, first, name);
    },
    /** As a rotation of the master key does: every sealed row of a page is written anew. */
    reseal: async () => {
      for (const { list, set } of sealedPlaces(ctx)) {
        const rows = await list("", 200);
        const resealed = rows.map((row) => {
          const text = open(row.sealed, row.purpose, ctx.sealKey);
          return { row, text, sealed: seal(text, row.purpose, ctx.sealKey) };
        });
        if (resealed.length > 0) await set(resealed);
      }
    },
    /** Adds an address, changes what it is told, and takes it away while events become notices. */
    changeAddresses: async ({ one }) => {
      const email = `clerk${++references}@desk.example`;
      const owner = { deskId: seller.deskId, email };
      const { address_id: addressId } = await addNoticeAddress(ctx, one, owner);
      await setNoticeOptOuts(ctx, one, { addressId, optedOut: ["payout.paid"] });
      await Promise.all([queueNotices(), removeNoticeAddress(ctx, one, addressId)]);
      await addNoticeAddress(ctx, one, owner);
      await removeNoticeAddress(ctx, one, addressId);
    },
    work: async () => {
      clock.advance({ seconds: 2 });
      await (turn++ % 2 === 0 ? service : beside).work();
    },
  };

  /** Something due, a file that the bank has not answered, and lines in the queue, where a pair needs them. */
  const restock = async (names: readonly string[], by: Actor) => {
    const needs = (...those: readonly string[]) => names.some((name) => those.includes(name));
    if (needs("readFile", "voidFile", "answerFile", "bounceFile")) {
      if ((await liveFile()) === undefined) {
        await sellLive(service, seller, paise);
        await makeFiles(ctx, by, { ...live, twoFromPaise: alone });
      }
    }
    if (needs("returnPayout") && (await payoutIn("sent")) === "none") {
      await sellLive(service, seller, paise);
      await useCases["sendPayout"]?.({ one: by, other: by });
    }
    const isDue = needs(
      "makeFile",
      "approveFile",
      "rejectFile",
      "sendPayout",
      "releasePayout",
      "reverse",
    );
    if (isDue && (await payoutIn("scheduled")) === "none") {
      await sellLive(service, seller, paise, paise + 1);
    }
    if (needs("decideLines")) await read(by, [stranger(), stranger()]);
  };
  return { useCases, restock };
}

type Word = "approve" | "reject";

test("no two acts on live money deadlock, and all lock in one order", async (t) => {
  const deadlocks = recordDeadlocks(t); // Before a connection is opened.
  const service = await startService(t);
  const first = await addPerson(service, { name: "first", role: "admin" });
  await addPerson(service, { name: "second", role: "admin", by: [first] });
  const { useCases, restock } = await openWorld(
    service,
    await startService(t, { beside: service }),
  );
  const person = (name: string): Actor => ({ ...namedOperator(name), role: "settlement" });
  const pairs = [
    { one: person("asha"), other: person("ravi") },
    { one: person("mira"), other: person("john") },
  ] as const;
  const steps = recordLocks(t);
  const names = Object.keys(useCases);
  const outcomes = new Map<string, number>();
  for (const [one, other] of listPairs(names)) {
    await restock([one, other], person("root"));
    const done = await Promise.all([
      isDone(useCases[one]?.(pairs[0]) ?? assert.fail()),
      isDone(useCases[other]?.(pairs[1]) ?? assert.fail()),
    ]);
    assert.deepEqual(deadlocks, [], `${one} beside ${other}`);
    if (done[0]) outcomes.set(one, (outcomes.get(one) ?? 0) + 1);
    if (done[1]) outcomes.set(other, (outcomes.get(other) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  for (const name of names) assert.ok((outcomes.get(name) ?? 0) > 0, `${name} was done`);
  await assertLedgerSound(service);
  const { rows } = await service.ctx.db.pool.query(
    "select deadlocks::int from pg_stat_database where datname = current_database()",
  );
  assert.deepEqual(rows, [{ deadlocks: 0 }]);
  assertLockOrder(steps, mustBeSeen);
});

test("a reseal locks rows in the order of their ids, whatever their physical order", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const sellers = [await liveSeller(service), await liveSeller(service)];
  const [low = "", high = ""] = sellers.map(({ firmId }) => firmId).toSorted();
  // The lower one comes last in its table and in the set: an update alone would come to it last.
  await db.pool.query("update firms set bank_name = bank_name || '' where firm_id = $1", [low]);
  const place = sealedAccounts(service.ctx);
  const rows = (await place.list("", 200)).filter(({ id }) => id === low || id === high);
  const resealed = rows.toReversed().map((row) => {
    const text = open(row.sealed, row.purpose, service.ctx.sealKey);
    return { row, text, sealed: seal(text, row.purpose, service.ctx.sealKey) };
  });
  assert.equal(resealed.length, 2);
  const held = await holdRow(t, service, { table: "firms", where: `firm_id = '${low}'` });
  const resealing = place.set(resealed);
  await held.whenWaiting(1);
  await db.pool.query("select from firms where firm_id = $1 for update nowait", [high]);
  await held.release();
  await resealing;
  const after = new Map((await place.list("", 200)).map(({ id, sealed }) => [id, sealed]));
  for (const { row, sealed } of resealed) assert.ok(after.get(row.id)?.equals(sealed), row.id);
});
