import { findIecs } from "../firms/find-firms.ts";
import { askOutside } from "../outside/ask.ts";
import type { Environment } from "../kernel/caller.ts";
import { all, known, type Query } from "../platform/postgres/postgres.ts";
import { transferScenarios } from "../outside/scenario-rules.ts";
import { takeScenarioFor, takeScenarios } from "../outside/scenarios.ts";
import { toLegSubject } from "./conclude-legs.ts";
import type { LegRow, SettlementRow } from "./store.ts";

/** A settlement and the legs that customs is to transfer. */
export type Transfer = {
  readonly settlement: SettlementRow;
  readonly open: readonly LegRow[];
};

/** What customs has to be told of the firms, and what is to happen to their desks. */
export type CustomsFacts = {
  readonly iecs: ReadonlyMap<string, string | null>;
  readonly scenarios: Map<string, (typeof transferScenarios)[number]>;
};

export function findCustomsFacts(
  environment: Environment,
  transfers: readonly Transfer[],
): Query<CustomsFacts> {
  if (transfers.length === 0) return known({ iecs: new Map(), scenarios: new Map() });
  const firmIds = transfers.flatMap(({ settlement, open }) => [
    settlement.buyer_firm_id,
    ...open.map((leg) => leg.seller_firm_id),
  ]);
  const deskIds = transfers.flatMap(listDeskIds);
  return all([
    findIecs([...new Set(firmIds)]),
    takeScenarios(environment, { deskIds, wanted: transferScenarios }),
  ]).map(([iecs, scenarios]) => ({ iecs, scenarios }));
}

/** Asks customs to transfer the credits, with one inquiry per credit. */
export function askCustoms(
  environment: Environment,
  transfers: readonly Transfer[],
  { iecs, scenarios }: CustomsFacts,
  now: Date,
): Query<void> {
  return askOutside(
    transfers.flatMap((transfer) => {
      const { settlement, open } = transfer;
      const scenario = takeScenarioFor(scenarios, ...listDeskIds(transfer));
      return open.map((leg) => ({
        environment,
        deskId: leg.seller_desk_id,
        port: "registry" as const,
        kind: "credit_transfer" as const,
        subjectId: toLegSubject(leg),
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

function listDeskIds({ settlement, open }: Transfer): string[] {
  return [...open.map((leg) => leg.seller_desk_id), settlement.buyer_desk_id];
}
