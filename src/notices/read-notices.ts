import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { measureLabelled, type Metrics, measureOnDemand } from "../platform/metrics.ts";
import { findAddress } from "./address-store.ts";
import { noticesTopic } from "./queue-notices.ts";
import { findBacklog, listNoticeRows, lockNotice, type NoticeFilter, setWaiting } from "./store.ts";

/** Notices of every desk and person, newest first, for the operator. */
export async function listNotices(
  { db }: Pick<Context, "db">,
  filter: Partial<NoticeFilter> & Pick<NoticeFilter, "limit">,
) {
  const all = {
    environment: null,
    deskId: null,
    state: null,
    occasion: null,
    from: null,
    to: null,
    before: null,
  };
  return (await listNoticeRows(db.planned, { ...all, ...filter })).map((row) => ({
    notice_id: row.notice_id,
    environment: row.environment,
    desk_id: row.desk_id,
    occasion: row.occasion,
    email: row.email,
    subject: row.subject,
    events: row.events,
    state: row.state,
    reason: row.reason,
    answer: row.answer,
    attempts: row.attempts,
    due_at: row.state === "waiting" ? row.due_at : null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }));
}

/** Queues a dead notice anew, under the same Message-ID. */
export async function sendNoticeAgain(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  noticeId: string,
): Promise<{ readonly notice_id: string; readonly state: "waiting" }> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [row] = await lockNotice(tx, [noticeId]);
    if (!row) throw new Failure("not_found", `no notice ${noticeId}`);
    const address = await findAddress(tx, row.address_id);
    if (row.state !== "dead" || !address || address.removed_at) {
      const state = address?.removed_at ? "dropped" : row.state;
      throw new Failure(
        "conflict",
        "only a dead notice to an address that is there is sent again",
        {
          detail: { reason: "notice_not_dead", state },
        },
      );
    }
    await setWaiting(tx, noticeId, now);
    tx.announce(noticesTopic);
    const change = {
      environment: row.environment,
      deskId: row.desk_id,
      firmId: row.desk_id,
      action: "notice.send_again",
      entity: {
        type: "notice",
        id: noticeId,
        version: row.version + 1,
        href: `/ops/notices/${noticeId}`,
      },
      before: { status: "dead" },
      after: { status: "waiting" },
    };
    await recordChanges(tx, actor, [change], now);
    return { notice_id: noticeId, state: "waiting" };
  });
}

/** Counting stops here. */
const countMost = 100_000;

export function measureNotices(ctx: Pick<Context, "db" | "now">, metrics: Metrics): void {
  measureLabelled(metrics, {
    name: "scripdesk_notices",
    help: "Notices by mail that wait, and that were given up",
    labelNames: ["state"],
    read: async () => {
      const { waiting, dead } = await findBacklog(ctx.db, countMost);
      return [
        { labels: { state: "waiting" }, value: waiting },
        { labels: { state: "dead" }, value: dead },
      ];
    },
  });
  measureOnDemand(metrics, {
    name: "scripdesk_notices_waiting_seconds",
    help: "For how long the oldest waiting notice has waited",
    read: async () => {
      const { waiting_since } = await findBacklog(ctx.db, countMost);
      return waiting_since ? (ctx.now().getTime() - waiting_since.getTime()) / 1_000 : 0;
    },
  });
}
