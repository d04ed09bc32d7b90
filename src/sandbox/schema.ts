import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { body, closedEnum, openEnum, text, timestamp } from "../platform/http/wire.ts";
import { scenarios } from "../outside/scenario-rules.ts";

export const NoFields = body({});

export const SetScenarioBody = body({
  scenario: closedEnum(scenarios, {
    description:
      "transfer_timeout: customs says nothing before the deadline, and then that nothing is pending. " +
      "transfer_refused: it refuses. credit_suspended: it " +
      "suspends the credit. payout_returned: the bank sends the money back. market_halt: you get no " +
      "quotes until market_open.",
  }),
});
export type SetScenarioBody = Static<typeof SetScenarioBody>;

export const ScenarioList = Type.Object(
  {
    scenarios: Type.Array(openEnum(scenarios, "What is to happen."), {
      description: "What has been set and has not happened yet, in the order it was set.",
    }),
  },
  { title: "ScenarioList" },
);
export type ScenarioList = Static<typeof ScenarioList>;

const seedCountMax = 500;

export const SeedCreditsBody = body({
  firm_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The firm of your desk that gets them; the key's own when absent.",
    }),
  ),
  count: Type.Integer({
    minimum: 1,
    maximum: seedCountMax,
    description: "How many credits.",
    examples: [20],
  }),
  scheme: Type.Optional(
    closedEnum(schemes, { description: "All of this scheme; mixed when absent." }),
  ),
  seed: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The same text makes the same credits for a firm; other credits otherwise.",
    }),
  ),
});
export type SeedCreditsBody = Static<typeof SeedCreditsBody>;

export const SeededCredits = Type.Object(
  {
    firm_id: text("The id of the firm that holds them."),
    scrip_nos: Type.Array(Type.String(), { description: "The credits' numbers." }),
  },
  { title: "SeededCredits" },
);
export type SeededCredits = Static<typeof SeededCredits>;

export const ResetDone = Type.Object(
  {
    orders_cancelled: Type.Integer({
      description: "The number of resting orders that were cancelled.",
      examples: [1],
    }),
    crosses_ended: Type.Integer({
      description: "Your proposals, and open crosses among your firms.",
      examples: [1],
    }),
    settlements_failed: Type.Integer({
      description: "Open settlements among your firms and with the house.",
      examples: [1],
    }),
    credits_withdrawn: Type.Integer({ description: "Credits that no deal had.", examples: [1] }),
  },
  { title: "SandboxReset" },
);
export type ResetDone = Static<typeof ResetDone>;

/** Two years, the life of a credit. */
const advanceMaxS = 63_158_400;

export const AdvanceClockBody = body({
  advance_s: Type.Integer({
    minimum: 1,
    maximum: advanceMaxS,
    description:
      "By how many seconds your desk's clock goes forward. It never goes back, but for a reset, and is at most ten years ahead.",
    examples: [86_400],
  }),
});
export type AdvanceClockBody = Static<typeof AdvanceClockBody>;

const nearer = (what: string) => Type.Integer({ description: what, examples: [1] });

export const DeskClock = Type.Object(
  {
    clock: timestamp("What your desk's clock shows."),
    ahead_s: Type.Integer({
      description: "How far it is ahead of the service's, in all, since the last reset.",
      examples: [86_400],
    }),
    brought_nearer: Type.Object(
      {
        orders: nearer("Orders that rest until a given time."),
        quotes: nearer("Quotes that can still be ordered on."),
        crosses: nearer("Your proposals, and open crosses among your firms."),
        settlements: nearer("Open settlements among your firms and with the house."),
        payouts: nearer("Payouts that have not been sent."),
        holds: nearer("The number of holds on your firms' payouts."),
        credits: nearer("Credits, by whole days."),
        requirements: nearer("What your firms will have to pay, by whole days."),
      },
      { description: "What ends sooner by that much: how many of each." },
    ),
  },
  { title: "DeskClock" },
);
export type DeskClock = Static<typeof DeskClock>;
