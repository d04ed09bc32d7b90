// What can be bought: everything that the book offers, and who offers it.

import { houseOffers } from "./book/house-offers.ts";
import type { OfferSource } from "./book/open-book.ts";
import { restingOffers } from "./orders/resting-offers.ts";

export const offerSources: readonly OfferSource[] = [houseOffers, restingOffers];
