import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Context } from "../platform/context.ts";
import { deleteForgotten } from "./store.ts";
import { changeOfEnquiry } from "./view-enquiry.ts";

const setSizeMax = 500;
const retention: Actor = { kind: "worker", id: "retention", requestId: null };

/** Deletes enquiries whose time has come, whole; what stays is that there was one. */
export async function forgetEnquiries({ db, now }: Context): Promise<"more" | "idle"> {
  const instant = now();
  return await db.transaction(async (tx) => {
    const gone = await deleteForgotten(tx, instant, setSizeMax);
    const changes = gone.map((before) => changeOfEnquiry("forgotten", { before, after: null }));
    await recordChanges(tx, retention, changes, instant);
    return gone.length === setSizeMax ? "more" : "idle";
  });
}
