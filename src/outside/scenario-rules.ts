// Scenarios: outcomes that a sandbox desk sets for its next settlement or payout, to test its own
// code. Each applies once; a halted market stays halted for the desk until it is opened.

/** For the next settlement that goes to customs. */
export const transferScenarios = [
  "transfer_timeout",
  "transfer_refused",
  "credit_suspended",
] as const;

/** For the next payout that is sent. */
export const payoutScenarios = ["payout_returned"] as const;

/** For all quotes of the desk: none while its market is halted. */
export const marketScenarios = ["market_halt", "market_open"] as const;

export const scenarios = [...transferScenarios, ...payoutScenarios, ...marketScenarios] as const;

export type Scenario = (typeof scenarios)[number];
export type TransferScenario = (typeof transferScenarios)[number];
export type PayoutScenario = (typeof payoutScenarios)[number];
