import { recordChanges } from "../events/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { istMonth, istTimestamp, nextIstMonthStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { insertNotices, type Notice } from "./store.ts";

/** At how much of its monthly quota a key's desk is told, in percent; at the last no call is left. */
export const thresholds = [80, 100] as const;

const setSizeMax = 200;
const worker: Actor = { kind: "worker", id: "usage", requestId: null };

/** Tells each desk once a month of each mark that a key of it has reached. */
export async function tellThresholds({
  db,
  now,
}: Pick<Context, "db" | "now">): Promise<"more" | "idle"> {
  const instant = now();
  return await db.transaction(async (tx) => {
    const month = istMonth(instant);
    const reached = await insertNotices(tx, { month, thresholds, limit: setSizeMax }, instant);
    const changes = reached.map((notice) => tellReached(notice, instant));
    if (changes.length > 0) await recordChanges(tx, worker, changes, instant);
    return reached.length === setSizeMax ? "more" : "idle";
  });
}

function tellReached(notice: Notice, now: Date): Change {
  const { environment, desk_id, firm_id, key_id, key_version, month } = notice;
  const data = {
    key_id,
    month,
    threshold_percent: notice.percent,
    quota: notice.quota,
    quota_used: notice.calls,
    quota_resets_at: istTimestamp(nextIstMonthStart(now)),
  };
  return {
    environment,
    deskId: desk_id,
    firmId: firm_id,
    action: "usage.threshold",
    entity: { type: "key", id: key_id, version: key_version, href: "/v1/usage" },
    before: null,
    after: data,
    event: { name: "usage.threshold", from: null, to: null, data },
  };
}
