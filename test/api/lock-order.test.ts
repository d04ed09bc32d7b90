// Everybody locks in one order (docs/ARCHITECTURE.md, "Locks"). Every two use cases are run against
// each other on the same firms, credits and keys: none may be a fault of ours, and each transaction of
// them comes to what it locks in that order.

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { onLost } from "../../src/hooks.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import {
  assertLockOrder,
  listPairs,
  recordDeadlocks,
  recordLocks,
} from "../support/lock-record.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

/** Steps of the use cases. */
const mustBeSeen = [
  ["match_locks", "firms"],
  ["firms", "key_days"],
  ["key_days", "credits"],
  ["settlements", "crosses"],
  ["settlements", "credits"],
  ["crosses", "credits"],
  ["payouts", "settlements"],
  ["firms", "questions"],
  ["firms", "api_keys"],
  ["netting_runs", "firms"],
  ["credits", "credit_owners"],
  ["new statements", "audit_heads"],
] as const;

type Statuses = readonly number[];

/** What an operator does by the command line is answered or refused, too. */
async function awaitStatus(work: Promise<unknown>): Promise<number> {
  return await work.then(
    () => 200,
    (error: unknown) => {
      if (error instanceof Failure) return 409;
      throw error;
    },
  );
}

/** A desk with two firms in a group, whose key has limits, and what it does. */
async function openWorld(service: Service, beside: Service) {
  const desk = await dealer(service, []);
  const { deskId, firmId } = desk;
  const sister = await addFirm(service, { deskId });
  const { group_id } = (await desk.post("/v1/groups", { name: "Group" }, 201)).body;
  const join = async (firm: string) => {
    const path = `/v1/groups/${group_id}/members/${firm}`;
    await service.send("PUT", path, { key: desk.key, expect: 200 });
  };
  await join(firmId);
  await join(sister);
  const child = { kind: "app", scopes: ["*"], buy_side: true };
  const limits = { daily_notional_paise: Number.MAX_SAFE_INTEGER };
  const { api_key: key } = await mintChild(service, desk.key, { ...child, limits });
  await payIn(service, firmId, 1_000_000_000);
  const plain = { firmId, scheme: "RODTEP", facePaise: 25_000_000 } as const;
  const credit = { ...plain, expiresOn: "2028-10-01", state: "listed" };
  let scripNos: string[] = [];
  let otherNos: string[] = [];
  let leaver = "";
  let spare = { key_id: "", api_key: "" };
  let made = 0;
  /** Workers of two nodes by turns: those of one run one after the other. */
  let turn = 0;
  const workAfter = async (time: { readonly days?: number; readonly seconds?: number }) => {
    service.clock.advance(time);
    await (turn++ % 2 === 0 ? service : beside).work();
    return [];
  };
  const post = async (path: string, body: object) =>
    await service.send("POST", path, { key, body });
  const restock = async ({ leaves, keys, nets }: Needs) => {
    if (leaves) {
      leaver = await addFirm(service, { deskId });
      await join(leaver);
      await payIn(service, leaver, 1_000);
    }
    const ofLeaver = leaves ? [{ ...credit, firmId: leaver }] : [];
    const added = await addCredits(service, deskId, [
      ...ofLeaver,
      ...Array.from({ length: 10 }, () => credit),
      ...Array.from({ length: 4 }, () => ({ ...credit, scheme: "ROSCTL" }) as const),
    ]);
    scripNos = added.slice(ofLeaver.length, -4);
    otherNos = added.slice(-4);
    await stockHouse(service.ctx, [
      { face_paise: 25_000_000 },
      { face_paise: 25_000_000, scheme: "ROSCTL" },
    ]);
    if (keys) spare = await mintChild(service, desk.key, { ...child, limits });
    if (nets) {
      const duty = { scheme: "RODTEP", amount_paise: 25_000_000, due_on: "2028-08-31" };
      const reference = `BE-${++made}`;
      await post(`/v1/firms/${sister}/requirements`, { ...duty, reference });
    }
  };
  const take = () => scripNos.shift() ?? "";
  const takeOther = () => otherNos.shift() ?? "";
  const order = async (body: object): Promise<Statuses> => [
    (await post("/v1/orders", body)).status,
  ];
  const cross = async (actions: readonly ("fund" | "release" | "cancel")[]): Promise<Statuses> => {
    const terms = {
      kind: "intra_group",
      side: "sell",
      firm_id: firmId,
      counterparty_firm_id: sister,
      scrip_nos: [take()],
      price_bps: 9_900,
    };
    const quote = await post("/v1/cross/quote", terms);
    const { cross_quote_ref } = quote.body;
    if (cross_quote_ref === undefined) return [quote.status];
    const proposed = await post("/v1/cross", { cross_quote_ref });
    const statuses = [proposed.status];
    if (proposed.status !== 201) return statuses;
    const path = `/v1/cross/${proposed.body.cross_id}`;
    for (const action of actions) {
      const body = action === "fund" ? { payment_ref: `P-${proposed.body.cross_id}` } : {};
      statuses.push((await post(`${path}/${action}`, body)).status);
    }
    return statuses;
  };
  /** A newest thing of the desk, whatever has become of it. */
  const queryId = async (text: string): Promise<string | undefined> =>
    (await service.ctx.db.pool.query(text, [deskId])).rows[0]?.id;
  const useCases: Readonly<Record<string, () => Promise<Statuses>>> = {
    sell: () => order({ side: "sell", scrip_no: take() }),
    rest: () => order({ side: "sell", scrip_no: take(), limit_bps: 9_990 }),
    buy: () => order({ side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 }),
    sellByQuote: async () => {
      const { body } = await post("/v1/quote", { side: "sell", scrip_no: take() });
      return await order({ quote_ref: body.quote_ref });
    },
    batch: async () => {
      const orders = [takeOther(), take()].map((scrip_no) => ({ side: "sell", scrip_no }));
      return [(await post("/v1/orders:batch", { orders })).status];
    },
    otherScheme: async () => [
      ...(await order({ side: "buy", scheme: "ROSCTL", requirement_paise: 25_000_000 })),
      ...(await order({ side: "sell", scrip_no: takeOther() })),
    ],
    cancel: async () => {
      const [open] = (await desk.get("/v1/orders?status=open")).orders;
      if (!open) return [];
      return [(await post(`/v1/orders/${open.order_id}/cancel`, {})).status];
    },
    settleCross: () => cross(["fund", "release"]),
    cancelCross: () => cross(["cancel"]),
    netGroup: async () => {
      const path = `/v1/groups/${group_id}/netting`;
      const netting = await service.send("GET", path, { key });
      const { netting_ref } = netting.body;
      if (netting_ref === undefined) return [netting.status];
      return [netting.status, (await post(`${path}/crosses`, { netting_ref })).status];
    },
    suspend: async () => {
      const path = `/v1/firms/${sister}`;
      const suspended = await post(`${path}/suspend`, { reason: "a look" });
      return [suspended.status, (await post(`${path}/resume`, {})).status];
    },
    leave: async () => {
      const path = `/v1/firms/${leaver}`;
      const verified = await post(`${path}/verify`, {});
      return [verified.status, (await post(`${path}/offboard`, { mode: "drain" })).status];
    },
    declare: async () => {
      const days = { issued_on: "2026-10-01", expires_on: "2028-10-01" };
      const facts = { scheme: "RODTEP", face_paise: 25_000_000, ...days };
      const known = { ...facts, scrip_no: take() };
      const credits = [known, { ...facts, scrip_no: `DECLARED${++made}` }];
      return [(await post("/v1/credits", { credits })).status];
    },
    endHoldings: async () => [
      (await post(`/v1/credits/${scripNos[0]}/withdraw`, {})).status,
      (await post(`/v1/credits/${scripNos[1]}/use`, {})).status,
    ],
    hearNews: async () => {
      const dealt = await queryId(
        `select scrip_no as id from settlement_legs where seller_desk_id = $1 and awaited limit 1`,
      );
      const news = [...new Set([dealt, scripNos[0], scripNos[2]])]
        .filter((scripNo) => scripNo !== undefined)
        .map((scripNo) => ({ scripNo, news: "suspend", reason: "a look" }) as const);
      const heard = { environment: "sandbox", news, onLost } as const;
      return [await awaitStatus(applyRegistryNews(service.ctx, namedOperator("asha"), heard))];
    },
    withdrawMoney: async () => [
      (await post(`/v1/firms/${firmId}/withdrawals`, { amount_paise: 1_000 })).status,
    ],
    advance: async () => {
      const settlementId = await queryId(
        `select settlement_id as id from settlement_legs where seller_desk_id = $1 and awaited limit 1`,
      );
      if (settlementId === undefined) return [];
      return [(await post(`/v1/sandbox/settlements/${settlementId}/advance`, {})).status];
    },
    payAgain: async () => {
      const payoutId = await queryId(
        `select payout_id as id from payouts
        where desk_id = $1 and settlement_id is not null order by (state = 'returned') desc, payout_id desc limit 1`,
      );
      if (payoutId === undefined) return [];
      return [await awaitStatus(resendPayout(service.ctx, namedOperator("asha"), payoutId))];
    },
    reverse: async () => {
      const settlementId = await queryId(
        `select p.settlement_id as id from payouts as p join settlements as s using (settlement_id)
        where p.desk_id = $1 and s.state = 'settled'
        order by (p.state = 'returned') desc, p.payout_id desc limit 1`,
      );
      if (settlementId === undefined) return [];
      const command = { settlementId, reason: "forged mandate" };
      const by = async (name: string) =>
        await awaitStatus(reverseSettlement(service.ctx, namedOperator(name), command));
      return [await by("asha"), await by("ravi")];
    },
    changeKeys: async () => {
      const path = `/v1/keys/${spare.key_id}`;
      const reissued = await service.send("POST", `${path}/reissue`, { key: desk.key, body: {} });
      const revoked = await service.send("DELETE", path, { key: desk.key });
      return [reissued.status, revoked.status];
    },
    passTime: async () => [(await post("/v1/sandbox/clock", { advance_s: 1 })).status],
    work: () => workAfter({ seconds: 2 }),
    closeMonth: () => workAfter({ days: 31 }),
    reset: async () => [(await post("/v1/sandbox/reset", {})).status],
  };
  return { desk, restock, useCases };
}

/** What is made anew for each pair, where one of the two needs it. */
type Needs = { readonly leaves: boolean; readonly keys: boolean; readonly nets: boolean };

test("no two use cases deadlock, and all lock in one order", async (t) => {
  const deadlocks = recordDeadlocks(t); // Before a connection is opened.
  const service = await startService(t);
  const { desk, restock, useCases } = await openWorld(
    service,
    await startService(t, { beside: service }),
  );
  const steps = recordLocks(t);
  const names = Object.keys(useCases);
  const answered = new Set<number>();
  const runPair = async (both: readonly [string, string]) => {
    const [one, other] = both;
    const needs = (name: string) => both.includes(name);
    const [leaves, keys, nets] = [needs("leave"), needs("changeKeys"), needs("netGroup")];
    await restock({ leaves, keys, nets });
    if (needs("payAgain") || needs("reverse")) {
      await desk.post("/v1/sandbox/scenarios", { scenario: "payout_returned" }, 200);
    }
    const answers = await Promise.all([useCases[one]?.(), useCases[other]?.()]);
    return answers.flat().map((status) => status ?? 0);
  };
  for (const both of listPairs(names)) {
    let statuses = await runPair(both);
    // The machine may have paused for longer than a lock is waited for. Two that wait for each other
    // do so each time.
    if (statuses.includes(500)) statuses = await runPair(both);
    for (const status of statuses) answered.add(status);
    const pair = both.join(" beside ");
    const isSound = statuses.every((status) => status > 0 && status < 500);
    assert.ok(isSound, `${pair}: ${statuses.join(", ")}`);
    assert.deepEqual(deadlocks, [], pair);
  }
  assert.ok(answered.has(200) && answered.has(201));
  await assertLedgerSound(service);
  const { rows } = await service.ctx.db.pool.query(
    "select deadlocks::int from pg_stat_database where datname = current_database()",
  );
  assert.deepEqual(rows, [{ deadlocks: 0 }]);
  assertLockOrder(steps, mustBeSeen);
});
