import { violatedConstraint } from "../platform/postgres.ts";
import { FundsMoved } from "../settlement/open-settlements.ts";

/** How often it is tried because a balance moved meanwhile. */
const attemptsMax = 5;

/** Does again what failed because a balance fell, or a line was counted, meanwhile. */
export async function withoutMovedFunds<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      // Two files with the same line, applied at once: the second finds it counted.
      const isPassing = violatedConstraint(error) === "bank_lines_once";
      const isMoved = isPassing || error instanceof FundsMoved;
      if (!isMoved || attempt === attemptsMax) throw error;
    }
  }
}
