import { iecsOf } from "../firms/find-firms.ts";
import { askOutside } from "../outside/ask.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { transferScenarios } from "../outside/scenario-rules.ts";
import { takeFrom, takeScenarios } from "../outside/scenarios.ts";
import { subjectOfLeg } from "./conclude-legs.ts";
import type { LegRow, SettlementRow } from "./store.ts";

/** A settlement and those of its legs that customs is to transfer. */
export type Transfer = {
  readonly settlement: SettlementRow;
  readonly open: readonly LegRow[];
};

/** Customs is asked to transfer each credit by itself. */
export async function askCustoms(
  tx: Tx,
  environment: Environment,
  transfers: readonly Transfer[],
  now: Date,
): Promise<void> {
  if (transfers.length === 0) return;
  const firmIds = transfers.flatMap(({ settlement, open }) => [
    settlement.buyer_firm_id,
    ...open.map((leg) => leg.seller_firm_id),
  ]);
  const iecs = await iecsOf(tx, [...new Set(firmIds)]);
  const scenarios = await takeScenarios(tx, environment, {
    deskIds: transfers.flatMap(desksOf),
    wanted: transferScenarios,
  });
  await askOutside(
    tx,
    transfers.flatMap((transfer) => {
      const { settlement, open } = transfer;
      const scenario = takeFrom(scenarios, ...desksOf(transfer));
      return open.map((leg) => ({
        environment,
        deskId: leg.seller_desk_id,
        port: "registry" as const,
        kind: "credit_transfer" as const,
        subjectId: subjectOfLeg(leg),
        facts: {
          settlement_id: leg.settlement_id,
          scrip_no: leg.scrip_no,
          face_paise: leg.face_paise,
          seller_iec: iecs.get(leg.seller_firm_id) ?? null,
          buyer_iec: iecs.get(settlement.buyer_firm_id) ?? null,
          scenario,
        },
      }));
    }),
    now,
  );
}

function desksOf({ settlement, open }: Transfer): string[] {
  return [...open.map((leg) => leg.seller_desk_id), settlement.buyer_desk_id];
}
