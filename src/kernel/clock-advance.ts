import type { Environment } from "./caller.ts";

/**
 * An advance of one sandbox desk's clock. It moves the desk's deadlines earlier; the clock of the
 * service, which all desks and their market share, does not change.
 */
export type ClockAdvance = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly seconds: number;
  /** The number of midnights passed, for deadlines that are days. */
  readonly days: number;
  readonly now: Date;
};
