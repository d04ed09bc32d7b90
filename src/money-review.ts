// Lists payouts, files and deposits from before today's rules held which they would have refused: the
// money is where it is, and a person looks at each. A room adds a check as a `MoneyCheck` and lists it
// here; the command `money review` and `doctor` read this table.

import { depositReview } from "./bankbook/review-deposits.ts";
import { payoutReview, type MoneyCheck } from "./payouts/review-payouts.ts";
import type { Context } from "./platform/context.ts";

const moneyChecks: readonly MoneyCheck[] = [...payoutReview, ...depositReview];

/** The findings of every check, at most so many of each. */
export async function reviewMoney(ctx: Pick<Context, "db" | "now" | "sealKey">, limit: number) {
  const found = await Promise.all(
    moneyChecks.map(async ({ name, advice, list }) => {
      const findings = await list(ctx, ctx.now(), limit);
      return findings.map((finding) => ({ check: name, ...finding, advice }));
    }),
  );
  return found.flat();
}
