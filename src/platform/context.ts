import type { KeyObject } from "node:crypto";

import type { FastifyBaseLogger } from "fastify";

import type { Environment } from "../kernel/caller.ts";
import type { Heavy } from "./heavy/kinds.ts";
import type { Database } from "./postgres/postgres.ts";
import type { Replica } from "./postgres/replica.ts";

/** The first argument of every use case. */
export type Context = {
  readonly db: Database;
  /** A standby that may answer what decides nothing (`readAtReplica`). */
  readonly replica?: Replica | undefined;
  readonly now: () => Date;
  readonly log: FastifyBaseLogger;
  /** Signs cursors; derived from the master key. */
  readonly cursorKey: Buffer;
  /** Encrypts values at rest; derived from the master key. */
  readonly sealKey: Buffer;
  /** Signs exports of the audit trail; derived from the master key. */
  readonly auditKey: KeyObject;
  /** Runs work in threads that would block the event loop. */
  readonly heavy: Heavy;
};

const sandboxContexts = new WeakMap<object, unknown>();

/** The same context for one environment: the sandbox has fewer connections. */
export function contextFor<Ctx extends Pick<Context, "db" | "replica">>(
  ctx: Ctx,
  { environment }: { readonly environment: Environment },
): Ctx {
  if (environment === "live") return ctx;
  const known = sandboxContexts.get(ctx) as Ctx | undefined;
  if (known) return known;
  const made = { ...ctx, db: ctx.db.for(environment), replica: ctx.replica?.for(environment) };
  sandboxContexts.set(ctx, made);
  return made;
}
