// Who changed what, in the transaction of the change. A record is made in two steps, so that what the
// transaction stores can be on its way meanwhile:
//
//   make     the record, with digests of the thing before and after; needs no database
//   chain    lock the ends of the desks' chains, give each record its place there with the hash of
//            all up to it, and move the ends; whoever else adds to one of them waits for the commit

import { hash } from "node:crypto";

import type { Actor, Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres.ts";
import { type AuditRecord, atText, linkAfter, startOfChain } from "./rules.ts";
import { type Desk, insertRecords, lockHeads, setHeads } from "./store.ts";

export function makeRecords(
  changes: readonly { readonly actor: Actor; readonly change: Change }[],
  now: Date,
): readonly AuditRecord[] {
  const at_text = atText(now);
  return changes.map(({ actor, change }) => ({
    environment: change.environment,
    desk_id: change.deskId,
    record_id: newId("aud", now),
    at_text,
    actor_kind: actor.kind,
    actor_id: actor.id,
    request_id: actor.requestId,
    action: change.action,
    entity_type: change.entity.type,
    entity_id: change.entity.id,
    entity_version: change.entity.version,
    before_hash: change.before && digestOf(change.before),
    after_hash: change.after && digestOf(change.after),
  }));
}

function digestOf(thing: object): string {
  return hash("sha256", canonicalJson(thing));
}

/** In the order given, each after the last of its desk. */
export async function chainRecords(
  tx: Tx,
  records: readonly AuditRecord[],
  now: Date,
): Promise<void> {
  if (records.length === 0) return;
  const desks = new Map(records.map((record) => [nameOf(record), record]));
  const locked = await lockHeads(tx, [...desks.values()], startOfChain);
  const heads = new Map(locked.map((head) => [nameOf(head), head]));
  const rows = records.map((record) => {
    const head = heads.get(nameOf(record));
    if (!head) throw new Error("the chain of every desk is locked");
    const { seq, hash: linked } = linkAfter(head, record);
    heads.set(nameOf(record), { ...head, seq, hash: linked });
    return { ...record, seq, hash: linked };
  });
  await Promise.all([insertRecords(tx, rows, now), setHeads(tx, [...heads.values()])]);
}

function nameOf({ environment, desk_id }: Desk): string {
  return `${environment} ${desk_id}`;
}
