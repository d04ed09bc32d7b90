import { hash } from "node:crypto";

import type { Actor, Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres.ts";
import { insertAuditRecords } from "./store.ts";

/** Who changed what, in the transaction of the change. */
export async function recordAudit(
  tx: Tx,
  changes: readonly { readonly actor: Actor; readonly change: Change }[],
  now: Date,
): Promise<void> {
  // In the order of the changes, which is the order they are chained in.
  const ids = changes.map(() => newId("aud", now)).toSorted();
  await insertAuditRecords(
    tx,
    changes.map(({ actor, change }, at) => ({
      record_id: ids[at] ?? "",
      environment: change.environment,
      desk_id: change.deskId,
      actor_kind: actor.kind,
      actor_id: actor.id,
      request_id: actor.requestId,
      action: change.action,
      entity_type: change.entity.type,
      entity_id: change.entity.id,
      entity_version: change.entity.version,
      before_hash: change.before && hashOf(change.before),
      after_hash: change.after && hashOf(change.after),
    })),
    now,
  );
}

function hashOf(thing: object): string {
  return hash("sha256", canonicalJson(thing));
}
