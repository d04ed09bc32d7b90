// Where each desk's chain stands, signed and told to the desk: once a day, when the day before is over,
// and with every export. A checkpoint is itself recorded, so a chain that grew by nothing else is not
// told again.

import { checkpointLine, nothingBefore, readCheckpoint } from "../audit/rules.ts";
import { recordChanges } from "../events/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { type CheckpointRow, type DeskHead, insertCheckpoints, listDue } from "./store.ts";

const setSizeMax = 200;
const worker: Actor = { kind: "worker", id: "checkpoints", requestId: null };

type Making = Pick<Context, "db" | "now" | "auditKey">;

/** A worker that makes the day's checkpoints and then asks nothing until the next day. */
export function dailyCheckpoints(ctx: Making): () => Promise<"more" | "idle"> {
  let done: IstDay | undefined;
  return async () => {
    const now = ctx.now();
    const today = istDay(now);
    if (done === today) return "idle";
    const due = await listDue(ctx.db, today, setSizeMax);
    const rows = due.map((head) => signHead(ctx, head, now));
    if (rows.length > 0) await ctx.db.transaction(async (tx) => await keep(tx, rows, now));
    if (due.length === setSizeMax) return "more";
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
