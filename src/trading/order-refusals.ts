// The refusals of an order, one constructor per condition.

import { Failure, unprocessable } from "../kernel/failure.ts";
import type { Paise } from "../kernel/money.ts";

/** The quote has made an order or a cross already. */
export function quoteUsed(
  by: { readonly order_id: string } | { readonly cross_id: string },
): Failure {
  const noun = "order_id" in by ? "order" : "cross";
  return new Failure("conflict", `the quote was used for another ${noun}`, {
    detail: { reason: "quote_used", ...by },
  });
}

export function quoteExpired(validUntil: string): Failure {
  return new Failure("conflict", "the quote has expired", {
    detail: { reason: "quote_expired", valid_until: validUntil },
  });
}

/** The firm has no credits with enough days left that fit into the amount. */
export function nothingToDeliver(daysMin: number): Failure {
  return new Failure("conflict", "the firm has no credits to deliver for this amount", {
    detail: { reason: "nothing_to_deliver", days_left_min: daysMin },
  });
}

/** Whether the order desk adds a fresh quote to the detail. */
export function asksForFreshQuote({ detail }: Failure): boolean {
  return detail?.["reason"] === bundleGoneReason || detail?.["reason"] === factsChangedReason;
}

const bundleGoneReason = "bundle_gone";
const factsChangedReason = "facts_changed";

export function bundleGone(): Failure {
  return new Failure("conflict", "a credit of the quoted bundle is no longer to be had", {
    detail: { reason: bundleGoneReason },
  });
}

export function factsChanged(scripNos: readonly string[]): Failure {
  return new Failure("conflict", "what the quote was priced on has changed", {
    detail: { reason: factsChangedReason, scrip_nos: scripNos },
  });
}

/** The credits that the firm can deliver have not the priced size. */
export function amountChanged(deliverablePaise: Paise): Failure {
  return new Failure("conflict", "what the firm can deliver is not what the quote was priced on", {
    detail: { reason: factsChangedReason, deliverable_paise: deliverablePaise },
  });
}

export function noPrice(): Failure {
  return new Failure("conflict", "there is no price for this order now", {
    detail: { reason: "no_price" },
  });
}

/** The unpaid deals of the firm have reached the limit of its desk's plan. */
export function unfundedLimit(maxPaise: number): Failure {
  return new Failure("conflict", "too much that the firm has bought waits for money", {
    detail: { reason: "unfunded_limit", unfunded_max_paise: maxPaise },
  });
}

/** The unpaid deals of all firms of the desk have reached the limit of its plan. */
export function unfundedDeskLimit(maxPaise: number): Failure {
  return new Failure("conflict", "too much that the desk has bought waits for money", {
    detail: { reason: "unfunded_desk_limit", unfunded_desk_max_paise: maxPaise },
  });
}

/**
 * The firm buys only with money that is there. It says neither why nor until when: the cause can be a
 * firm of another desk that has the same PAN.
 */
export function fundsFirst(): Failure {
  return new Failure("conflict", "this firm's buys are funded before they are placed", {
    detail: { reason: "funds_first" },
  });
}

export function requirementCovered(coveredPaise: Paise): Failure {
  return new Failure("conflict", "the requirement is covered", {
    detail: { reason: "requirement_covered", covered_paise: coveredPaise },
  });
}

export function tooManyCovers(max: number): Failure {
  return new Failure("conflict", "too many orders were placed for this requirement", {
    detail: { reason: "too_many_covers", orders_max: max },
  });
}

/** Credits are offered, but each is larger than the requirement. */
export function noCover(smallestPaise: number): Failure {
  return new Failure("conflict", "no whole credit fits the requirement", {
    detail: { reason: "no_cover", smallest_face_paise: smallestPaise },
  });
}

export function restsTooLittle(path: string, minPaise: number): Failure {
  return unprocessable({ path, problem: `must be at least ${minPaise} to rest` });
}

/** The firm named in the order is not the firm of the quote. */
export function otherFirm(): Failure {
  return new Failure("unprocessable", "firm_id: is not the firm that the quote was given to", {
    detail: {
      fields: [{ path: "firm_id", problem: "is not the firm that the quote was given to" }],
    },
  });
}
