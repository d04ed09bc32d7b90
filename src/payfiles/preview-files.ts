import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import {
  type KeptHere,
  type PlannedRemittance,
  previewRemittances,
} from "../payouts/plan-remittances.ts";
import { rails } from "../payouts/rules.ts";

export type PlannedFile = {
  readonly rail: string;
  readonly paise: number;
  readonly remittances: readonly PlannedRemittance[];
};

export type Preview = {
  readonly files: readonly PlannedFile[];
  readonly kept: readonly KeptHere[];
};

/** What the files of this moment would hold, by rail, and what is due and stays here. */
export async function previewFiles(
  ctx: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<Preview> {
  const { remittances, kept } = await previewRemittances(ctx.db, environment, ctx.now());
  const byRail = Map.groupBy(remittances, ({ rail }) => rail);
  const files = rails.flatMap((rail) => {
    const own = byRail.get(rail) ?? [];
    const paise = own.reduce((sum, each) => sum + each.paise, 0);
    return own.length === 0 ? [] : [{ rail, paise, remittances: own }];
  });
  return { files, kept };
}

/** The same as it is shown: no account number, and of payouts their ids. */
export function viewPreview({ files, kept }: Preview) {
  return {
    files: files.map(({ rail, paise, remittances }) => ({
      rail,
      amount_paise: paise,
      remittances: remittances.map(({ firmId, paise: amount_paise, ifsc, last4, payouts }) => ({
        firm_id: firmId,
        amount_paise,
        ifsc,
        account_last4: last4,
        payout_ids: payouts.map(({ payout_id }) => payout_id),
      })),
    })),
    kept: kept.map(({ payoutId, paise: amount_paise, reason }) => ({
      payout_id: payoutId,
      amount_paise,
      reason,
    })),
  };
}
