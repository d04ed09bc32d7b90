import type { Environment } from "./caller.ts";

/**
 * Time that passes for one sandbox desk and for nobody else. The desk's deadlines come nearer by it;
 * the clock of the service, which all desks and their market share, stays as it is.
 */
export type Passage = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly seconds: number;
  /** The midnights in it, for what ends with a day. */
  readonly days: number;
  readonly now: Date;
};
