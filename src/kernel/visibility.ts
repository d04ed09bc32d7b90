// Which records a caller can see: those of every firm of its desk or, with a sub_account key, those
// of one firm. Other records do not exist for the caller: they are not found.

import type { Caller } from "./caller.ts";
import { Failure } from "./failure.ts";

export type Visibility = {
  readonly deskId: string;
  /** The one visible firm; null when every firm of the desk is visible. */
  readonly firmId: string | null;
};

export function visibleTo({ kind, deskId, firmId }: Caller): Visibility {
  return { deskId, firmId: kind === "sub_account" ? firmId : null };
}

export function isVisible(
  visible: Visibility,
  record: { readonly deskId: string | null; readonly firmId: string | null },
): boolean {
  if (record.deskId !== visible.deskId) return false;
  return visible.firmId === null || visible.firmId === record.firmId;
}

/**
 * The firm that a list is filtered by; null for all firms of the desk. When the caller asks for a
 * firm that it cannot see, this is an empty id, which no firm has, and the list is empty.
 */
export function toFirmFilter(
  { firmId }: Visibility,
  askedFirmId: string | undefined,
): string | null {
  if (firmId === null) return askedFirmId ?? null;
  return askedFirmId === undefined || askedFirmId === firmId ? firmId : "";
}

/** The firm or desk that a caller's idempotency keys belong to: two owners never share a key. */
export function idempotencyOwner(caller: Caller): string {
  const { deskId, firmId } = visibleTo(caller);
  return firmId ?? deskId;
}

/** Refuses a sub_account key an act that concerns the whole desk; `act` ends the sentence. */
export function refuseSubAccount({ firmId }: Pick<Visibility, "firmId">, act: string): void {
  if (firmId === null) return;
  throw new Failure("forbidden", `a sub_account key may not ${act}`, {
    detail: { reason: "sub_account_key" },
  });
}
