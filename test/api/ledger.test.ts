// The books through the use cases that other slices call, on a real database.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sumPaise } from "../../src/kernel/money.ts";
import { readBalances, readOwners, readPostings } from "../../src/ledger/read-books.ts";
import { assertWritten, type Entry, type Resolution } from "../../src/ledger/rules.ts";
import { postEntries, resolveEntries, writeBooks } from "../../src/ledger/write-books.ts";
import { asOwner } from "../support/database.ts";
import {
  assertLedgerSound,
  bank,
  buildEntry,
  payIn,
  toCash,
  toCredits,
} from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";

async function open(service: Service) {
  const { db } = service.ctx;
  const [a, b] = [(await service.issue()).firm_id, (await service.issue()).firm_id];
  const now = () => service.ctx.now();
  return {
    a,
    b,
    post: async (...entries: Entry[]) =>
      await db.transaction(async (tx) => await postEntries(tx, entries, now())),
    resolve: async (...resolutions: Resolution[]) =>
      await db.transaction(async (tx) => await resolveEntries(tx, resolutions, now())),
    cash: async (firmId: string) => {
      const [balances] = await readBalances(db, "sandbox", [firmId]);
      const { available_paise, escrow_paise, pending_in_paise, pending_out_paise } = balances!;
      return [available_paise, escrow_paise, pending_in_paise, pending_out_paise];
    },
    owner: async (scripNo: string) => (await readOwners(db, "sandbox", [scripNo])).get(scripNo),
  };
}

let numbers = 0;
const scrip = () => `SCRIP-${++numbers}`;

test("the ledger", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  t.afterEach(() => assertLedgerSound(service));

  await t.test("funding a deal holds money, and its release or refund ends the hold", async () => {
    const { a, b, post, resolve, cash } = await open(service);
    await payIn(service, a, 1_000);
    const kept = buildEntry("deal_hold", "pending", [
      { from: toCash(a), to: toCash(b), paise: 600 },
    ]);
    const freed = buildEntry("deal_hold", "pending", [
      { from: toCash(a), to: toCash(b), paise: 300 },
    ]);
    assertWritten(await post(kept, freed));
    assert.deepEqual(
      [await cash(a), await cash(b)],
      [
        [100, 900, 0, 0],
        [0, 0, 900, 0],
      ],
    );
    assertWritten(await resolve({ ...kept, as: "posted" }, { ...freed, as: "voided" }));
    assert.deepEqual(
      [await cash(a), await cash(b)],
      [
        [400, 0, 0, 0],
        [600, 0, 0, 0],
      ],
    );
  });

  await t.test(
    "a payout is pending out until the bank confirms it, a deposit pending in",
    async () => {
      const { a, post, resolve, cash } = await open(service);
      const deposit = buildEntry("deposit", "pending", [{ from: bank, to: toCash(a), paise: 500 }]);
      await post(deposit);
      assert.deepEqual(await cash(a), [0, 0, 500, 0]);
      await resolve({ ...deposit, as: "posted" });
      const payout = buildEntry("payout", "pending", [{ from: toCash(a), to: bank, paise: 200 }]);
      assertWritten(await post(payout));
      assert.deepEqual(await cash(a), [300, 0, 0, 200]);
      assertWritten(await resolve({ ...payout, as: "posted" }));
      assert.deepEqual(await cash(a), [300, 0, 0, 0]);
    },
  );

  await t.test(
    "an entry without funds is refused, and the others of its set are written",
    async () => {
      const { a, b, post, cash } = await open(service);
      const pay = (paise: number) =>
        buildEntry("deal_settlement", "posted", [{ from: toCash(a), to: toCash(b), paise }]);
      const results = await post(
        pay(1),
        buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 100 }]),
        pay(60),
        pay(41),
        pay(40),
      );
      assert.deepEqual(
        results.map(({ ok }) => ok),
        [false, true, true, false, true],
      );
      assert.deepEqual(results[3], {
        ok: false,
        refusal: {
          reason: "insufficient_funds",
          account: { kind: "firm_cash", firmId: a },
          availablePaise: 40,
          shortPaise: 1,
        },
      });
      assert.deepEqual(
        [await cash(a), await cash(b)],
        [
          [0, 0, 0, 0],
          [100, 0, 0, 0],
        ],
      );
    },
  );

  await t.test("held and pending money cannot be spent", async () => {
    const { a, b, post } = await open(service);
    await payIn(service, a, 100);
    const hold = buildEntry("deal_hold", "pending", [
      { from: toCash(a), to: toCash(b), paise: 100 },
    ]);
    assertWritten(await post(hold));
    for (const from of [a, b]) {
      const payout = buildEntry("payout", "pending", [{ from: toCash(from), to: bank, paise: 1 }]);
      const [result] = await post(payout);
      assert.equal(result?.ok === false && result.refusal.reason, "insufficient_funds");
    }
  });

  await t.test(
    "an entry is written once, for any number of tries in one or several sets",
    async () => {
      const { a, post, cash } = await open(service);
      const deposit = buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 100 }]);
      const [first, twin] = await post(deposit, deposit);
      const [later] = await post(deposit);
      assert.equal(first?.ok, true);
      for (const again of [twin, later]) {
        assert.deepEqual(again, { ok: false, refusal: { reason: "already_written" } });
      }
      assertWritten(await post({ ...deposit, ordinal: 1 }));
      assert.deepEqual(await cash(a), [200, 0, 0, 0]);
    },
  );

  await t.test("of twenty concurrent writers of one entry one succeeds", async () => {
    const { a, post, cash } = await open(service);
    await payIn(service, a, 1);
    const deposit = buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 100 }]);
    const tries = await Promise.all(Array.from({ length: 20 }, () => post(deposit)));
    assert.equal(tries.filter(([result]) => result?.ok).length, 1);
    assert.deepEqual(await cash(a), [101, 0, 0, 0]);
  });

  await t.test("a pending entry is resolved once, and later tries get its outcome", async () => {
    const { a, b, post, resolve, cash } = await open(service);
    await payIn(service, a, 100);
    const hold = buildEntry("deal_hold", "pending", [
      { from: toCash(a), to: toCash(b), paise: 70 },
    ]);
    await post(hold);
    const [, twin] = await resolve({ ...hold, as: "voided" }, { ...hold, as: "posted" });
    assert.deepEqual(twin, { ok: false, refusal: { reason: "already_voided" } });
    const [later] = await resolve({ ...hold, as: "posted" });
    assert.deepEqual(later, { ok: false, refusal: { reason: "already_voided" } });
    const [unknown] = await resolve({ ...hold, ordinal: 1, as: "posted" });
    assert.deepEqual(unknown, { ok: false, refusal: { reason: "not_pending" } });
    assert.deepEqual(await cash(a), [100, 0, 0, 0]);
  });

  await t.test("of concurrent releases and refunds of one entry one succeeds", async () => {
    const { a, b, post, resolve, cash } = await open(service);
    await payIn(service, a, 100);
    const hold = buildEntry("deal_hold", "pending", [
      { from: toCash(a), to: toCash(b), paise: 70 },
    ]);
    await post(hold);
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, at) => resolve({ ...hold, as: at % 2 ? "posted" : "voided" })),
    );
    const won = tries.flatMap(([result], at) => (result?.ok ? [at % 2 ? "posted" : "voided"] : []));
    assert.equal(won.length, 1);
    assert.deepEqual(await cash(b), won[0] === "posted" ? [70, 0, 0, 0] : [0, 0, 0, 0]);
  });

  await t.test("a posted entry cannot be resolved", async () => {
    const { a, post, resolve } = await open(service);
    const deposit = buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 1 }]);
    await post(deposit);
    const [result] = await resolve({ ...deposit, as: "voided" });
    assert.deepEqual(result, { ok: false, refusal: { reason: "not_pending" } });
  });

  await t.test(
    "resolutions of a call apply before its entries, so refunded money can be spent",
    async () => {
      const { a, b, post, cash } = await open(service);
      await payIn(service, a, 100);
      const hold = buildEntry("deal_hold", "pending", [
        { from: toCash(a), to: toCash(b), paise: 100 },
      ]);
      await post(hold);
      const part = buildEntry("deal_settlement", "posted", [
        { from: toCash(a), to: toCash(b), paise: 60 },
      ]);
      const written = await db.transaction(
        async (tx) =>
          await writeBooks(
            tx,
            { resolutions: [{ ...hold, as: "voided" }], entries: [part] },
            service.ctx.now(),
          ),
      );
      assertWritten([...written.resolutions, ...written.entries]);
      assert.deepEqual(
        [await cash(a), await cash(b)],
        [
          [40, 0, 0, 0],
          [60, 0, 0, 0],
        ],
      );
    },
  );

  await t.test(
    "a credit enters the books with its first deal and then moves from owner to owner",
    async () => {
      const { a, b, post, owner } = await open(service);
      const scripNo = scrip();
      assert.equal(await owner(scripNo), undefined);
      const move = (from: string, to: string) =>
        buildEntry("deal_settlement", "posted", [
          { from: toCredits(from), to: toCredits(to), scripNo },
        ]);
      assertWritten(await post(move(a, b)));
      assert.deepEqual(await owner(scripNo), { owner: toCredits(b), pending: false });
      const [again] = await post(move(a, b));
      assert.deepEqual(again, { ok: false, refusal: { reason: "wrong_owner", scripNo } });
      assertWritten(await post(move(b, a), move(a, b)));
      assert.deepEqual(await owner(scripNo), { owner: toCredits(b), pending: false });
    },
  );

  await t.test("a pending deal locks its credit; voiding returns it to its owner", async () => {
    const { a, b, post, resolve, owner } = await open(service);
    const scripNo = scrip();
    const hold = (from: string, to: string) =>
      buildEntry("deal_hold", "pending", [{ from: toCredits(from), to: toCredits(to), scripNo }]);
    const [first, second] = [hold(a, b), hold(a, b)];
    const [, refused] = await post(first, second);
    assert.deepEqual(refused, { ok: false, refusal: { reason: "credit_pending", scripNo } });
    assert.deepEqual(await owner(scripNo), {
      owner: { kind: "external_customs" },
      pending: true,
    });
    assertWritten(await resolve({ ...first, as: "voided" }));
    assert.deepEqual(await owner(scripNo), {
      owner: { kind: "external_customs" },
      pending: false,
    });
    assertWritten(await post(second));
    assertWritten(await resolve({ ...second, as: "posted" }));
    assert.deepEqual(await owner(scripNo), { owner: toCredits(b), pending: false });
  });

  await t.test("a credit that left to customs can be brought back by its next holder", async () => {
    const { a, b, post, owner } = await open(service);
    const scripNo = scrip();
    const customs = { kind: "external_customs" } as const;
    assertWritten(
      await post(
        buildEntry("deal_settlement", "posted", [
          { from: toCredits(a), to: toCredits(b), scripNo },
        ]),
        buildEntry("credit_exit", "posted", [{ from: toCredits(b), to: customs, scripNo }]),
        buildEntry("deal_settlement", "posted", [
          { from: toCredits(a), to: { kind: "house_credits" }, scripNo },
        ]),
      ),
    );
    assert.deepEqual(await owner(scripNo), { owner: { kind: "house_credits" }, pending: false });
  });

  await t.test("of concurrent sales of one new credit one succeeds", async () => {
    const { a, b, post, owner } = await open(service);
    const scripNo = scrip();
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        post(
          buildEntry("deal_settlement", "posted", [
            { from: toCredits(a), to: toCredits(b), scripNo },
          ]),
        ),
      ),
    );
    const sold = tries.filter((tried) => tried.status === "fulfilled" && tried.value[0]?.ok);
    assert.equal(sold.length, 1);
    assert.deepEqual(await owner(scripNo), { owner: toCredits(b), pending: false });
  });

  await t.test("money and credit of one entry move together or not at all", async () => {
    const { a, b, post, owner } = await open(service);
    const scripNo = scrip();
    const [result] = await post(
      buildEntry("deal_settlement", "posted", [
        { from: toCredits(a), to: toCredits(b), scripNo },
        { from: toCash(b), to: toCash(a), paise: 1 },
      ]),
    );
    assert.equal(result?.ok === false && result.refusal.reason, "insufficient_funds");
    assert.equal(await owner(scripNo), undefined);
  });

  await t.test("a firm's debt is a negative balance of its dues account", async () => {
    const { a, post } = await open(service);
    const debt = buildEntry("reversal", "posted", [
      { from: { kind: "firm_dues", firmId: a }, to: { kind: "house_cash" }, paise: 250 },
    ]);
    const earned = buildEntry("commission", "posted", [
      { from: { kind: "house_cash" }, to: { kind: "desk_commission", firmId: a }, paise: 30 },
    ]);
    assertWritten(await post(debt, earned));
    const [balances] = await readBalances(db, "sandbox", [a]);
    assert.equal(balances?.dues_paise, 220, "what was earned pays dues at once");
    assert.equal(balances?.commission_paise, 0);
  });

  await t.test("overlapping sets in any order neither deadlock nor lose a paisa", async () => {
    const firms = await Promise.all(
      Array.from({ length: 8 }, async () => (await service.issue()).firm_id),
    );
    const { post } = await open(service);
    for (const firmId of firms) await payIn(service, firmId, 1_000);
    const set = (seed: number) =>
      Array.from({ length: 40 }, (_, at) => {
        const from = firms[(seed * 7 + at * 3) % firms.length]!;
        const to = firms[(seed * 7 + at * 3 + 1 + (seed % 7)) % firms.length]!;
        const fee = { from: toCash(from), to: { kind: "house_fees" }, paise: 1 } as const;
        return buildEntry("fee", "posted", [{ from: toCash(from), to: toCash(to), paise: 5 }, fee]);
      });
    const results = (
      await Promise.all(Array.from({ length: 24 }, (_, at) => post(...set(at))))
    ).flat();
    assertWritten(results);
    const balances = await readBalances(db, "sandbox", firms);
    const left = sumPaise(balances.map(({ posted_paise }) => posted_paise));
    assert.equal(left, 8 * 1_000 - results.length);
  });

  await t.test(
    "entries of a firm are numbered in the order in which they took effect",
    async () => {
      const { a, post } = await open(service);
      const deposits = Array.from({ length: 30 }, () =>
        buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 1 }]),
      );
      const order: number[] = [];
      await Promise.all(
        deposits.map(async (deposit) => {
          const [result] = await post(deposit);
          if (result?.ok) order.push(result.entryNo);
        }),
      );
      assert.equal(new Set(order).size, 30);
      const { postings } = await readPostings(db, { environment: "sandbox", firmId: a, ...always });
      assert.deepEqual(
        postings.map(({ entry_no }) => entry_no),
        order.toSorted((x, y) => x - y),
      );
    },
  );

  await t.test(
    "a statement reads the whole entries of a period in order, page by page",
    async () => {
      const { a, b, post, resolve } = await open(service);
      const scripNo = scrip();
      await payIn(service, a, 1_000);
      service.clock.advance({ days: 1 });
      const from = service.ctx.now();
      const hold = buildEntry("deal_hold", "pending", [
        { from: toCash(a), to: toCash(b), paise: 600 },
        { from: toCash(a), to: { kind: "house_fees" }, paise: 6 },
        { from: toCredits(b), to: toCredits(a), scripNo },
      ]);
      await post(hold);
      service.clock.advance({ days: 1 });
      await resolve({ ...hold, as: "posted" });
      const payout = buildEntry("payout", "posted", [{ from: toCash(a), to: bank, paise: 94 }]);
      await post(payout);
      service.clock.advance({ days: 1 });
      const to = service.ctx.now();
      await payIn(service, a, 1);

      const search = { environment: "sandbox", firmId: a, from, to, limit: 1 } as const;
      const first = await readPostings(db, search);
      assert.deepEqual(
        first.postings.map(({ kind, subject, account_kind, scrip_no, amount }) => {
          return { kind, subject, account_kind, scrip_no, amount };
        }),
        [
          ["firm_cash", null, -600],
          ["firm_cash", null, -6],
          ["firm_credits", scripNo, 1],
        ].map(([account_kind, scrip_no, amount]) => {
          return { kind: "deal_hold", subject: hold.subject, account_kind, scrip_no, amount };
        }),
      );
      const second = await readPostings(db, { ...search, after: first.next });
      assert.deepEqual(
        second.postings.map(({ subject, amount }) => [subject, amount]),
        [[payout.subject, -94]],
      );
      const last = await readPostings(db, { ...search, after: second.next });
      assert.deepEqual(last, { postings: [], next: undefined });
      const wrongSide = await readPostings(db, { ...search, environment: "live" });
      assert.deepEqual(wrongSide.postings, []);
    },
  );

  await t.test("an invalid entry is a fault, whatever the balances", async () => {
    const { a, b, post, resolve } = await open(service);
    const wrong: [RegExp, Entry["movements"]][] = [
      [/moves nothing/, []],
      [/moves 0 paise/, [{ from: bank, to: toCash(a), paise: 0 }]],
      [/moves -1 paise/, [{ from: bank, to: toCash(a), paise: -1 }]],
      [/moves 0.5 paise/, [{ from: bank, to: toCash(a), paise: 0.5 }]],
      [/moves within/, [{ from: toCash(a), to: toCash(a), paise: 1 }]],
      [/moves paise on firm_credits/, [{ from: toCash(a), to: toCredits(b), paise: 1 }]],
      [/moves credits on firm_cash/, [{ from: toCash(a), to: toCredits(b), scripNo: scrip() }]],
      [/misnames a credit/, [{ from: toCredits(a), to: toCredits(b), scripNo: 'x"),(' }]],
      [/misnames a firm/, [{ from: bank, to: toCash("a,b"), paise: 1 }]],
    ];
    for (const [problem, movements] of wrong) {
      await assert.rejects(post(buildEntry("deposit", "posted", movements)), problem);
    }
    const good = buildEntry("deposit", "posted", [{ from: bank, to: toCash(a), paise: 1 }]);
    await assert.rejects(post({ ...good, subject: "a,b" }), /misnames its subject/);
    await assert.rejects(post({ ...good, ordinal: -1 }), /no such ordinal/);
    await assert.rejects(resolve({ ...good, subject: "a,b", as: "posted" }), /misnames/);
    const foreign = { ...good, environment: "live" } as const;
    await assert.rejects(post(foreign), /foreign key/);
    await assert.rejects(post(good, foreign), /is not in live and sandbox/);
    assertWritten(await post(good));
    await assert.rejects(post(foreign), /is not in sandbox and live/);
  });

  await t.test("the service's role can neither change nor delete entries", async () => {
    const { a } = await open(service);
    await payIn(service, a, 1);
    const forbidden = [
      "update ledger_entries set at = at",
      "delete from ledger_entries",
      "update ledger_firm_entries set at = at",
      "delete from ledger_firm_entries",
      "delete from ledger_balances",
      "delete from credit_owners",
      "delete from ledger_verdict",
      "truncate ledger_entries cascade",
    ];
    for (const statement of forbidden) {
      await assert.rejects(db.pool.query(statement), /permission denied/, statement);
    }
  });

  await t.test("the database refuses unbalanced entries and negative balances", async () => {
    const { a } = await open(service);
    await payIn(service, a, 5);
    const insert = (movements: string, phase = "posted", resolves = "null") =>
      `insert into ledger_entries
         (entry_no, environment, kind, subject, ordinal, phase, resolves, at, movements, digest)
       values
         (nextval('ledger_entry_numbers'), 'sandbox', 'fee', 'by_hand', 0, '${phase}', ${resolves},
          now(), '${movements}', '\\x0000000000000000')`;
    const refused: [string, RegExp][] = [
      [insert('{"(house_cash,,,5)"}'), /ledger_movement/],
      [insert('{"(house_cash,house_cash,,5)"}'), /ledger_movement/],
      [insert('{"(house_cash,house_fees,,0)"}'), /ledger_movement/],
      [insert('{"(house_cash,house_fees,,)"}'), /ledger_movement/],
      [insert('{"(house_credits,external_customs,SCRIP-1,2)"}'), /ledger_movement/],
      [insert("{}"), /ledger_entries_move_something/],
      [insert("{}", "voided"), /ledger_entries_move_something/],
      [insert('{"(house_cash,house_fees,,5)"}', "voided"), /ledger_entries_resolve/],
      [insert('{"(house_cash,house_fees,,5)"}', "voided", "1"), /ledger_entries_move_something/],
      [insert('{"(house_cash,house_fees,,5)"}', "pending"), /ledger_entries_hold/],
      [
        `update ledger_balances set posted_paise = -1 where balance = 'firm_cash:${a}'`,
        /ledger_balances_floor/,
      ],
      [
        `update ledger_balances set escrow_paise = 6 where balance = 'firm_cash:${a}'`,
        /ledger_balances_floor/,
      ],
    ];
    await asOwner(db, async (owner) => {
      for (const [statement, problem] of refused) {
        await assert.rejects(owner.query(statement), problem, statement);
      }
    });
  });
});

const always = { from: new Date(0), to: new Date(4e12) };
