import type { Tx } from "../platform/postgres.ts";
import { syntheticPan } from "./rules.ts";
import { blankFirm, type FirmRow, insertClients } from "./store.ts";

/** Synthetic client firms of a sandbox desk, the same for the same seeds; ready to trade. */
export async function seedClients(
  tx: Tx,
  desk: FirmRow,
  clients: readonly { readonly firmId: string; readonly seed: string; readonly name: string }[],
  now: Date,
): Promise<void> {
  tx.added("firms", clients.length);
  await insertClients(
    tx,
    clients.map(({ firmId, seed, name }) => {
      const pan = syntheticPan(seed);
      return {
        ...blankFirm,
        firm_id: firmId,
        environment: desk.environment,
        desk_id: desk.firm_id,
        legal_name: name,
        iec: pan,
        pan,
        connection_state: "authorized",
        authorized_at: now,
        created_at: now,
        updated_at: now,
      };
    }),
  );
}
