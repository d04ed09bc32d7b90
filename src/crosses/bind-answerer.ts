import type { FoundCross } from "./read-store.ts";
import type { CrossRow } from "./store.ts";

/** The first of those with the awaited IEC to answer takes the side; the others know nothing of it. */
export function bindAnswerer(
  { addressed_firm_id: firmId, ...cross }: FoundCross,
  deskId: string,
): CrossRow {
  if (firmId === null) throw new Error("only a firm whose answer is waited for answers");
  const bound = { ...cross, awaited_iec: null };
  return cross.proposed_by === "sell"
    ? { ...bound, buyer_desk_id: deskId, buyer_firm_id: firmId }
    : { ...bound, seller_desk_id: deskId, seller_firm_id: firmId };
}
