import type { KeyObject } from "node:crypto";

import type { FastifyBaseLogger } from "fastify";

import type { Environment } from "../kernel/caller.ts";
import type { Heavy } from "./heavy/kinds.ts";
import type { Database } from "./postgres/postgres.ts";

/** The first argument of every use case. */
export type Context = {
  readonly db: Database;
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
export function contextFor<Ctx extends Pick<Context, "db">>(
  ctx: Ctx,
  { environment }: { readonly environment: Environment },
): Ctx {
  if (environment === "live") return ctx;
  const known = sandboxContexts.get(ctx) as Ctx | undefined;
  if (known) return known;
  const made = { ...ctx, db: ctx.db.for(environment) };
  sandboxContexts.set(ctx, made);
  return made;
}
