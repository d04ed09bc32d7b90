// Everybody locks in one order (docs/ARCHITECTURE.md, "Locks"). Every two use cases are run against
// each other on the same firms, credits and keys: none may be a fault of ours, and each transaction of
// them comes to what it locks in that order.

import assert from "node:assert/strict";
import { test } from "node:test";

import pg from "pg";

import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

/** As the documentation has it. */
const lockOrder = [
  "match_locks",
  "quotes",
  "firms",
  "key_days",
  "credits",
  "ledger_balances",
  "credit_owners",
  "audit_heads",
  "desk_sequences",
];

/** Which of the tables a statement waits for rows of. What is skipped when locked is not waited for. */
function lockedBy(statement: string): string[] {
  const text = statement.replaceAll(/\s+/g, " ").trim();
  const isLocking = /for (no key )?(update|share)(?! of \w+ skip| skip)/.test(text);
  const named = new Set(
    [...text.matchAll(/for (?:no key )?(?:update|share) of (\w+)/g)].map(([, name]) => name),
  );
  return lockOrder.filter((table) => {
    if (new RegExp(`(^|[^o] )update ${table}\\b`).test(text)) return true;
    if (new RegExp(`insert into ${table}\\b.* do update`).test(text)) return true;
    const found = [...text.matchAll(new RegExp(`(?:from|join) ${table}\\b(?: as (\\w+))?`, "g"))];
    return isLocking && found.some(([, alias]) => named.size === 0 || named.has(alias ?? table));
  });
}

/** The tables in the order in which each transaction of this process came to them, from now on. */
function recordLocks(t: { after(work: () => void): void }): ReadonlyMap<string, string> {
  const seen = new Map<string, string>();
  const open = new WeakMap<pg.Client, { tables: string[]; texts: string[] }>();
  // oxlint-disable-next-line typescript/unbound-method -- called on the client it was asked of
  const query = pg.Client.prototype.query as (this: pg.Client, ...rest: unknown[]) => unknown;
  const recorded = function (this: pg.Client, ...rest: unknown[]): unknown {
    const [asked] = rest as [string | { text?: string }];
    const text = (typeof asked === "string" ? asked : asked.text) ?? "";
    const transaction = open.get(this);
    if (text === "begin") open.set(this, { tables: [], texts: [] });
    else if (text === "commit" || text === "rollback") open.delete(this);
    else if (transaction) {
      for (const table of lockedBy(text)) {
        if (transaction.tables.includes(table)) continue;
        transaction.tables.push(table);
        transaction.texts.push(text);
        seen.set(transaction.tables.join(" "), transaction.texts.join("\n--\n"));
      }
    }
    return query.apply(this, rest);
  };
  pg.Client.prototype.query = recorded as typeof pg.Client.prototype.query;
  t.after(() => (pg.Client.prototype.query = query as typeof pg.Client.prototype.query));
  return seen;
}

type Statuses = readonly number[];

/** A desk with two firms in a group, whose key has limits, and what it does. */
async function openWorld(service: Service) {
  const desk = await dealer(service, []);
  const sister = await addFirm(service, { deskId: desk.deskId });
  const { group_id } = (await desk.post("/v1/groups", { name: "Group" }, 201)).body;
  for (const firm of [desk.firmId, sister]) {
    const path = `/v1/groups/${group_id}/members/${firm}`;
    await service.send("PUT", path, { key: desk.key, expect: 200 });
  }
  const { api_key: key } = await mintChild(service, desk.key, {
    kind: "app",
    scopes: ["*"],
    buy_side: true,
    limits: { daily_notional_paise: Number.MAX_SAFE_INTEGER },
  });
  const plain = { firmId: desk.firmId, scheme: "RODTEP", facePaise: 25_000_000 } as const;
  let scripNos: string[] = [];
  const restock = async () => {
    const credits = Array.from({ length: 8 }, () => ({
      ...plain,
      expiresOn: "2028-10-01",
      state: "listed",
    }));
    scripNos = await addCredits(service, desk.deskId, credits);
    await stockHouse(service.ctx, [{ face_paise: 25_000_000 }]);
  };
  const take = () => scripNos.shift() ?? "";
  const post = async (path: string, body: object) =>
    await service.send("POST", path, { key, body });
  const order = async (body: object): Promise<Statuses> => [
    (await post("/v1/orders", body)).status,
  ];
  const cross = async (actions: readonly ("fund" | "release" | "cancel")[]): Promise<Statuses> => {
    const terms = {
      kind: "intra_group",
      side: "sell",
      firm_id: desk.firmId,
      counterparty_firm_id: sister,
      scrip_nos: [take()],
      price_bps: 9_900,
    };
    const quote = await post("/v1/cross/quote", terms);
    const { cross_quote_ref } = quote.body;
    if (cross_quote_ref === undefined) return [quote.status];
    const made = await post("/v1/cross", { cross_quote_ref });
    const statuses = [made.status];
    if (made.status !== 201) return statuses;
    for (const action of actions) {
      const body = action === "fund" ? { payment_ref: `P-${made.body.cross_id}` } : {};
      statuses.push((await post(`/v1/cross/${made.body.cross_id}/${action}`, body)).status);
    }
    return statuses;
  };
  const useCases: Readonly<Record<string, () => Promise<Statuses>>> = {
    sell: () => order({ side: "sell", scrip_no: take() }),
    rest: () => order({ side: "sell", scrip_no: take(), limit_bps: 9_990 }),
    buy: () => order({ side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 }),
    sellByQuote: async () => {
      const { body } = await post("/v1/quote", { side: "sell", scrip_no: take() });
      return await order({ quote_ref: body.quote_ref });
    },
    batch: async () => {
      const orders = [take(), take()].map((scrip_no) => ({ side: "sell", scrip_no }));
      return [(await post("/v1/orders:batch", { orders })).status];
    },
    cancel: async () => {
      const [open] = (await desk.get("/v1/orders?status=open")).orders;
      if (!open) return [];
      return [(await post(`/v1/orders/${open.order_id}/cancel`, {})).status];
    },
    settleCross: () => cross(["fund", "release"]),
    cancelCross: () => cross(["cancel"]),
    suspend: async () => {
      const path = `/v1/firms/${sister}`;
      const suspended = await post(`${path}/suspend`, { reason: "a look" });
      return [suspended.status, (await post(`${path}/resume`, {})).status];
    },
    passTime: async () => [(await post("/v1/sandbox/clock", { advance_s: 1 })).status],
    work: async () => {
      service.clock.advance({ seconds: 1 });
      await service.work();
      return [];
    },
    reset: async () => [(await post("/v1/sandbox/reset", {})).status],
  };
  return { restock, useCases };
}

test("no two use cases wait for each other in a circle, and all lock in one order", async (t) => {
  const service = await startService(t);
  const { restock, useCases } = await openWorld(service);
  const seen = recordLocks(t);
  const names = Object.keys(useCases);
  const answered = new Set<number>();
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at)) {
      await restock();
      const answers = await Promise.all([useCases[one]?.(), useCases[other]?.()]);
      for (const status of answers.flat()) {
        answered.add(status ?? 0);
        assert.ok(status !== undefined && status < 500, `${one} beside ${other}: ${status}`);
      }
    }
  }
  assert.ok(answered.has(200) && answered.has(201));
  await assertLedgerSound(service);
  const rank = new Map(lockOrder.map((table, place) => [table, place]));
  for (const [tables, texts] of seen) {
    const ranks = tables.split(" ").map((table) => rank.get(table) ?? -1);
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => a - b),
      `${tables}\n${texts}`,
    );
  }
  assert.ok([...seen.keys()].some((tables) => tables.includes("firms key_days credits")));
});
