// Scenarios: outcomes that a sandbox desk sets for its next settlement or payout, to test its own
// code. Each applies once; a halted market stays halted for the desk until it is opened, and a desk does
// its tasks itself until it is reset.

/** For the next settlement that goes to customs: what customs answers. */
export const transferScenarios = [
  "transfer_timeout",
  "transfer_refused",
  "credit_suspended",
  "wrong_iec",
] as const;

/** For the next settlement that is funded: what its simulated parties do not do, or not in time. */
export const partyScenarios = ["never_initiates", "never_accepts", "accepts_late"] as const;

/** For all settlements of the desk: its own firms do their tasks themselves, until the reset. */
export const taskScenario = "tasks_manual";

/** For the next payout that is sent. */
export const payoutScenarios = ["payout_returned"] as const;

/** For all quotes of the desk: none while its market is halted. */
const marketScenarios = ["market_halt", "market_open"] as const;

export const scenarios = [
  ...transferScenarios,
  ...partyScenarios,
  taskScenario,
  ...payoutScenarios,
  ...marketScenarios,
] as const;

export type Scenario = (typeof scenarios)[number];
export type TransferScenario = (typeof transferScenarios)[number];
/** What a settlement of the sandbox is carried out under. */
export type DealScenario = TransferScenario | (typeof partyScenarios)[number];
export type PayoutScenario = (typeof payoutScenarios)[number];
