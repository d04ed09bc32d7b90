import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { currentCards } from "../rates/current-cards.ts";
import { estimateOf, type Side } from "./rules.ts";
import type { Estimate, EstimateQuery } from "./schema.ts";

const notes: Readonly<Record<Side | "none", string>> = {
  sell: "An estimate and not an offer. The price depends on how long a credit is still valid and on the market of the moment; a binding price is quoted for each credit.",
  buy: "An estimate and not an offer. Credits move whole, so a bundle may cover less than the amount; a binding price is quoted for each bundle.",
  none: "There is no estimate for this now. Send an enquiry and the desk will answer.",
};

export async function estimateEnquiry(
  { db, now }: Context,
  { side, scheme, amount_paise }: EstimateQuery,
): Promise<Estimate> {
  const cards = await currentCards(db, "live");
  const estimate = estimateOf(cards.get(scheme), { side, amountPaise: amount_paise });
  const asked = { side, scheme, amount_paise };
  const told = { binding: false, as_of: istTimestamp(now()) };
  if (estimate.kind === "none") {
    return { ...asked, no_estimate: true, reason: estimate.reason, ...told, note: notes.none };
  }
  const { lowBps, highBps, lowPaise, highPaise } = estimate;
  return {
    ...asked,
    low_bps: lowBps,
    high_bps: highBps,
    low_paise: lowPaise,
    high_paise: highPaise,
    ...(side === "buy" && {
      savings_low_paise: amount_paise - highPaise,
      savings_high_paise: amount_paise - lowPaise,
    }),
    ...told,
    note: notes[side],
  };
}
