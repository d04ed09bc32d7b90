// Two desks that cross, and crosses brought as far as a test needs, through the front door.

import assert from "node:assert/strict";

import type { TestCredit } from "./holdings.ts";
import { assertLedgerSound } from "./ledger.ts";
import { type Dealer, dealer } from "./orders.ts";
import type { Answer, Service } from "./service.ts";

/** One crore rupees: the least face of a block. */
export const crore = 1_000_000_000;

export const price = 9_800;
/** Of one crore of face at that price: the value, and two basis points of face for each side. */
export const sums = { seller: 979_800_000, buyer: 980_200_000, fee: 169_492, gst: 30_508 };

export const stages = ["proposed", "agreed", "funded", "released"] as const;

export type Stage = (typeof stages)[number];

export type Traders = { readonly seller: Dealer; readonly buyer: Dealer };

/** So many credits of a crore each. */
export function crores(count: number): Partial<TestCredit>[] {
  return Array.from({ length: count }, () => ({ facePaise: crore }));
}

/** A desk whose firm holds credits of a crore each, and a desk whose firm holds none. */
export async function traders(
  service: Service,
  credits: readonly Partial<TestCredit>[] = crores(1),
): Promise<Traders> {
  return { seller: await dealer(service, credits), buyer: await dealer(service, []) };
}

/** A sell of the seller's first credit to the buyer; what is said replaces it. */
export function terms({ seller, buyer }: Traders, changes: object = {}) {
  return {
    kind: "block",
    side: "sell",
    firm_id: seller.firmId,
    counterparty_iec: buyer.pan,
    scrip_nos: [seller.scripNo],
    price_bps: price,
    ...changes,
  };
}

export async function quoteFor(trader: Dealer, body: object): Promise<Answer["body"]> {
  return (await trader.post("/v1/cross/quote", body, 200)).body;
}

export async function propose(trader: Dealer, body: object): Promise<Answer["body"]> {
  const { cross_quote_ref } = await quoteFor(trader, body);
  return (await trader.post("/v1/cross", { cross_quote_ref }, 201)).body;
}

export type Action = "accept" | "decline" | "fund" | "release" | "cancel";

/** Acts on a cross, and answers with what the actor is told. An expected status of 0 is any. */
export async function act(
  trader: Pick<Dealer, "post">,
  cross: { readonly cross_id: string; readonly terms_hash: string },
  action: Action,
  { expect = 200, body = {}, headers = {} } = {},
): Promise<Answer["body"]> {
  const bodies = {
    accept: { terms_hash: cross.terms_hash },
    fund: { payment_ref: "PAY-1" },
    decline: {},
    release: {},
    cancel: {},
  };
  const sent = { ...bodies[action], ...body };
  return (await trader.post(`/v1/cross/${cross.cross_id}/${action}`, sent, expect, headers)).body;
}

/** A cross that the seller proposed and that has come to a stage, as its seller sees it. */
export async function crossThatIs(
  parties: Traders,
  stage: Stage,
  changes: object = {},
): Promise<Answer["body"]> {
  const { seller, buyer } = parties;
  const cross = await propose(seller, terms(parties, changes));
  const at = stages.indexOf(stage);
  if (at >= 1) await act(buyer, cross, "accept");
  if (at >= 2) await act(buyer, cross, "fund", { body: { payment_ref: `PAY-${cross.cross_id}` } });
  return at >= 3 ? await act(seller, cross, "release") : await read(seller, cross);
}

export async function read(
  trader: Pick<Dealer, "get">,
  { cross_id }: { readonly cross_id: string },
): Promise<Answer["body"]> {
  return await trader.get(`/v1/cross/${cross_id}`);
}

/** What a desk was told of its crosses, oldest first. */
export async function listCrossEvents(trader: Pick<Dealer, "get">): Promise<string[]> {
  const { events } = await trader.get("/v1/events?after_sequence=0");
  return events
    .map(({ event }: { event: string }) => event)
    .filter((name: string) => name.startsWith("cross."));
}

/** The books hold, and credits and escrow are exactly where the states of the crosses say. */
export async function assertCrossesSound(service: Pick<Service, "ctx">): Promise<void> {
  await assertLedgerSound(service);
  const { pool } = service.ctx.db;
  const reserved = await pool.query(
    `select c.cross_id, c.state, n.scrip_no, r.reserved_for
    from crosses as c
    cross join unnest(c.scrip_nos) as n (scrip_no)
    left join credits as r on r.environment = c.environment and r.scrip_no = n.scrip_no
      and r.state in ('listed', 'reserved', 'in_settlement', 'suspended')
    where (r.reserved_for is not distinct from c.cross_id)
      <> (c.state in ('agreed', 'funded', 'released'))`,
  );
  assert.deepEqual(reserved.rows, [], "a credit is reserved for a cross that has it, and no other");
  const stray = await pool.query(
    `select scrip_no, reserved_for
    from credits
    where starts_with(reserved_for, 'crs_')
      and reserved_for not in (select cross_id from crosses where scrip_no = any(scrip_nos))`,
  );
  assert.deepEqual(stray.rows, [], "what is reserved for a cross is part of it");
  const escrow = await pool.query(
    `select c.cross_id, c.state, e.entry_no
    from crosses as c
    left join ledger_entries as e on e.subject = c.cross_id and e.kind = 'cross_escrow'
      and e.phase = 'pending'
      and not exists (select from ledger_entries as r where r.resolves = e.entry_no)
    where (c.state = 'funded') <> (e.entry_no is not null)`,
  );
  assert.deepEqual(escrow.rows, [], "money is in escrow exactly for crosses that are funded");
}
