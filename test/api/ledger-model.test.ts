// Random sets against a model: a plain list of who has what, which shares no code with the ledger.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { readBalances, readOwners } from "../../src/ledger/read-books.ts";
import type { Account, Entry, Movement, Resolution } from "../../src/ledger/rules.ts";
import { writeBooks } from "../../src/ledger/write-books.ts";
import { assertLedgerSound, bank, toCash, toCredits } from "../support/ledger.ts";
import { startService } from "../support/service.ts";

const firmCount = 3;
const creditCount = 3;

type Plan =
  | { readonly act: "deposit"; readonly firm: number; readonly paise: number }
  | { readonly act: "payout"; readonly firm: number; readonly paise: number }
  | {
      readonly act: "deal";
      readonly buyer: number;
      readonly seller: number;
      readonly paise: number;
      readonly credit: number | null;
      readonly pending: boolean;
    }
  | { readonly act: "again"; readonly entry: number }
  | { readonly act: "resolve"; readonly entry: number; readonly as: Resolution["as"] };

const firm = fc.nat(firmCount - 1);
const paise = fc.integer({ min: 1, max: 100 });
const anEntry = fc.nat(1_000);

const plan: fc.Arbitrary<Plan> = fc.oneof(
  fc.record({ act: fc.constant("deposit"), firm, paise: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ act: fc.constant("payout"), firm, paise }),
  fc.record({
    act: fc.constant("deal"),
    buyer: firm,
    seller: firm,
    paise,
    credit: fc.option(fc.nat(creditCount - 1)),
    pending: fc.boolean(),
  }),
  fc.record({ act: fc.constant("again"), entry: anEntry }),
  fc.record({
    act: fc.constant("resolve"),
    entry: anEntry,
    as: fc.constantFrom("posted", "voided"),
  }),
  // Twice as often: most of what can be resolved should be, and some of it again.
  fc.record({
    act: fc.constant("resolve"),
    entry: fc.nat(7),
    as: fc.constantFrom("posted", "voided"),
  }),
);

/** The second sale comes while the first holds the credit, or after it; random ones seldom do. */
const sale = { act: "deal", buyer: 0, seller: 1, paise: 10, credit: 0 } as const;
const sellTwice = (pending: boolean): Plan[][] => [
  [{ act: "deposit", firm: 0, paise: 400 }],
  [{ ...sale, pending }],
  [{ ...sale, pending: false }],
];

/** One firm's money, as four plain numbers. */
type Purse = { posted: number; escrow: number; out: number; coming: number };

class Model {
  readonly purses = new Map<string, Purse>();
  /** Who has a credit; absent while customs has it. */
  readonly owners = new Map<string, string>();
  readonly held = new Set<string>();
  readonly written = new Map<string, { entry: Entry; ended?: Resolution["as"] }>();

  purse(firmId: string): Purse {
    const purse = this.purses.get(firmId) ?? { posted: 0, escrow: 0, out: 0, coming: 0 };
    this.purses.set(firmId, purse);
    return purse;
  }

  /** What the ledger should say: nothing for yes, or the reason for no. */
  write(entry: Entry): string | undefined {
    if (this.written.has(entry.subject)) return "already_written";
    const refusal = this.#findRefusal(entry);
    if (refusal) return refusal;
    this.written.set(entry.subject, { entry });
    for (const movement of entry.movements) this.#move(movement, entry, entry.phase);
    return undefined;
  }

  resolve({ subject, as }: { subject: string; as: Resolution["as"] }): string | undefined {
    const known = this.written.get(subject);
    if (known?.entry.phase !== "pending") return "not_pending";
    if (known.ended) return `already_${known.ended}`;
    known.ended = as;
    for (const movement of known.entry.movements) {
      this.#move(movement, known.entry, "release");
      if (as === "posted") this.#move(movement, known.entry, "posted");
    }
    return undefined;
  }

  #findRefusal({ movements }: Entry): string | undefined {
    for (const movement of movements) {
      if (!("scripNo" in movement)) continue;
      if (this.held.has(movement.scripNo)) return "credit_pending";
      const owner = this.owners.get(movement.scripNo);
      if (owner !== undefined && owner !== firmIn(movement.from)) return "wrong_owner";
    }
    for (const movement of movements) {
      const payer = firmIn(movement.from);
      if (!("paise" in movement) || payer === undefined) continue;
      const { posted, escrow, out } = this.purse(payer);
      if (posted - escrow - out < movement.paise) return "insufficient_funds";
    }
    return undefined;
  }

  #move(movement: Movement, { kind }: Entry, how: "posted" | "pending" | "release"): void {
    const [from, to] = [firmIn(movement.from), firmIn(movement.to)];
    if ("scripNo" in movement) {
      if (how === "pending") this.held.add(movement.scripNo);
      if (how === "release") this.held.delete(movement.scripNo);
      if (how === "posted" && to !== undefined) this.owners.set(movement.scripNo, to);
      return;
    }
    const amount = how === "release" ? -movement.paise : movement.paise;
    if (how === "posted") {
      if (from !== undefined) this.purse(from).posted -= amount;
      if (to !== undefined) this.purse(to).posted += amount;
      return;
    }
    if (from !== undefined) this.purse(from)[kind === "payout" ? "out" : "escrow"] += amount;
    if (to !== undefined) this.purse(to).coming += amount;
  }
}

function isPending({ phase }: Entry): boolean {
  return phase === "pending";
}

function firmIn(account: Account): string | undefined {
  return "firmId" in account ? account.firmId : undefined;
}

test("the books equal a plain list after any posts, holds, resolutions, repeats and overspends", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const now = service.ctx.now();
  const seen = new Set<string>();
  let runs = 0;

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(plan, { minLength: 1, maxLength: 8 }), { minLength: 4, maxLength: 10 }),
      async (sets) => {
        const run = ++runs;
        const firms: string[] = [];
        for (let at = 0; at < firmCount; at++) firms.push((await service.issue()).firm_id);
        const scripNos = Array.from({ length: creditCount }, (_, at) => `RUN-${run}-${at}`);
        const model = new Model();
        const made: Entry[] = [];

        for (const set of sets) {
          const entries: Entry[] = [];
          const resolutions: Resolution[] = [];
          for (const item of set) {
            const from = item.act === "resolve" && item.entry % 4 ? made.filter(isPending) : made;
            const earlier = "entry" in item ? from[item.entry % from.length] : undefined;
            if (item.act === "resolve") {
              if (earlier) resolutions.push({ ...earlier, as: item.as });
            } else if (item.act === "again") {
              if (earlier) entries.push(earlier);
            } else {
              const entry = entryFor(item, {
                subject: `run_${run}_${made.length}`,
                firms,
                scripNos,
              });
              if (!entry) continue;
              entries.push(entry);
              made.push(entry);
            }
          }
          const expected = [
            ...resolutions.map((resolution) => model.resolve(resolution)),
            ...entries.map((entry) => model.write(entry)),
          ];
          const written = await db.transaction(
            async (tx) => await writeBooks(tx, { resolutions, entries }, now),
          );
          const reasons = [...written.resolutions, ...written.entries].map((result) =>
            result.ok ? undefined : result.refusal.reason,
          );
          assert.deepEqual(reasons, expected);
          for (const reason of reasons) seen.add(reason ?? "written");
          await compare(model, firms, scripNos);
        }
      },
    ),
    { numRuns: 40, examples: [[sellTwice(true)], [sellTwice(false)]] },
  );
  await assertLedgerSound(service);
  // A run in which something never happened would say nothing about it.
  assert.deepEqual(
    [...seen].toSorted((x, y) => x.localeCompare(y)),
    [
      "already_posted",
      "already_voided",
      "already_written",
      "credit_pending",
      "insufficient_funds",
      "not_pending",
      "written",
      "wrong_owner",
    ],
  );

  async function compare(model: Model, firms: readonly string[], scripNos: readonly string[]) {
    const balances = await readBalances(db, "sandbox", firms);
    assert.deepEqual(
      balances.map((row) => ({
        posted: row.posted_paise,
        escrow: row.escrow_paise,
        out: row.pending_out_paise,
        coming: row.pending_in_paise,
      })),
      firms.map((firmId) => model.purse(firmId)),
    );
    const owners = await readOwners(db, "sandbox", scripNos);
    for (const scripNo of scripNos) {
      const found = owners.get(scripNo);
      assert.equal(found && firmIn(found.owner), model.owners.get(scripNo));
      assert.equal(found?.pending ?? false, model.held.has(scripNo));
    }
  }
});

function entryFor(
  item: Exclude<Plan, { act: "again" | "resolve" }>,
  {
    subject,
    firms,
    scripNos,
  }: { subject: string; firms: readonly string[]; scripNos: readonly string[] },
): Entry | undefined {
  const named = { environment: "sandbox", subject } as const;
  if (item.act === "deposit") {
    const movements = [{ from: bank, to: toCash(firms[item.firm]!), paise: item.paise }];
    return { ...named, kind: "deposit", phase: "posted", movements };
  }
  if (item.act === "payout") {
    const movements = [{ from: toCash(firms[item.firm]!), to: bank, paise: item.paise }];
    return { ...named, kind: "payout", phase: "pending", movements };
  }
  const [buyer, seller] = [firms[item.buyer]!, firms[item.seller]!];
  if (buyer === seller) return undefined;
  const movements: Movement[] = [{ from: toCash(buyer), to: toCash(seller), paise: item.paise }];
  if (item.credit !== null) {
    const scripNo = scripNos[item.credit]!;
    movements.push({ from: toCredits(seller), to: toCredits(buyer), scripNo });
  }
  return { ...named, kind: "deal_hold", phase: item.pending ? "pending" : "posted", movements };
}
