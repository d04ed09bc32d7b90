import type { IstDay } from "../kernel/time.ts";
import { toErrorReply } from "../platform/http-errors.ts";
import type { ItemError } from "../platform/wire.ts";
import type { Credit } from "./schema.ts";
import type { Outcome } from "./take-declarations.ts";
import { viewCredit } from "./view-credit.ts";

export type Result = {
  readonly ok: boolean;
  readonly status: number;
  readonly error: ItemError | null;
  readonly credit?: Credit;
};

/** The answer to one item: what a call with it alone would have answered. */
export function resultOf(
  outcome: Outcome,
  view: { readonly firmState: string; readonly today: IstDay },
  requestId: string,
): Result {
  if (outcome.kind === "refused") {
    const { status, body } = toErrorReply(outcome.failure, requestId, "trading");
    return { ok: false, status, error: body };
  }
  const status = outcome.kind === "created" ? 201 : 200;
  return { ok: true, status, error: null, credit: viewCredit(outcome.row, view) };
}

export function sumsOf(results: readonly Result[]): { accepted: number; failed: number } {
  const accepted = results.filter(({ ok }) => ok).length;
  return { accepted, failed: results.length - accepted };
}
