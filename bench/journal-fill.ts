// Records of a desk by the million, made by the service's own use case in sets, as batches of orders do.

import type pg from "pg";

import { recordChanges } from "../src/journal/record-changes.ts";
import type { Actor, Change } from "../src/kernel/actor.ts";
import { newId } from "../src/kernel/ids.ts";
import { openDatabase } from "../src/platform/postgres/postgres.ts";

export const recordsPerSet = 2_000;
/** Of the records' own time. */
const setMs = 60_000;

const actors: readonly Actor[] = ["settlement", "payouts", "orders", "bench"].map((id) => ({
  kind: "worker",
  id,
  requestId: null,
}));

export type Filled = {
  readonly perSecond: number;
  /** What the database takes with its indexes. */
  readonly bytes: number;
  /** Of every tenth of the records the first one. */
  readonly samples: readonly Sample[];
};
export type Sample = { readonly entityId: string; readonly at: Date };

/** One set a minute, the last of them now; the actors take turns. */
export async function fillJournal(
  connection: pg.ClientConfig,
  deskId: string,
  count: number,
): Promise<Filled> {
  const db = openDatabase({ connection, onIdleError() {} });
  const startedAt = performance.now();
  const sets = Math.ceil(count / recordsPerSet);
  const beganMs = Date.now() - sets * setMs;
  const samples: Sample[] = [];
  for (let set = 0; set < sets; set++) {
    const at = new Date(beganMs + set * setMs);
    const size = Math.min(recordsPerSet, count - set * recordsPerSet);
    const changes = Array.from({ length: size }, () => makeChange(deskId, at));
    const actor = actors[set % actors.length] ?? { kind: "worker", id: "bench", requestId: null };
    await db.transaction((tx) => recordChanges(tx, actor, changes, at));
    const isSampled = set % Math.ceil(sets / 10) === 0;
    if (isSampled) samples.push({ entityId: changes[0]?.entity.id ?? "", at });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { rows } = await db.pool.query<{ bytes: string }>(
    "select pg_database_size(current_database()) as bytes",
  );
  await db.close();
  return { perSecond: Math.round(count / seconds), bytes: Number(rows[0]?.bytes), samples };
}

function makeChange(deskId: string, at: Date): Change {
  const id = newId("ord", at);
  const shown = { order_id: id, face_paise: 25_000_000, status: "matched" };
  return {
    environment: "sandbox",
    deskId,
    firmId: deskId,
    action: "order.place",
    entity: { type: "order", id, version: 1, href: `/v1/orders/${id}` },
    after: shown,
    event: { name: "order.matched", from: null, to: "matched", data: shown },
  };
}
