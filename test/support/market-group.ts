// Groups shaped after the market, the same for the same seed: who holds what and who owes what is
// drawn, so that some firms have more than they owe and others less.

import { schemes } from "../../src/kernel/scheme.ts";
import { addDays } from "../../src/kernel/time.ts";
import type { Holdings } from "../../src/netting/rules.ts";
import { type Draw, marketOffers, marketRequirement } from "./market.ts";

export type GroupSize = {
  readonly firms: number;
  readonly credits: number;
  readonly requirements: number;
};

const firstDay = "2027-01-01";
const duePeriodDays = 180;
const lifeDays = 730;

export function marketGroup(draw: Draw, size: GroupSize): Holdings {
  const firms = Array.from({ length: size.firms }, (_, at) => ({
    firm_id: `frm_${String(at).padStart(3, "0")}`,
    pan: `PAN${at}`,
    may_trade: true,
  }));
  // Squared, so that a few firms have much and many have little.
  const drawFirm = () => firms[Math.floor(draw() ** 2 * firms.length)]?.firm_id ?? "";
  const drawDebtor = () => firms[Math.floor((1 - draw() ** 2) * firms.length)]?.firm_id ?? "";
  const drawScheme = () => schemes[draw() < 0.6 ? 0 : 1];
  const drawDay = (days: number) => addDays(firstDay, Math.floor(draw() * days));
  return {
    firms,
    credits: [...marketOffers(draw, size.credits)].map(({ scrip_no, face_paise }) => ({
      scrip_no,
      face_paise,
      firm_id: drawFirm(),
      scheme: drawScheme(),
      expires_on: drawDay(lifeDays),
      is_movable: true,
    })),
    requirements: Array.from({ length: size.requirements }, (_, at) => ({
      requirement_id: `rqm_${String(at).padStart(4, "0")}`,
      firm_id: drawDebtor(),
      scheme: draw() < 0.3 ? null : drawScheme(),
      amount_paise: marketRequirement(draw),
      due_on: drawDay(duePeriodDays),
      version: 1,
    })),
  };
}
