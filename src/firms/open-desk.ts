import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfFirm } from "./change-firm.ts";
import { isIec, isLegalName, isPan, legalNameLengthMax, syntheticPan } from "./rules.ts";
import { blankFirm, findDeskByName, type FirmRow, insertFirm } from "./store.ts";

export type OpenDesk = {
  readonly legalName: string;
  readonly environment: Environment;
  readonly iec?: string | undefined;
  readonly pan?: string | undefined;
};

export type OpenedDesk = {
  readonly desk: FirmRow;
  /** For the audit trail, when there was none of that name. */
  readonly opened: readonly Change[];
};

/**
 * The desk of that name, made when there is none. A sandbox desk can trade at once under synthetic
 * identifiers. A live one can when the operator vouches for its own; without them it is registered
 * and acts for client firms only.
 */
export async function openDesk(tx: Tx, command: OpenDesk, now: Date): Promise<OpenedDesk> {
  if (!isLegalName(command.legalName)) {
    const problem = `must be 1 to ${legalNameLengthMax} characters`;
    throw unprocessable({ path: "legal_name", problem });
  }
  const known = await findDeskByName(tx, command.environment, command.legalName);
  if (known) return { desk: known, opened: [] };
  const firmId = newId("frm", now);
  const identity = identityOf(command, firmId);
  const desk: FirmRow = {
    ...blankFirm,
    firm_id: firmId,
    environment: command.environment,
    desk_id: firmId,
    legal_name: command.legalName,
    ...identity,
    connection_state: identity.pan ? "authorized" : "registered",
    authorized_at: identity.pan ? now : null,
    created_at: now,
    updated_at: now,
  };
  if (await insertFirm(tx, desk)) {
    return { desk, opened: [changeOfFirm(null, desk, { action: "open_desk" }, now)] };
  }
  const winner = await findDeskByName(tx, command.environment, command.legalName);
  if (!winner) throw new Error("a desk that stood in the way is visible afterwards");
  return { desk: winner, opened: [] };
}

function identityOf({ environment, iec, pan }: OpenDesk, firmId: string) {
  if (iec === undefined && pan === undefined) {
    const synthetic = environment === "sandbox" ? syntheticPan(firmId) : null;
    return { iec: synthetic, pan: synthetic };
  }
  const taken = pan ?? iec ?? "";
  if (!isPan(taken)) throw unprocessable({ path: "pan", problem: "must be a PAN" });
  if (!isIec(iec ?? taken)) throw unprocessable({ path: "iec", problem: "must be an IEC" });
  return { iec: iec ?? taken, pan: taken };
}
