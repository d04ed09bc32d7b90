// The check of the books: it passes on books that hold, and each way of breaking them behind the
// service's back is a control that it must find and name.

import assert from "node:assert/strict";
import { test } from "node:test";

import type pg from "pg";
import { pino } from "pino";

import { namedOperator } from "../../src/kernel/actor.ts";
import { checkLedger, ledgerIsSound } from "../../src/ledger/check-ledger.ts";
import { assertWritten, type Entry, stripedKinds } from "../../src/ledger/rules.ts";
import { postEntries, writeBooks } from "../../src/ledger/write-books.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { commandLine } from "../support/cli.ts";
import { sql } from "../../src/platform/postgres/postgres.ts";
import { asOwner } from "../support/database.ts";
import { assertLedgerSound, buildEntry, payIn, toCash, toCredits } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts } from "../support/settlements.ts";

/** Books with an entry of every phase, and a credit that has moved, with the numbers of entries. */
async function fill(service: Service) {
  const { db } = service.ctx;
  const now = service.ctx.now();
  const [a, b] = [(await service.issue()).firm_id, (await service.issue()).firm_id];
  await payIn(service, a, 10_000);
  const deal = (phase: Entry["phase"], scripNo: string) =>
    buildEntry(phase === "posted" ? "deal_settlement" : "deal_hold", phase, [
      { from: toCash(a), to: toCash(b), paise: 1_000 },
      { from: toCash(a), to: { kind: "house_fees" }, paise: 10 },
      { from: toCredits(b), to: { kind: "house_credits" }, scripNo },
      { from: { kind: "house_credits" }, to: toCredits(a), scripNo },
    ]);
  const [posted, kept, freed, open] = [
    deal("posted", "SCRIP-1"),
    deal("pending", "SCRIP-2"),
    deal("pending", "SCRIP-3"),
    deal("pending", "SCRIP-4"),
  ];
  const entries = await db.transaction(
    async (tx) => await postEntries(tx, [posted, kept, freed, open], now),
  );
  const ends = await db.transaction(async (tx) => {
    const resolutions = [
      { ...kept, as: "posted" },
      { ...freed, as: "voided" },
    ] as const;
    return (await writeBooks(tx, { resolutions }, now)).resolutions;
  });
  assertWritten([...entries, ...ends]);
  const numbers = [...entries, ...ends].map((result) => (result.ok ? result.entryNo : 0));
  const [settled, pendingPosted, , pending, release] = numbers;
  return { a, b, settled, pendingPosted, pending, release };
}

type Filled = Awaited<ReturnType<typeof fill>>;

type Control = {
  readonly what: string;
  readonly check: string;
  readonly place: (filled: Filled) => string;
  readonly corrupt: (filled: Filled) => string;
  /** Takes a guard of the database out of the way first, and puts it back in the end. */
  readonly without?: { readonly drop: string; readonly restore: string };
};

/** What a forger with the owner's rights would set, so that the digest fits what it is of. */
const forgedDigest = `digest = substr(sha256(convert_to(concat_ws(' ', environment, kind, ordinal,
  phase, held_as, resolves, extract(epoch from at), movements, subject), 'UTF8')), 1, 8)`;

const edit = (entryNo: number | undefined, from: string, to: string) =>
  `update ledger_entries
   set movements = replace(movements::text, '${from}', '${to}')::ledger_movement[]
   where entry_no = ${entryNo}`;
const forge = (entryNo: number | undefined, from: string, to: string) =>
  `${edit(entryNo, from, to)};
   update ledger_entries set ${forgedDigest} where entry_no = ${entryNo}`;

/** Gives an end the movements of what it ends, as entries had them once, with a change. */
const moveItself = (entryNo: number | undefined, from: string, to: string) =>
  `update ledger_entries as e
   set movements = replace(held.movements::text, '${from}', '${to}')::ledger_movement[]
   from ledger_entries as held
   where held.entry_no = e.resolves and e.entry_no = ${entryNo};
   update ledger_entries set ${forgedDigest} where entry_no = ${entryNo}`;

const copyEntry = (entryNo: number | undefined, changes: string) =>
  `insert into ledger_entries
   select (jsonb_populate_record(e, jsonb_build_object('entry_no', 900001) || '${changes}')).*
   from ledger_entries as e
   where entry_no = ${entryNo}`;

const resolvedOnce = {
  drop: "drop index ledger_entries_resolved_once",
  restore: `create unique index ledger_entries_resolved_once on ledger_entries (resolves)
    where resolves is not null`,
};
// Rows that are there are not looked at again; a column of a domain over parts does not allow it.
const movementCheck = {
  drop: "alter domain ledger_movement drop constraint ledger_movement_check",
  restore: `alter domain ledger_movement add constraint ledger_movement_check check (
    coalesce(
      (value).from_account <> (value).to_account
      and (value).amount between 1 and case when (value).scrip_no is null then 9007199254740991 else 1 end,
      false
    )
  ) not valid`,
};
const floor = {
  drop: "alter table ledger_balances drop constraint ledger_balances_floor",
  restore: `alter table ledger_balances add constraint ledger_balances_floor check (
    kind not in ('firm_cash', 'desk_commission')
    or (
      posted_paise - escrow_paise - pending_out_paise >= 0
      and least(posted_paise, escrow_paise, pending_out_paise, pending_in_paise) >= 0
    )
  )`,
};

const controls: readonly Control[] = [
  {
    what: "an edited amount",
    check: "entry_unchanged",
    place: ({ settled }) => `entry ${settled}, deal_settlement of `,
    corrupt: ({ settled }) => edit(settled, ",1000)", ",999)"),
  },
  {
    what: "an edited account",
    check: "entry_unchanged",
    place: ({ settled }) => `entry ${settled}, `,
    corrupt: ({ settled }) => edit(settled, "house_fees", "house_cash"),
  },
  {
    what: "an edited time",
    check: "entry_unchanged",
    place: ({ pending }) => `entry ${pending}, deal_hold of `,
    corrupt: ({ pending }) =>
      `update ledger_entries set at = at + interval '1 ms' where entry_no = ${pending}`,
  },
  {
    what: "a movement with one side",
    check: "entry_sums_to_zero",
    place: ({ settled }) => `entry ${settled}, `,
    corrupt: ({ settled }) => forge(settled, "house_fees", ""),
    without: movementCheck,
  },
  {
    what: "an edited amount, with a forged digest",
    check: "balance_is_sum",
    place: () => "sandbox account firm_cash:",
    corrupt: ({ settled }) => forge(settled, ",1000)", ",999)"),
  },
  {
    what: "a dropped movement, with a forged digest",
    check: "balance_is_sum",
    place: () => "sandbox account ",
    corrupt: ({ settled, a }) => forge(settled, `"(firm_cash:${a},house_fees,,10)",`, ""),
  },
  {
    what: "a dropped entry",
    check: "statement_complete",
    place: ({ settled }) => `entry ${settled} on the statement of `,
    corrupt: ({ settled }) => `delete from ledger_entries where entry_no = ${settled}`,
  },
  {
    what: "a dropped line of a statement",
    check: "statement_complete",
    place: ({ settled, b }) => `entry ${settled} on the statement of ${b}`,
    corrupt: ({ settled, b }) =>
      `delete from ledger_firm_entries where entry_no = ${settled} and firm_id = '${b}'`,
  },
  {
    what: "a line of a statement that concerns another firm",
    check: "statement_complete",
    place: ({ settled }) => `entry ${settled} on the statement of frm_other`,
    corrupt: ({ settled }) =>
      `insert into ledger_firm_entries select 'frm_other', at, entry_no
       from ledger_entries where entry_no = ${settled}`,
  },
  {
    what: "a second resolution",
    check: "resolved_once",
    place: ({ release }) => `entry ${release}, deal_hold of `,
    corrupt: ({ release }) =>
      `${copyEntry(release, "{}")}; update ledger_entries set ${forgedDigest} where entry_no = 900001`,
    without: resolvedOnce,
  },
  {
    what: "a resolution of what was never pending",
    check: "resolved_once",
    place: ({ release }) => `entry ${release}, deal_hold of `,
    corrupt: ({ release, settled }) =>
      `update ledger_entries set resolves = ${settled} where entry_no = ${release};
       update ledger_entries set ${forgedDigest} where entry_no = ${release}`,
  },
  {
    what: "a resolution of an entry that is missing",
    check: "resolved_once",
    place: ({ release }) => `entry ${release}, deal_hold of `,
    corrupt: ({ release }) =>
      `update ledger_entries set resolves = 900002 where entry_no = ${release};
       update ledger_entries set ${forgedDigest} where entry_no = ${release}`,
  },
  {
    what: "a resolution that posts something else",
    check: "resolved_once",
    place: ({ release }) => `entry ${release}, deal_hold of `,
    corrupt: ({ release }) => moveItself(release, ",1000)", ",999)"),
  },
  {
    what: "a resolution under another name",
    check: "resolved_once",
    place: ({ release }) => `entry ${release}, fee of `,
    corrupt: ({ release }) =>
      `update ledger_entries set kind = 'fee' where entry_no = ${release};
       update ledger_entries set ${forgedDigest} where entry_no = ${release}`,
  },
  {
    what: "a wrong balance",
    check: "balance_is_sum",
    place: ({ b }) => `sandbox account firm_cash:${b}`,
    corrupt: ({ b }) =>
      `update ledger_balances set posted_paise = posted_paise + 1 where balance = 'firm_cash:${b}'`,
  },
  {
    what: "a wrong stripe of the house",
    check: "balance_is_sum",
    place: () => "live account house_cash",
    corrupt: () =>
      "update ledger_balances set posted_paise = 1 where balance = 'house_cash:live:7'",
  },
  {
    what: "money that is held for nothing",
    check: "balance_is_sum",
    place: ({ b }) => `sandbox account firm_cash:${b}`,
    corrupt: ({ b }) =>
      `update ledger_balances set escrow_paise = 1 where balance = 'firm_cash:${b}'`,
  },
  {
    what: "a missing balance",
    check: "balance_is_sum",
    place: ({ b }) => `sandbox account firm_cash:${b}`,
    corrupt: ({ b }) => `delete from ledger_balances where balance = 'firm_cash:${b}'`,
  },
  {
    what: "a firm below zero",
    check: "nothing_below_zero",
    place: ({ b }) => `sandbox account firm_cash:${b}`,
    corrupt: ({ b, settled }) =>
      `${copyEntry(settled, '{"subject": "forged"}')};
       update ledger_entries set movements = array[('firm_cash:${b}', 'house_cash', null, 9000)]::ledger_movement[]
       where entry_no = 900001;
       update ledger_entries set ${forgedDigest} where entry_no = 900001;
       insert into ledger_firm_entries select '${b}', at, entry_no from ledger_entries where entry_no = 900001;
       update ledger_balances set posted_paise = posted_paise - 9000 where balance = 'firm_cash:${b}';
       update ledger_balances set posted_paise = posted_paise + 9000 where balance = 'house_cash:sandbox:0'`,
    without: floor,
  },
  {
    what: "a chain of owners with a gap",
    check: "owners_in_a_chain",
    place: ({ settled }) => `sandbox credit SCRIP-1 at entry ${settled}`,
    corrupt: ({ settled }) => forge(settled, "(house_credits,", "(external_customs,"),
  },
  {
    what: "a wrong owner",
    check: "one_owner",
    place: () => "sandbox credit SCRIP-1",
    corrupt: () => "update credit_owners set account = 'house_credits' where scrip_no = 'SCRIP-1'",
  },
  {
    what: "a missing owner",
    check: "one_owner",
    place: () => "sandbox credit SCRIP-2",
    corrupt: () => "delete from credit_owners where scrip_no = 'SCRIP-2'",
  },
  {
    what: "an owner of what never moved",
    check: "one_owner",
    place: () => "live credit SCRIP-9",
    corrupt: () =>
      "insert into credit_owners (environment, scrip_no, account) values ('live', 'SCRIP-9', 'house_credits')",
  },
  {
    what: "a credit that is free while a deal has it",
    check: "one_owner",
    place: () => "sandbox credit SCRIP-4",
    corrupt: () => "update credit_owners set pending_entry_no = null where scrip_no = 'SCRIP-4'",
  },
  {
    what: "a credit that is held by a deal that ended",
    check: "one_owner",
    place: () => "sandbox credit SCRIP-3",
    corrupt: ({ pending }) =>
      `update credit_owners set pending_entry_no = ${pending} where scrip_no = 'SCRIP-3'`,
  },
  ...stripedKinds.map((kind) => ({
    what: `a balance of ${kind} that no entry explains`,
    check: "balance_is_sum",
    place: () => `live account ${kind}`,
    corrupt: () =>
      `insert into ledger_balances (balance, environment, account, kind, stripe, posted_paise)
       values ('${kind}:live:7', 'live', '${kind}', '${kind}', 7, 1)
       on conflict (balance) do update set posted_paise = 1`,
  })),
];

const tables = ["ledger_entries", "ledger_firm_entries", "ledger_balances", "credit_owners"];

async function restore(owner: pg.Client, { without }: Control): Promise<void> {
  await owner.query(`truncate ${tables.join(", ")}`);
  for (const table of tables)
    await owner.query(`insert into ${table} select * from saved_${table}`);
  if (without) await owner.query(without.restore);
}

test("the check of the ledger", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const filled = await fill(service);
  await assertLedgerSound(service);
  await asOwner(db, async (owner) => {
    for (const table of tables) await owner.query(`create table saved_${table} as table ${table}`);
  });

  for (const control of controls) {
    await t.test(`finds and names ${control.what}`, async () => {
      await asOwner(db, async (owner) => {
        // Foreign keys would stand in the way of a dropped entry.
        await owner.query("set session_replication_role = replica");
        if (control.without) await owner.query(control.without.drop);
        await owner.query(control.corrupt(filled));
        const { firstBreak } = await checkLedger(service.ctx);
        await restore(owner, control);
        assert.equal(firstBreak?.check, control.check, JSON.stringify(firstBreak));
        assert.ok(firstBreak.place.startsWith(control.place(filled)), firstBreak.place);
        assert.notEqual(firstBreak.found, firstBreak.expected);
      });
      await assertLedgerSound(service);
    });
  }

  await t.test(
    "takes an end with the movements of what it ends, as ends were once written",
    async () => {
      const [resolution] = await db.rows<{ entry_no: number }>(sql`
      select entry_no from ledger_entries where resolves is not null and phase = 'posted'`);
      await asOwner(db, async (owner) => owner.query(moveItself(resolution?.entry_no, "", "")));
      await assertLedgerSound(service);
    },
  );

  await t.test("counts the rows it has read", async () => {
    const { sound, entries } = await checkLedger(service.ctx);
    assert.deepEqual({ sound, entries }, { sound: true, entries: 7 });
  });
});

const breakBank = `update ledger_balances set posted_paise = posted_paise + 1
  where balance = 'external_bank:sandbox:0'`;
const mendBank = breakBank.replace("+ 1", "- 1");

test("money leaves only on a recent good verdict", async (t) => {
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { db } = service.ctx;
  const isSound = () => ledgerIsSound(db, service.ctx.now());
  assert.equal(await isSound(), false, "never checked");

  await service.work();
  assert.equal(await isSound(), true);

  await asOwner(db, (owner) => owner.query(breakBank));
  await service.work();
  assert.equal(await isSound(), true, "the next check is not due");
  service.clock.advance({ seconds: 60 });
  await service.work();
  assert.equal(await isSound(), false);
  const [line = "{}"] = lines;
  const { verdict, msg } = JSON.parse(line);
  assert.equal(msg, "the ledger is broken: payouts stop");
  assert.equal(verdict.firstBreak.place, "sandbox account external_bank");

  await asOwner(db, (owner) => owner.query(mendBank));
  service.clock.advance({ seconds: 60 });
  await service.work();
  assert.equal(await isSound(), true);
  service.clock.advance({ seconds: 7_201 });
  assert.equal(await isSound(), false, "too long ago");
});

test("of several processes only one runs the check", async (t) => {
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const beside = await startService(t, { beside: service });
  await asOwner(service.ctx.db, (owner) => owner.query(breakBank));
  await Promise.all([service.work(), beside.work()]);
  assert.equal(lines.length, 1);
});

test("npx scripdesk ledger check reports a break and exits with 1", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const good = await run("ledger", "check", "--json");
  assert.equal(good.code, 0, good.stderr);
  const { took_ms, checked_at, ...verdict } = JSON.parse(good.stdout);
  assert.deepEqual(verdict, { sound: true, entries: 0, first_break: null });
  assert.equal(typeof took_ms, "number");
  assert.match(checked_at, /\+05:30$/);

  await asOwner(service.ctx.db, (owner) => owner.query(breakBank));
  const broken = await run("ledger", "check", "--json");
  assert.equal(broken.code, 1);
  assert.deepEqual(JSON.parse(broken.stdout).first_break, {
    check: "balance_is_sum",
    place: "sandbox account external_bank",
    found: "posted 1, escrow 0, pending out 0, pending in 0",
    expected: "posted 0, escrow 0, pending out 0, pending in 0",
  });
  assert.equal(await ledgerIsSound(service.ctx.db, new Date()), false, "the service goes by it");
});

test("the database refuses a buyer price below the seller price, and the check finds one", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const [seller, buyer] = [await dealer(service), await dealer(service, [])];
  await seller.post(
    "/v1/orders",
    { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 },
    201,
  );
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 };
  const { body: order } = await buyer.post("/v1/orders", wanted, 201);
  assert.deepEqual(order.scrip_nos, [seller.scripNo]);
  const underpay = async (change: string) =>
    await db.pool.query(`update settlement_legs set ${change} where settlement_id = $1`, [
      order.settlement_id,
    ]);
  for (const change of ["buyer_paise = seller_paise - 1", "buyer_bps = seller_bps - 1"]) {
    await assert.rejects(underpay(change), { constraint: "settlement_legs_buyer_pays_seller" });
  }
  await assertLedgerSound(service);

  const rule = "settlement_legs_buyer_pays_seller";
  await asOwner(db, (owner) => owner.query(`alter table settlement_legs drop constraint ${rule}`));
  await underpay("buyer_paise = seller_paise - 1");
  const { firstBreak } = await checkLedger(service.ctx);
  assert.equal(firstBreak?.check, "buyer_pays_seller");
  assert.equal(firstBreak.place, `credit ${seller.scripNo} of settlement ${order.settlement_id}`);
  await underpay("state = 'failed', answered_at = now()");
  assert.equal((await checkLedger(service.ctx)).sound, true, "what has failed is mended");
});

test("the database refuses a payout to an account that was not confirmed, and the check finds one", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const [seller, other] = [await liveSeller(service), await liveSeller(service)];
  await sellLive(service, seller, 4_000_000);
  await makeFiles(service.ctx, namedOperator("asha"), { environment: "live" });
  const [{ payout_id: payoutId }] = await listPayouts(service, seller);
  const lead = async (change: string) =>
    await db.pool.query(`update payouts set ${change} where payout_id = $1`, [payoutId]);
  const ofOther = `(select account_id from firms where firm_id = '${other.firmId}')`;
  const corruptions = [
    ["account_id = null", "payouts_leave_to_an_account"],
    [`account_id = ${ofOther}`, "payouts_to_confirmed_account"],
    ["last4 = '0000'", "payouts_to_confirmed_account"],
  ] as const;
  for (const [change, constraint] of corruptions) {
    await assert.rejects(lead(change), { constraint });
  }
  await assertLedgerSound(service);

  const { rows } = await db.pool.query("select account_id, last4 from payouts");
  for (const [change, constraint] of corruptions) {
    await asOwner(db, (owner) =>
      owner.query(`alter table payouts drop constraint if exists ${constraint}`),
    );
    await lead(change);
    const { firstBreak } = await checkLedger(service.ctx);
    assert.deepEqual(
      [firstBreak?.check, firstBreak?.place],
      ["payee_confirmed", `payout ${payoutId}`],
    );
    await lead(`account_id = '${rows[0].account_id}', last4 = '${rows[0].last4}'`);
  }
  assert.equal((await checkLedger(service.ctx)).sound, true);
});
