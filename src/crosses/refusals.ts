// Why a cross is refused. What is told of the other side is that it cannot be dealt with, never why.

import { Failure, unprocessable } from "../kernel/failure.ts";

/** A credit of the cross is not to be had, whatever became of it. */
export function creditUnavailable(): Failure {
  return new Failure("conflict", "a credit of this cross is not to be had", {
    detail: { reason: "credit_unavailable" },
  });
}

export function counterpartyUnavailable(): Failure {
  return new Failure("conflict", "the other side cannot deal now", {
    detail: { reason: "counterparty_unavailable" },
  });
}

/** A company does not deal with itself, however many firms it has. */
export function samePan(path: string): Failure {
  return unprocessable({ path, problem: "both sides are the same company" });
}

export function quoteUsed(crossId: string): Failure {
  return new Failure("conflict", "the quote was used for another cross", {
    detail: { reason: "quote_used", cross_id: crossId },
  });
}
