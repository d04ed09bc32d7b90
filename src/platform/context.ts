import type { KeyObject } from "node:crypto";

import type { FastifyBaseLogger } from "fastify";

import type { Heavy } from "./heavy/kinds.ts";
import type { Database } from "./postgres.ts";

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
