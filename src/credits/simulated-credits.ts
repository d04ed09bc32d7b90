import { createHash } from "node:crypto";

import { addDays, type IstDay } from "../kernel/time.ts";
import { type CreditFacts, validDays } from "./rules.ts";

const monthsShown = 6;
const ports = ["INNSA1", "INMUN1", "INMAA1", "INBOM4", "INDEL4"] as const;

/**
 * The simulated registry's ledger of an importer-exporter code: one credit a month, the same
 * whenever it is asked. A later month adds its own, so a second look finds what is new.
 */
export function simulatedCredits(iec: string, today: IstDay): CreditFacts[] {
  return Array.from({ length: monthsShown }, (_, back) => creditOfMonth(iec, today, back + 1));
}

function creditOfMonth(iec: string, today: IstDay, monthsBack: number): CreditFacts {
  const first = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() - monthsBack);
  const month = first.toISOString().slice(0, 7);
  const bytes = createHash("sha256").update(`${iec} ${month}`).digest();
  const issuedOn = addDays(`${month}-01`, (bytes[0] ?? 0) % 28);
  const rupees = 50_000 + (bytes.readUInt32BE(4) % 1_950_000);
  return {
    // The last digit keeps it off the endings that the simulated registry gives a meaning.
    scrip_no: `SIM${month.replace("-", "")}${bytes.toString("hex", 8, 12).toUpperCase()}1`,
    scheme: (bytes[1] ?? 0) % 3 === 0 ? "ROSCTL" : "RODTEP",
    issued_paise: rupees * 100,
    face_paise: rupees * 100,
    port_code: ports[(bytes[2] ?? 0) % ports.length] ?? null,
    issued_on: issuedOn,
    expires_on: addDays(issuedOn, validDays),
  };
}
