// Checkpoints: the signed head of each desk's chain, sent to the desk as an event once a day and with
// every export. A checkpoint adds a record to the chain; a chain that has grown by only that record
// gets no new checkpoint.

import type { Actor, Change } from "../kernel/actor.ts";
import { type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { LineSink } from "../platform/line-sink.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { genesisHash, readCheckpoint, writeCheckpoint } from "./audit-rules.ts";
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

type CheckpointContext = Pick<Context, "db" | "now" | "auditKey">;

/** Makes the day's checkpoints, then sends no statement until the next day. */
export function createCheckpointWorker(ctx: CheckpointContext): () => Promise<"more" | "idle"> {
  let done: IstDay | undefined;
  return async () => {
    const now = ctx.now();
    const today = istDay(now);
    if (done === today) return "idle";
    const due = await listDue(ctx.db, today, madeAtOnceMax);
    const rows = due.map((head) => signHead(ctx, head, now));
    if (rows.length > 0)
      await ctx.db.transaction(async (tx) => await storeCheckpoints(tx, rows, now));
    if (due.length === madeAtOnceMax) return "more";
    done = today;
    return "idle";
  };
}

/** Stores the checkpoint at the end of an export and sends its event; an empty chain has none. */
export async function storeExportCheckpoint(ctx: CheckpointContext, line: string): Promise<void> {
  const { environment, desk_id, last_seq: seq } = readCheckpoint(line);
  if (seq === 0) return;
  const row = { environment, desk_id, seq, line: line.trimEnd() };
  await ctx.db.transaction(async (tx) => await storeCheckpoints(tx, [row], ctx.now()));
}

function signHead(
  { auditKey }: Pick<CheckpointContext, "auditKey">,
  head: DeskHead,
  now: Date,
): CheckpointRow {
  const { environment, desk_id, seq, hash } = head;
  const whole = { count: seq, first_seq: 1, last_seq: seq, prev_hash: genesisHash };
  const told = { environment, desk_id, ...whole, head_hash: hash, at: istTimestamp(now) };
  return { environment, desk_id, seq, line: writeCheckpoint(told, auditKey).trimEnd() };
}

async function storeCheckpoints(tx: Tx, rows: readonly CheckpointRow[], now: Date): Promise<void> {
  const kept = await insertCheckpoints(tx, rows, { today: istDay(now), now });
  const changes = rows
    .filter(({ environment, desk_id }) =>
      kept.some((one) => one.environment === environment && one.desk_id === desk_id),
    )
    .map(describeCheckpoint);
  if (changes.length > 0) await recordChanges(tx, worker, changes, now);
}

function describeCheckpoint({ environment, desk_id, seq, line }: CheckpointRow): Change {
  const { head_hash, public_key, signature } = readCheckpoint(line);
  const data = { seq, hash: head_hash, public_key, signature, checkpoint: line };
  return {
    environment,
    deskId: desk_id,
    firmId: desk_id,
    action: "audit.checkpoint",
    entity: { type: "audit", id: desk_id, version: 1, href: "/v1/audit" },
    after: { seq, hash: head_hash },
    event: { name: "audit.checkpoint", from: null, to: null, data },
  };
}

const sentAtOnceMax = 500;

/**
 * Appends unsent checkpoints to the operator's sink. A line may arrive twice, after a crash or from
 * two processes, and is the same both times. A sink that fails is tried again at the next run.
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

/** For the metrics. */
export async function countUnsentCheckpoints({ db }: Pick<Context, "db">): Promise<number> {
  return await countUnsent(db);
}
