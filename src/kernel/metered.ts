/** The result of metering one call: the headers of its response, and part of GET /v1/usage. */
export type Metered = {
  readonly admitted: boolean;
  readonly plan: string;
  /** Calls allowed per 60-second window. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window is empty. */
  readonly reset: number;
  /** Calls allowed per month; undefined for a key that is not metered. */
  readonly quota: number | undefined;
  readonly quotaUsed: number;
  /** Seconds until the quota begins anew; where it is what refuses. */
  readonly quotaReset?: number;
};
