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

/** What the files of this moment would hold, by rail, and what is due and stays here. */
export async function previewFiles(
  ctx: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<{ readonly files: readonly PlannedFile[]; readonly kept: readonly KeptHere[] }> {
  const { remittances, kept } = await previewRemittances(ctx.db, environment, ctx.now());
  const byRail = Map.groupBy(remittances, ({ rail }) => rail);
  const files = rails.flatMap((rail) => {
    const own = byRail.get(rail) ?? [];
    const paise = own.reduce((sum, each) => sum + each.paise, 0);
    return own.length === 0 ? [] : [{ rail, paise, remittances: own }];
  });
  return { files, kept };
}
