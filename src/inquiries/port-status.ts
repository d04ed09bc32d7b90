import { recordChanges } from "../events/record-changes.ts";
import { type Change, operator } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/house.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { type Inquiry, type Port, ports } from "./rules.ts";
import {
  deleteOutage,
  findPortAndCalendar,
  insertOutage,
  listOpenInquiries,
  listOutages,
} from "./store.ts";

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

/** The same with the version of the calendar: whoever makes deals needs both, and asks once. */
export async function portAndCalendar(
  db: Db,
  environment: Environment,
  port: Port,
): Promise<{ readonly isUp: boolean; readonly calendarVersion: string }> {
  const { is_up, calendar_version } = await findPortAndCalendar(db, environment, port);
  return { isUp: is_up, calendarVersion: calendar_version };
}

/** Open questions wait until the operator says that the port is back. */
export async function setOutage(
  ctx: Pick<Context, "db" | "now">,
  target: PortOfEnvironment,
  note: string | undefined,
  actor = operator,
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const before = (await listOutages(tx, target.environment)).find(
      (row) => row.port === target.port,
    );
    if (note === undefined) await deleteOutage(tx, target);
    else await insertOutage(tx, { ...target, since: now, note });
    await recordChanges(tx, actor, [changeOfPort(target, before ?? null, note)], now);
  });
}

type PortOfEnvironment = { readonly environment: Environment; readonly port: Port };

/** A port is everybody's, so its changes are on the operator's own desk. */
function changeOfPort(
  { environment, port }: PortOfEnvironment,
  before: object | null,
  note: string | undefined,
): Change {
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: note === undefined ? "port.up" : "port.outage",
    entity: { type: "port", id: port, version: 1, href: `/v1/firms/${house}/connection` },
    before,
    after: note === undefined ? null : { environment, port, note },
  };
}

export async function openInquiries(
  ctx: Pick<Context, "db">,
  filter: { readonly environment: Environment | null; readonly port: Port | null },
): Promise<Inquiry[]> {
  return await listOpenInquiries(ctx.db, filter);
}
