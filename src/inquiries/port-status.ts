import type { Environment } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { type Inquiry, type Port, ports } from "./rules.ts";
import { deleteOutage, insertOutage, listOpenInquiries, listOutages } from "./store.ts";

export type PortStatus = {
  readonly port: Port;
  readonly state: "up" | "outage";
  readonly since: string | null;
};

export async function portStatus(db: Db, environment: Environment): Promise<PortStatus[]> {
  const outages = await listOutages(db, environment);
  return ports.map((port) => {
    const outage = outages.find((row) => row.port === port);
    return {
      port,
      state: outage ? "outage" : "up",
      since: outage ? istTimestamp(outage.since) : null,
    };
  });
}

export async function isPortUp(db: Db, environment: Environment, port: Port): Promise<boolean> {
  const outages = await listOutages(db, environment);
  return outages.every((outage) => outage.port !== port);
}

/** Open questions wait until the operator says that the port is back. */
export async function setOutage(
  ctx: Pick<Context, "db" | "now">,
  target: { readonly environment: Environment; readonly port: Port },
  note: string | undefined,
): Promise<void> {
  if (note === undefined) await deleteOutage(ctx.db, target);
  else await insertOutage(ctx.db, { ...target, since: ctx.now(), note });
}

export async function openInquiries(
  ctx: Pick<Context, "db">,
  filter: { readonly environment: Environment | null; readonly port: Port | null },
): Promise<Inquiry[]> {
  return await listOpenInquiries(ctx.db, filter);
}
