// Deals as an order would make them, and what becomes of their credits and money.

import { recordChanges } from "../../src/journal/record-changes.ts";
import { operator } from "../../src/kernel/actor.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import type { Fee } from "../../src/kernel/money.ts";
import { houseFirmId, newId } from "../../src/kernel/ids.ts";
import { readBalances } from "../../src/ledger/read-books.ts";
import { reserveCredits } from "../../src/credits/reserve-credits.ts";
import { known } from "../../src/platform/postgres/postgres.ts";
import { openSettlements, storeSettlements } from "../../src/settlement/open-settlements.ts";
import { addCredits, addFirm } from "./holdings.ts";
import type { Answer, Service } from "./service.ts";
import { settlingWorkers } from "./turns.ts";

export const face = 25_000_000;
export const sellerPaise = 24_400_000;
export const buyerPaise = 24_600_000;

/** A desk with its root key and one client firm. */
export type TestDesk = {
  readonly key: string;
  readonly deskId: string;
  readonly firmId: string;
  readonly environment: Environment;
};

/** Whoever buys or sells; the house when it is nobody's desk. */
export type TestParty = Pick<TestDesk, "deskId" | "firmId">;

export async function openTestDesk(
  service: Service,
  environment: Environment = "sandbox",
): Promise<TestDesk> {
  const { api_key: key, firm_id: deskId } = await service.issue({ environment });
  return { key, deskId, environment, firmId: await addFirm(service, { deskId, environment }) };
}

export function house(environment: Environment = "sandbox"): TestParty {
  return { deskId: houseFirmId[environment], firmId: houseFirmId[environment] };
}

let numbers = 0;

/** A listed credit of a firm whose number ends as asked. */
export async function addCredit(
  service: Service,
  { deskId, firmId }: TestParty,
  ending = "0001",
): Promise<string> {
  const [made = ""] = await addCredits(service, deskId, [
    { firmId, scheme: "RODTEP", facePaise: face, expiresOn: "2028-10-01", state: "listed" },
  ]);
  const scripNo = `TST${String(++numbers).padStart(8, "0")}${ending}`;
  await service.ctx.db.pool.query("update credits set scrip_no = $2 where scrip_no = $1", [
    made,
    scripNo,
  ]);
  return scripNo;
}

export type TestDeal = {
  readonly environment?: Environment;
  /** The cross that made the deal, where it was no order. */
  readonly origin?: string;
  readonly buyer: TestParty;
  readonly legs: readonly {
    readonly seller: TestParty;
    readonly scripNo: string;
    readonly sellerPaise?: number;
    readonly buyerPaise?: number;
    readonly fees?: { readonly buyer: Fee; readonly seller: Fee };
  }[];
};

/** What an order does when it finds its other side, and the id of its settlement. */
export async function makeDeal(
  { ctx }: Pick<Service, "ctx">,
  { environment = "sandbox", origin: made, buyer, legs }: TestDeal,
): Promise<string> {
  const now = ctx.now();
  const settlementId = newId("stl", now);
  const isClient = ({ firmId }: TestParty) => firmId !== houseFirmId[environment];
  const orderOf = new Map<string, string>();
  const toParty = (party: TestParty) => {
    if (!isClient(party)) return { ...party, orderId: null };
    const orderId = orderOf.get(party.firmId) ?? newId("ord", now);
    orderOf.set(party.firmId, orderId);
    return { deskId: party.deskId, firmId: party.firmId, orderId };
  };
  const origin = toParty([buyer, ...legs.map(({ seller }) => seller)].find(isClient) ?? buyer);
  const { rows } = await ctx.db.pool.query<{ credit_id: string; scrip_no: string }>(
    `select credit_id, scrip_no from credits
    where scrip_no = any($1) and environment = $2 and state = 'listed'`,
    [legs.map(({ scripNo }) => scripNo), environment],
  );
  const findCreditId = (scripNo: string) =>
    rows.find((row) => row.scrip_no === scripNo)?.credit_id ?? "";
  await ctx.db.transaction(async (tx) => {
    const reservations = legs.map(({ scripNo, seller }) => ({
      creditId: findCreditId(scripNo),
      reservedFor: toParty(seller).orderId ?? origin.orderId ?? "",
    }));
    await tx.run(reserveCredits(reservations, now));
    const deal = {
      settlementId,
      environment,
      scheme: "RODTEP" as const,
      origin: made ?? origin.orderId ?? "",
      originKind: made === undefined ? ("order" as const) : ("cross" as const),
      buyer: toParty(buyer),
      buyerBps: 9_840,
      legs: legs.map((leg) => ({
        scripNo: leg.scripNo,
        creditId: findCreditId(leg.scripNo),
        seller: toParty(leg.seller),
        facePaise: face,
        sellerBps: 9_760,
        sellerPaise: leg.sellerPaise ?? sellerPaise,
        buyerPaise: leg.buyerPaise ?? buyerPaise,
        ...(leg.fees && { fees: leg.fees }),
      })),
    };
    const opened = await openSettlements(tx, [deal], now);
    await storeSettlements(tx, opened, now, {
      stored: known(undefined),
      last: known,
    });
    await recordChanges(
      tx,
      operator,
      opened.changes.map(({ change }) => change),
      now,
    );
  });
  return settlementId;
}

/**
 * Lets seconds pass in which deals settle by themselves, as long as it takes for what the simulation
 * answers to arrive; what follows from it is done by everybody in the end.
 */
export async function letSettle(service: Service, seconds = 4): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    service.clock.advance({ seconds: 1 });
    await service.workOn(settlingWorkers);
  }
  await service.work();
}

export async function readSettlement(
  { send }: Pick<Service, "send">,
  { key }: Pick<TestDesk, "key">,
  settlementId: string,
): Promise<Answer["body"]> {
  return (await send("GET", `/v1/settlements/${settlementId}`, { key, expect: 200 })).body;
}

export async function listPayouts(
  { send }: Pick<Service, "send">,
  { key }: Pick<TestDesk, "key">,
): Promise<Answer["body"][]> {
  return (await send("GET", "/v1/payouts", { key, expect: 200 })).body.payouts;
}

export async function readBalance(
  { ctx }: Pick<Service, "ctx">,
  { firmId }: Pick<TestParty, "firmId">,
  environment: Environment = "sandbox",
) {
  const [balance] = await readBalances(ctx.db, environment, [firmId]);
  if (!balance) throw new Error("every firm has a balance, if only nothing");
  return balance;
}

/** Where a number stands, newest holding first: whose it is and in which state. */
export async function listHoldings(
  { ctx }: Pick<Service, "ctx">,
  scripNo: string,
): Promise<{ firm_id: string; state: string }[]> {
  const { rows } = await ctx.db.pool.query(
    "select firm_id, state from credits where scrip_no = $1 order by created_at desc, credit_id desc",
    [scripNo],
  );
  return rows;
}
