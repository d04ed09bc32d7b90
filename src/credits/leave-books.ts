import { exitCredits } from "../ledger/exit-credits.ts";
import type { Tx } from "../platform/postgres.ts";
import { isLive } from "./rules.ts";
import type { CreditRow } from "./store.ts";

/**
 * Takes credits out of the books whose holdings have just ended other than by a deal; claims never
 * were in them. To be called when no deal holds them in the books any more.
 */
export async function leaveBooks(
  tx: Tx,
  ended: readonly { readonly before: CreditRow | undefined; readonly after: CreditRow }[],
  now: Date,
): Promise<void> {
  const exits = ended.flatMap(({ before, after }) =>
    before && isLive(before.state) && !isLive(after.state)
      ? [
          {
            environment: after.environment,
            creditId: after.credit_id,
            firmId: after.firm_id,
            scripNo: after.scrip_no,
          },
        ]
      : [],
  );
  if (exits.length > 0) await exitCredits(tx, exits, now);
}
