import type { Context } from "../platform/context.ts";
import type { DeliveryState } from "./rules.ts";
import { type AttemptRow, type QueueNews, settleAttempts } from "./store.ts";

/** An attempt that was made, and what becomes of its delivery. */
export type Made = {
  readonly webhookId: string;
  readonly attempt: AttemptRow;
  readonly state: DeliveryState;
  /** When it is tried again; only of what stays pending. */
  readonly dueAt: Date | null;
};

/** Since when each receiver of the set has been failing; those that are not are left out. */
export type FailingSince = ReadonlyMap<string, Date>;

/** Doing this again does nothing more: an attempt is kept once, and its lease settles once. */
export async function recordAttempts(
  ctx: Pick<Context, "db" | "now">,
  made: readonly Made[],
): Promise<FailingSince> {
  const now = ctx.now();
  const rows = made
    .map(({ attempt, state, dueAt }) => ({ ...attempt, state, due_at: dueAt ?? now }))
    .toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  const queues = await settleAttempts(ctx.db, { made: rows, news: newsOf(made), now });
  return new Map(
    queues.flatMap(({ webhook_id, failing_since }) =>
      failing_since ? [[webhook_id, failing_since] as const] : [],
    ),
  );
}

function newsOf(made: readonly Made[]): QueueNews[] {
  const news = new Map<string, QueueNews>();
  for (const { webhookId, attempt, dueAt } of made) {
    const before = news.get(webhookId);
    const succeeded = attempt.outcome === "delivered";
    news.set(webhookId, {
      webhookId,
      dueAt: earlier(before?.dueAt ?? null, dueAt),
      succeeded, // The last one counts.
      failed: (before?.failed ?? false) || !succeeded,
    });
  }
  return [...news.values()];
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a < b ? a : b;
}
