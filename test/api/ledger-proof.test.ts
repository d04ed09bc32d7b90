// What is proved of the books stays proved: a check proves what is new, in slices that are bounded, and
// still finds whatever is changed afterwards.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pino } from "pino";

import { checkLedger, checkLedgerWhenDue, ledgerIsSound } from "../../src/ledger/check-ledger.ts";
import { findVerdict } from "../../src/ledger/check-store.ts";
import { findWrongHouseBalance } from "../../src/ledger/compare-store.ts";
import { findProof } from "../../src/ledger/proof-store.ts";
import { entriesPerSlice, proveEntries } from "../../src/ledger/check-ledger.ts";
import { assertWritten } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import { type Database, isPassing, sql } from "../../src/platform/postgres/postgres.ts";
import { asOwner } from "../support/database.ts";
import {
  assertLedgerSound,
  buildEntry,
  payIn,
  payInMany,
  toCash,
  toCredits,
} from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";

type SliceRow = { readonly from_no: number; readonly to_no: number; readonly entries: number };

async function listSlices({ ctx }: Service): Promise<SliceRow[]> {
  return await ctx.db.rows(sql`
    select from_no, to_no, entries
    from ledger_proof_slices
    order by from_no`);
}

/** Changes the amount of an entry and everything that would give it away by itself. */
async function forge({ ctx }: Service, entryNo: number): Promise<void> {
  await asOwner(ctx.db, async (owner) => {
    await owner.query(
      `update ledger_entries
      set movements = array[((movements[1]).from_account, (movements[1]).to_account, null,
        (movements[1]).amount + 1)::ledger_movement_parts]::ledger_movement[]
      where entry_no = $1`,
      [entryNo],
    );
    await owner.query(
      `update ledger_entries
      set digest = substr(sha256(convert_to(concat_ws(' ', environment, kind, ordinal, phase, held_as,
        resolves, extract(epoch from at), movements, subject), 'UTF8')), 1, 8)
      where entry_no = $1`,
      [entryNo],
    );
  });
}

test("the books are proved in slices, and new entries extend the last slice until it is full", async (t) => {
  const service = await startService(t);
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 1);
  await payInMany(service, firmId, 2 * entriesPerSlice + 10);
  const { sound, entries } = await checkLedger(service.ctx);
  assert.deepEqual({ sound, entries }, { sound: true, entries: 2 * entriesPerSlice + 11 });
  const slices = await listSlices(service);
  assert.deepEqual(
    slices.map((slice) => slice.entries),
    [entriesPerSlice, entriesPerSlice, 11],
  );
  await payIn(service, firmId, 1);
  await assertLedgerSound(service);
  const grown = await listSlices(service);
  assert.deepEqual(grown.slice(0, 2), slices.slice(0, 2));
  assert.deepEqual(
    grown.slice(2).map((slice) => ({ from: slice.from_no, entries: slice.entries })),
    [{ from: slices[2]?.from_no, entries: 12 }],
  );
});

test("proving stops at its time limit and continues from there, in another process too", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 1);
  await payInMany(service, firmId, 2 * entriesPerSlice);
  const { db } = service.ctx;
  assert.deepEqual(await proveEntries(db, -Infinity), { came: "to its time" });
  assert.equal((await listSlices(service)).length, 1);
  assert.deepEqual(await proveEntries(beside.ctx.db, Infinity), { came: "to the end" });
  assert.equal((await listSlices(service)).length, 3);
  await assertLedgerSound(service);
});

test("a proved entry that is changed with its digest is found, and payouts stop", async (t) => {
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { ctx, clock } = service;
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 100);
  await payIn(service, firmId, 100);
  assert.equal(await checkLedgerWhenDue(ctx), "idle");
  assert.equal(await ledgerIsSound(ctx.db, ctx.now()), true);

  await forge(service, 1);
  clock.advance({ seconds: 60 });
  await checkLedgerWhenDue(ctx);
  assert.equal(await ledgerIsSound(ctx.db, ctx.now()), false);
  const { verdict: changed } = JSON.parse(lines.at(-1) ?? "{}");
  assert.equal(changed.firstBreak.check, "entry_unchanged");
  assert.equal(changed.firstBreak.place, "entries after 0 up to 2");

  clock.advance({ seconds: 60 });
  await checkLedgerWhenDue(ctx);
  const { verdict: proved } = JSON.parse(lines.at(-1) ?? "{}");
  assert.equal(proved.firstBreak.check, "balance_is_sum", "the next one has proved them anew");
  const { firstBreak } = await checkLedger(ctx);
  assert.equal(firstBreak?.check, "balance_is_sum", "and so has the command");
});

test("the worker goes through the statement lines block by block, and then from the first again", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 100);
  await asOwner(ctx.db, async (owner) => {
    await owner.query("begin");
    // Deleted lines keep their blocks, more than one run goes through, and the false line lies behind.
    await owner.query(
      `insert into ledger_firm_entries
      select 'frm_' || lpad(n::text, 26, '0'), now(), 1
      from generate_series(1, 60000) as n`,
    );
    await owner.query("delete from ledger_firm_entries where firm_id <> $1", [firmId]);
    await owner.query(
      `insert into ledger_firm_entries
      select 'frm_other', at, entry_no
      from ledger_entries`,
    );
    await owner.query("commit");
  });
  const check = async () => {
    clock.advance({ seconds: 60 });
    await checkLedgerWhenDue(ctx);
    const { rounds } = await findProof(ctx.db);
    return { sound: await ledgerIsSound(ctx.db, ctx.now()), block: rounds.lineBlock };
  };
  assert.deepEqual(await check(), { sound: true, block: 500 });
  assert.equal((await check()).sound, false, "the second run has come to the false line");

  await asOwner(ctx.db, (owner) =>
    owner.query("delete from ledger_firm_entries where firm_id = 'frm_other'"),
  );
  assert.deepEqual(await check(), { sound: true, block: 500 });
  assert.deepEqual(await check(), { sound: true, block: undefined });
  assert.deepEqual(await check(), { sound: true, block: 500 });
});

const alterations = [
  ["ledger_proof_sums set posted_paise = posted_paise + 1", "balance_is_sum"],
  ["ledger_proof_sums set escrow_paise = escrow_paise + 1", "balance_is_sum"],
  ["ledger_proof_owners set account = 'house_credits'", "one_owner"],
  ["ledger_proof_owners set pending = '{1}'", "one_owner"],
  ["ledger_proof_slices set digest = sha256('')", "entry_unchanged"],
  ["ledger_proof_slices set entries = entries + 1", "entry_unchanged"],
] as const;

test("whatever is altered in the proof is found by the next check, and the books are proved anew", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  const { firm_id: firmId } = await service.issue();
  await payIn(service, firmId, 100);
  const sale = buildEntry("deal_settlement", "posted", [
    { from: { kind: "house_cash" }, to: toCash(firmId), paise: 100 },
    { from: { kind: "external_customs" }, to: toCredits(firmId), scripNo: "SCRIP-1" },
  ]);
  assertWritten(await ctx.db.transaction((tx) => postEntries(tx, [sale], ctx.now())));
  const check = async () => {
    clock.advance({ seconds: 60 });
    await checkLedgerWhenDue(ctx);
    return await findVerdict(ctx.db);
  };
  assert.equal((await check())?.sound, true);
  for (const [altered, found] of alterations) {
    await asOwner(ctx.db, (owner) => owner.query(`update ${altered}`));
    assert.equal((await check())?.first_break?.check, found, altered);
    assert.equal((await check())?.sound, true, altered);
  }
});

test("a check beside writers reports no false break", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const firms = [(await service.issue()).firm_id, (await service.issue()).firm_id] as const;
  for (const firmId of firms) await payIn(service, firmId, 1_000_000);
  const over = new AbortController();
  const write = async (db: Database, from: string, to: string) => {
    while (!over.signal.aborted) {
      const moved = buildEntry("fee", "posted", [{ from: toCash(from), to: toCash(to), paise: 1 }]);
      const held = buildEntry("deal_hold", "pending", [
        { from: toCash(from), to: toCash(to), paise: 1 },
      ]);
      try {
        assertWritten(
          await db.transaction(async (tx) => await postEntries(tx, [moved, held], ctx.now())),
        );
      } catch (error) {
        // On a machine that pauses, one may wait too long for the other.
        if (!isPassing(error)) throw error;
      }
    }
  };
  const writers = [write(ctx.db, ...firms), write(ctx.db, firms[1], firms[0])];
  for (let check = 0; check < 15; check++) await assertLedgerSound(service);
  over.abort();
  await Promise.all(writers);
  await assertLedgerSound(service);
});

test("entries on every account of the house agree with their balances before and after they are proved", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const kinds = [
    "house_cash",
    "house_fees",
    "gst_payable",
    "cgst_payable",
    "sgst_payable",
    "igst_payable",
    "tds_payable",
    "unmatched_cash",
  ] as const;
  const movements = kinds.map((kind) => ({
    from: { kind: "external_bank" } as const,
    to: { kind },
    paise: 7,
  }));
  const entry = buildEntry("deposit", "posted", movements);
  assertWritten(await ctx.db.transaction((tx) => postEntries(tx, [entry], ctx.now())));
  assert.equal(await findWrongHouseBalance(ctx.db), undefined, "before");
  await assertLedgerSound(service);
  assert.equal(await findWrongHouseBalance(ctx.db), undefined, "after");
});
