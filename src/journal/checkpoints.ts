// Where each desk's chain stands, signed and told to the desk: once a day, when the day before is over,
// and with every export. A checkpoint is itself recorded, so a chain that grew by nothing else is not
// told again.

import type { Actor, Change } from "../kernel/actor.ts";
import { type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { LineSink } from "../platform/line-sink.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { checkpointLine, nothingBefore, readCheckpoint } from "./audit-rules.ts";
import {
  type CheckpointRow,
  countUnsent,
  type DeskHead,
  insertCheckpoints,
  listDue,
  listUnsent,
  setSent,
} from "./checkpoint-store.ts";
import { recordChanges } from "./record-changes.ts";

const madeAtOnceMax = 200;
const worker: Actor = { kind: "worker", id: "checkpoints", requestId: null };

type Making = Pick<Context, "db" | "now" | "auditKey">;

/** A worker that makes the day's checkpoints and then asks nothing until the next day. */
export function dailyCheckpoints(ctx: Making): () => Promise<"more" | "idle"> {
  let done: IstDay | undefined;
  return async () => {
    const now = ctx.now();
    const today = istDay(now);
    if (done === today) return "idle";
    const due = await listDue(ctx.db, today, madeAtOnceMax);
    const rows = due.map((head) => signHead(ctx, head, now));
    if (rows.length > 0) await ctx.db.transaction(async (tx) => await keep(tx, rows, now));
    if (due.length === madeAtOnceMax) return "more";
    done = today;
    return "idle";
  };
}

/** Keeps the checkpoint that an export ended with, and tells it; an empty chain has none. */
export async function keepExported(ctx: Making, line: string): Promise<void> {
  const { environment, desk_id, last_seq: seq } = readCheckpoint(line);
  if (seq === 0) return;
  const row = { environment, desk_id, seq, line: line.trimEnd() };
  await ctx.db.transaction(async (tx) => await keep(tx, [row], ctx.now()));
}

function signHead(
  { auditKey }: Pick<Making, "auditKey">,
  head: DeskHead,
  now: Date,
): CheckpointRow {
  const { environment, desk_id, seq, hash } = head;
  const whole = { count: seq, first_seq: 1, last_seq: seq, prev_hash: nothingBefore };
  const told = { environment, desk_id, ...whole, head_hash: hash, at: istTimestamp(now) };
  return { environment, desk_id, seq, line: checkpointLine(told, auditKey).trimEnd() };
}

async function keep(tx: Tx, rows: readonly CheckpointRow[], now: Date): Promise<void> {
  const kept = await insertCheckpoints(tx, rows, { today: istDay(now), now });
  const changes = rows
    .filter(({ environment, desk_id }) =>
      kept.some((one) => one.environment === environment && one.desk_id === desk_id),
    )
    .map(tellCheckpoint);
  if (changes.length > 0) await recordChanges(tx, worker, changes, now);
}

function tellCheckpoint({ environment, desk_id, seq, line }: CheckpointRow): Change {
  const { head_hash, public_key, signature } = readCheckpoint(line);
  const data = { seq, hash: head_hash, public_key, signature, checkpoint: line };
  return {
    environment,
    deskId: desk_id,
    firmId: desk_id,
    action: "audit.checkpoint",
    entity: { type: "audit", id: desk_id, version: 1, href: "/v1/audit" },
    before: null,
    after: { seq, hash: head_hash },
    event: { name: "audit.checkpoint", from: null, to: null, data },
  };
}

const sentAtOnceMax = 500;

/**
 * Takes what was not taken out yet to the place the operator named. A line may arrive twice, after a
 * crash or from two processes, and says the same both times; a place that is away is tried again.
 */
export async function sendCheckpoints(
  { db, now }: Pick<Context, "db" | "now">,
  sink: LineSink | undefined,
): Promise<"more" | "idle"> {
  if (!sink) return "idle";
  const rows = await listUnsent(db, sentAtOnceMax);
  if (rows.length === 0) return "idle";
  await sink.append(rows.map(({ line }) => line));
  await setSent(db, rows, now());
  return rows.length === sentAtOnceMax ? "more" : "idle";
}

/** For the metrics: how many wait for the place to be back. */
export async function countWaiting({ db }: Pick<Context, "db">): Promise<number> {
  return await countUnsent(db);
}
