import { type HouseCredit, houseChanges, houseCredits } from "../credits/house-changes.ts";
import type { Offer } from "../cover/rules.ts";
import { dayNumber } from "../kernel/time.ts";
import type { OfferSource } from "./open-book.ts";

/** What stands for the house where a seller is named; no firm has such a PAN. */
const house = "house";

/** The house sells whatever it holds at the price it quotes, so its offers have no limit. */
export const houseOffers: OfferSource = {
  isOwn: ({ order_id }) => order_id === null,

  async *all(db, environment) {
    for await (const page of houseCredits(db, environment)) {
      yield page.map((credit) => ({ scheme: credit.scheme, offer: offerOf(credit) }));
    }
  },

  async changes(db, environment, since) {
    const { horizon, changes } = await houseChanges(db, environment, since);
    return {
      horizon,
      changes: changes?.map(({ scripNo, scheme, listed }) => ({
        scripNo,
        scheme,
        offer: listed && offerOf(listed),
      })),
    };
  },
};

function offerOf({ scrip_no, face_paise, expires_on }: HouseCredit): Offer {
  return {
    scrip_no,
    face_paise,
    expires_on: dayNumber(expires_on),
    limit_bps: 0,
    seller: house,
    order_id: null,
  };
}
