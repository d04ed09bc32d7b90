// Resting sells as offers of the book: each credit that no deal has yet, at the order's limit.

import type { OfferChange, OfferSource } from "../book/open-book.ts";
import type { Offer } from "../cover/rules.ts";
import { findOffered } from "../credits/reserve-credits.ts";
import { pansOf } from "../firms/trading-firms.ts";
import type { Environment } from "../kernel/caller.ts";
import { dayNumber } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import { listOffered, listOfferedSince, listSetAside, type OfferedRow } from "./resting-store.ts";
import { type SetAside, whetherOffered } from "./rules.ts";

const pageSize = 5_000;

export const restingOffers: OfferSource = {
  isOwn: ({ order_id }) => order_id !== null,

  async *all(db, environment) {
    let page: readonly OfferedRow[] = [];
    do {
      const after = page.at(-1)?.order_id ?? "";
      page = await listOffered(db, environment, { after, limit: pageSize });
      const changes = await changesOf(db, environment, page);
      yield changes.flatMap(({ scheme, offer }) => (offer ? [{ scheme, offer }] : []));
    } while (page.length === pageSize);
  },

  async changes(db, environment, since) {
    const { horizon, rows } = await listOfferedSince(db, environment, since);
    return { horizon, changes: await changesOf(db, environment, rows) };
  },

  async again(db, { now, offers }) {
    const asked = offers.map((offer) => ({
      orderId: offer.order_id ?? "",
      scripNo: offer.scrip_no,
    }));
    const rows = await listSetAside(db, asked);
    return rows.flatMap((row) => changeOf(row, now) ?? []);
  },
};

function changeOf(row: SetAside, now: Date): OfferChange | undefined {
  const { scrip_no: scripNo, scheme } = row;
  const whether = whetherOffered(row, now);
  if (whether === "waits") return undefined;
  if (whether === "ended") return { scripNo, scheme, offer: undefined };
  const offer = {
    scrip_no: scripNo,
    face_paise: row.face_paise,
    expires_on: dayNumber(row.expires_on),
    limit_bps: row.limit_bps ?? 0,
    seller: row.pan ?? "",
    order_id: row.order_id,
  };
  return { scripNo, scheme, offer };
}

/** Every credit of these orders: offered while it rests, and not any more once it does not. */
async function changesOf(
  db: Db,
  environment: Environment,
  orders: readonly OfferedRow[],
): Promise<OfferChange[]> {
  const resting = orders.filter((order) => order.state === "open");
  const numbers = resting.flatMap((order) => order.resting_scrip_nos);
  const credits = await findOffered(db, environment, numbers);
  const pans = await pansOf(db, [...new Set(resting.map((order) => order.firm_id))]);
  return orders.flatMap((order) =>
    order.scrip_nos.map((scripNo) => {
      const credit = credits.get(scripNo);
      const rests = order.state === "open" && order.resting_scrip_nos.includes(scripNo);
      const offer: Offer | undefined =
        rests && credit?.reserved_for === order.order_id
          ? {
              scrip_no: scripNo,
              face_paise: credit.face_paise,
              expires_on: dayNumber(credit.expires_on),
              limit_bps: order.limit_bps ?? 0,
              seller: pans.get(order.firm_id) ?? "",
              order_id: order.order_id,
            }
          : undefined;
      return { scripNo, scheme: order.scheme, offer };
    }),
  );
}
