import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, operator, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { parseInstant } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { findVisibleWebhook } from "./read-webhooks.ts";
import { deliveriesTopic } from "./fan-out.ts";
import { replayedMax, replayedPerSecond } from "./delivery-rules.ts";
import type { Replay, ReplayBody } from "./schema.ts";
import {
  countReplayable,
  lockReplayable,
  type ReplayableRow,
  type ReplayFilter,
} from "./delivery-lists-store.ts";
import { lowerNextDue, setReplayed } from "./delivery-store.ts";

/** Sends dead letters again, with the same id and bytes, from the start of the retry schedule. */
export async function replayDeliveries(
  ctx: Context,
  call: Call,
  body: ReplayBody,
): Promise<Replay> {
  const { delivery_ids: deliveryIds, webhook_id: webhookId } = body;
  const [since, until] = [parseOptionalInstant(body.since), parseOptionalInstant(body.until)];
  refuseUnclear(body, { since, until });
  if (webhookId !== undefined) await findVisibleWebhook(ctx.db, call.caller, webhookId);
  const filter: ReplayFilter = {
    ...visibleTo(call.caller),
    deliveryIds: deliveryIds?.filter((id) => isId("dlv", id)) ?? null,
    webhookId: webhookId ?? null,
    event: body.event ?? null,
    since: since ?? null,
    until: until ?? null,
  };
  const named = deliveryIds && new Set(deliveryIds).size;
  return await replay(ctx, toActor(call), { filter, named, rollBack: call.dryRun });
}

/** Replays dead letters of any desk, for the operator. */
export async function replayAsOperator(
  ctx: Context,
  {
    webhookId,
    deliveryId,
    event,
  }: { webhookId: string | null; deliveryId: string | null; event: string | null },
  actor = operator,
): Promise<Replay> {
  const filter: ReplayFilter = {
    deskId: null,
    firmId: null,
    deliveryIds: deliveryId === null ? null : [deliveryId],
    webhookId,
    event,
    since: null,
    until: null,
  };
  const named = deliveryId === null ? undefined : 1;
  return await replay(ctx, actor, { filter, named, rollBack: false });
}

async function replay(
  ctx: Context,
  actor: Actor,
  {
    filter,
    named,
    rollBack,
  }: { filter: ReplayFilter; named: number | undefined; rollBack: boolean },
): Promise<Replay> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const total = await countReplayable(tx, filter);
      const dead = await lockReplayable(tx, filter, replayedMax);
      if (dead.length > 0) await queueReplays(tx, dead, now);
      await recordChanges(tx, actor, describeReplays(dead), now);
      return {
        queued: dead.length,
        skipped:
          total.disabled + (named === undefined ? 0 : named - total.replayable - total.disabled),
        remaining: Math.max(0, total.replayable - dead.length),
      };
    },
    { rollBack },
  );
}

/** Spaces out the replays of one receiver. */
async function queueReplays(tx: Tx, dead: readonly ReplayableRow[], now: Date): Promise<void> {
  const counts = new Map<string, number>();
  const paced = dead.map(({ delivery_id, webhook_id }) => {
    const place = counts.get(webhook_id) ?? 0;
    counts.set(webhook_id, place + 1);
    const dueAt = new Date(now.getTime() + (place * 1_000) / replayedPerSecond);
    return { deliveryId: delivery_id, dueAt };
  });
  await setReplayed(tx, paced, now);
  await lowerNextDue(tx, [...counts.keys()].toSorted(), now);
  tx.announce(deliveriesTopic);
}

function describeReplays(dead: readonly ReplayableRow[]): Change[] {
  return dead.map((row) => ({
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id ?? row.desk_id,
    action: "delivery.replay",
    entity: {
      type: "delivery",
      id: row.delivery_id,
      version: row.version + 1,
      href: `/v1/webhooks/${row.webhook_id}/deliveries`,
    },
    before: { status: "dead" },
    after: { status: "pending" },
  }));
}

function parseOptionalInstant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : parseInstant(text);
}

function refuseUnclear(
  body: ReplayBody,
  { since, until }: { since: Date | undefined; until: Date | undefined },
): void {
  const problems: FieldProblem[] = [];
  const others = [body.webhook_id, body.event, body.since, body.until];
  if (body.delivery_ids && others.some((value) => value !== undefined)) {
    problems.push({ path: "delivery_ids", problem: "is given alone, without other filters" });
  }
  for (const [path, text, instant] of [
    ["since", body.since, since],
    ["until", body.until, until],
  ] as const) {
    if (text !== undefined && !instant) {
      problems.push({ path, problem: "must be ISO 8601 with an offset" });
    }
  }
  if (problems.length > 0) throw unprocessable(...problems);
}
