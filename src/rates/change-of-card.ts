import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import type { RateCard } from "./rules.ts";

/** A new version of a card, as the audit trail records it on the house's desk. */
export function changeOfCard(
  action: "publish" | "halt" | "open",
  before: RateCard | undefined,
  after: RateCard,
): Change {
  const house = houseFirmId[after.environment];
  return {
    environment: after.environment,
    deskId: house,
    firmId: house,
    action: `rate_card.${action}`,
    entity: {
      type: "rate_card",
      id: after.scheme,
      version: after.version,
      href: `/v1/market/${after.scheme}`,
    },
    before: before ? factsOf(before) : null,
    after: factsOf(after),
  };
}

function factsOf({ published_at, ...facts }: RateCard): object {
  return { ...facts, published_at: published_at.toISOString() };
}
