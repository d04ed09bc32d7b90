// What a sandbox desk can have happen to what it does next, so that it sees its own code deal with
// it. Each happens once, but for a market that is halted for the desk until it is opened again.

/** To the next settlement that goes to customs. */
export const transferScenarios = [
  "transfer_timeout",
  "transfer_refused",
  "credit_suspended",
] as const;

/** To the next payout that is sent. */
export const payoutScenarios = ["payout_returned"] as const;

/** To every quote that it asks for: there is none while its market is halted. */
export const marketScenarios = ["market_halt", "market_open"] as const;

export const scenarios = [...transferScenarios, ...payoutScenarios, ...marketScenarios] as const;

export type Scenario = (typeof scenarios)[number];
export type TransferScenario = (typeof transferScenarios)[number];
export type PayoutScenario = (typeof payoutScenarios)[number];
