import { syntheticPan } from "../../src/firms/rules.ts";
import { insertFirm } from "../../src/firms/store.ts";
import { newId } from "../../src/kernel/ids.ts";
import type { Service } from "./service.ts";

/** A client firm of a desk, connected as far as the test says. */
export async function clientFirm(
  { ctx }: Service,
  deskId: string,
  {
    environment = "sandbox",
    state = "authorized",
  }: { environment?: "sandbox" | "live"; state?: string } = {},
): Promise<{ firmId: string; iec: string }> {
  const firmId = newId("frm", ctx.now());
  const iec = syntheticPan(firmId);
  await ctx.db.transaction(
    async (tx) =>
      await insertFirm(tx, {
        firm_id: firmId,
        environment,
        desk_id: deskId,
        legal_name: `Client ${firmId}`,
        iec,
        pan: iec,
        connection_state: state,
        created_at: ctx.now(),
      }),
  );
  return { firmId, iec };
}
