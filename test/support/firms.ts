import { makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import { type FirmState } from "../../src/firms/rules.ts";
import { blankFirm, insertFirm } from "../../src/firms/store.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import { newId } from "../../src/kernel/ids.ts";
import type { Service } from "./service.ts";

export type ClientFirm = {
  readonly environment?: Environment;
  readonly state?: FirmState;
  readonly legalName?: string;
  readonly pan?: string;
};

/** A client firm of a desk, put there as far along as the test says; authorized by default. */
export async function clientFirm(
  { ctx }: Pick<Service, "ctx">,
  deskId: string,
  { environment = "sandbox", state = "authorized", legalName, pan }: ClientFirm = {},
): Promise<{ firmId: string; iec: string }> {
  const now = ctx.now();
  const firmId = newId("frm", now);
  const iec = pan ?? makeSyntheticPan(firmId);
  await ctx.db.transaction(
    async (tx) =>
      await insertFirm(tx, {
        ...blankFirm,
        firm_id: firmId,
        environment,
        desk_id: deskId,
        legal_name: legalName ?? `Client ${firmId}`,
        iec,
        pan: iec,
        connection_state: state,
        authorized_at: state === "authorized" || state === "suspended" ? now : null,
        created_at: now,
        updated_at: now,
      }),
  );
  return { firmId, iec };
}
