// A desk's day through the front door, and everything that the service does by itself meanwhile: what
// is called often, what is called by the minute, and every operation at least tried.

import { documentParts } from "../../src/app.ts";
import { describeApi } from "../../src/platform/http/openapi.ts";
import type { RouteEntry } from "../../src/platform/http/server.ts";
import { furnishDesks } from "../support/furnished-desks.ts";
import { addCredits } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { askWithOwn, checkReads, type Document, listSlots } from "../support/isolation.ts";
import { payIn } from "../support/ledger.ts";
import { dealer, type Dealer } from "../support/orders.ts";
import { startReceiver } from "../support/receivers.ts";
import type { Service } from "../support/service.ts";

type Scope = { after(work: () => Promise<unknown>): void };

const face = 2_500_000;
const sells = 40;
const restingSells = 15;
export type Walked = { readonly deskId: string; readonly firmId: string };

/** Every operation, tried with ids of the caller's own. */
export async function tryEverything(service: Service): Promise<void> {
  const { root, sub } = await furnishDesks(service);
  const document = describeApi(service.app, documentParts) as unknown as Document;
  const routes: readonly RouteEntry[] = service.app.routes;
  const slots = listSlots(routes, document);
  for (const { key, fixtures } of [root, sub]) {
    await checkReads(service, { key, routes, fixtures });
    await askWithOwn(service, { key, slots, fixtures });
  }
}

/** Quotes, orders and what follows of them, until it is settled and paid; these workers rest. */
export async function dealADay(
  t: Scope,
  service: Service,
  resting: readonly string[] = [],
): Promise<Walked> {
  const { ctx } = service;
  const credit = { facePaise: face };
  const seller = await dealer(
    service,
    Array.from({ length: sells + restingSells + 20 }, () => credit),
  );
  const buyer = await dealer(service, []);
  await stockHouse(
    ctx,
    Array.from({ length: 10 }, () => ({ face_paise: face })),
  );
  await payIn(service, buyer.deskId, 100_000_000_000);
  const receiver = await startReceiver(t);
  await seller.post("/v1/webhooks", { url: receiver.url, event: "*" }, 201);
  const [quoted = "", single = "", ...rest] = seller.scripNos;
  const { quote_ref } = (await seller.post("/v1/quote", { side: "sell", scrip_no: quoted }, 200))
    .body;
  await seller.post("/v1/orders", { quote_ref }, 201, { "idempotency-key": `q-${quoted}` });
  await seller.post("/v1/orders", { side: "sell", scrip_no: single }, 201);
  const batch = rest.slice(0, sells).map((scrip_no) => ({ side: "sell", scrip_no }));
  await seller.post("/v1/orders:batch", { orders: batch }, 200);
  const offers = rest
    .slice(sells, sells + restingSells)
    .map((scrip_no) => ({ side: "sell", scrip_no, limit_bps: 9_880 }));
  await seller.post("/v1/orders:batch", { orders: offers }, 200);
  await buyAndRest(buyer);
  await letSettle(service, resting);
  await readAll(seller);
  await readAll(buyer);
  await endSome(service, seller);
  await letSettle(service, resting);
  return seller;
}

async function buyAndRest(buyer: Dealer): Promise<void> {
  const buy = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const { quote_ref } = (await buyer.post("/v1/quote", buy, 200)).body;
  if (quote_ref !== undefined) await buyer.post("/v1/orders", { quote_ref }, 201);
  await buyer.post("/v1/orders", { ...buy, limit_bps: 9_990 }, 0);
  const low = { ...buy, limit_bps: 9_000, time_in_force: "GTC" };
  await buyer.post("/v1/orders:batch", { orders: Array.from({ length: 5 }, () => low) }, 200);
}

async function letSettle(service: Service, resting: readonly string[]): Promise<void> {
  for (let second = 0; second < 4; second++) {
    await service.work(resting);
    service.clock.advance({ seconds: 1 });
  }
}

async function readAll({ get, firmId, orders }: Dealer): Promise<void> {
  const [order] = await orders();
  if (order) await get(`/v1/orders/${order.order_id}`);
  const paths = [
    "/v1/orders?status=open",
    `/v1/orders?firm_id=${firmId}&side=sell`,
    "/v1/settlements",
    "/v1/payouts",
    "/v1/events",
    "/v1/audit",
    `/v1/firms/${firmId}/credits?status=listed`,
    "/v1/usage",
  ];
  for (const path of paths) await get(path);
}

/** Declares, withdraws, cancels; and a day passes in which credits expire. */
async function endSome(service: Service, seller: Dealer): Promise<void> {
  const { key, deskId, firmId } = seller;
  const declared = Array.from({ length: 20 }, (_, at) => ({
    scrip_no: `${firmId.slice(-14).toUpperCase()}${at}`,
    scheme: "RODTEP",
    face_paise: face,
    issued_on: "2026-10-01",
    expires_on: "2028-10-01",
  }));
  await seller.post(`/v1/firms/${firmId}/credits`, { credits: declared }, 200);
  await service.send("DELETE", `/v1/credits/${declared[0]?.scrip_no}`, { key });
  const [open] = await seller.list("?status=open");
  if (open) await seller.post(`/v1/orders/${open.order_id}/cancel`, {}, 200);
  const soon = { firmId, scheme: "RODTEP" as const, facePaise: face, state: "listed" };
  await addCredits(service, deskId, [{ ...soon, expiresOn: "2026-11-16" }]);
}
