import type { Change, EventOfChange } from "../kernel/actor.ts";
import type { KeyRow } from "./store.ts";
import { viewKey } from "./view-key.ts";

/** A change of a key as the audit trail and, where there is one, its event record it. */
export function changeOfKey(
  before: KeyRow | null,
  after: KeyRow,
  {
    action,
    event,
    now,
  }: { action: string; event?: Pick<EventOfChange, "name" | "data">; now: Date },
): Change {
  const afterView = viewKey(after, now);
  const beforeView = before && viewKey(before, now);
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `key.${action}`,
    entity: {
      type: "key",
      id: after.key_id,
      version: after.version,
      href: `/v1/keys/${after.key_id}`,
    },
    before: beforeView,
    after: afterView,
    event: event && { ...event, from: beforeView?.status ?? null, to: afterView.status },
  };
}
