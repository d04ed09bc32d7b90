import type { Environment } from "./caller.ts";

/** The operator's own firm, which stands on the other side of every binding price. */
export const houseFirmId = {
  live: "frm_00000000000000000000000001",
  sandbox: "frm_00000000000000000000000002",
} as const satisfies Record<Environment, string>;

export function isHouse(firmId: string): boolean {
  return firmId === houseFirmId.live || firmId === houseFirmId.sandbox;
}
