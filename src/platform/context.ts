import type { KeyObject } from "node:crypto";

import type { FastifyBaseLogger } from "fastify";

import type { Environment } from "../kernel/caller.ts";
import type { Heavy } from "./heavy/kinds.ts";
import type { Database } from "./postgres/postgres.ts";

/** What every use case is given first. */
export type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: FastifyBaseLogger;
  /** Signs cursors; made from the master key. */
  readonly cursorKey: Buffer;
  /** Seals what must not be readable at rest; made from the master key. */
  readonly sealKey: Buffer;
  /** Signs exports of the audit trail; made from the master key. */
  readonly auditKey: KeyObject;
  /** Does what would hold the event loop, in threads. */
  readonly heavy: Heavy;
};

const ofSandbox = new WeakMap<object, unknown>();

/** The same context on behalf of one environment, with the connections that it may have. */
export function contextFor<Ctx extends Pick<Context, "db">>(
  ctx: Ctx,
  { environment }: { readonly environment: Environment },
): Ctx {
  if (environment === "live") return ctx;
  const known = ofSandbox.get(ctx) as Ctx | undefined;
  if (known) return known;
  const made = { ...ctx, db: ctx.db.for(environment) };
  ofSandbox.set(ctx, made);
  return made;
}
