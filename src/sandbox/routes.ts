import { type Operation, operation } from "../platform/http/operation.ts";
import { advanceClock, type TimeHooks } from "./advance-clock.ts";
import { resetSandbox, seedSandbox, setScenario } from "./reset-sandbox.ts";
import {
  AdvanceClockBody,
  DeskClock,
  NoFields,
  ResetDone,
  ScenarioList,
  SeedCreditsBody,
  SeededCredits,
  SetScenarioBody,
} from "./schema.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly timeHooks: TimeHooks;
  }
}

const acting = { method: "POST", demand: "orders:write", tag: "Sandbox" } as const;

export const sandboxOperations: readonly Operation[] = [
  operation({
    id: "advanceClock",
    path: "/v1/sandbox/clock",
    ...acting,
    summary: "Let time pass for your desk",
    description:
      "Every deadline of your desk comes nearer by that much: of quotes, resting orders, " +
      "crosses, settlements, payouts, holds and credits. The market and other desks stay in their own " +
      "time, and so do the times on what has happened. A clock is at most ten years ahead of real " +
      "time; what is made while it is put forward keeps its deadlines.",
    body: AdvanceClockBody,
    answer: DeskClock,
    run: (call, command) =>
      advanceClock(call.ctx, call, { command, timeHooks: call.wiring.timeHooks }),
  }),
  operation({
    id: "setScenario",
    path: "/v1/sandbox/scenarios",
    ...acting,
    summary: "Choose what happens to what your desk does next",
    description:
      "It happens once, to the first settlement or payout that it fits. A market that is " +
      "halted stays so, for your desk's quotes alone, until it is opened or the desk is reset.",
    body: SetScenarioBody,
    answer: ScenarioList,
    run: (call, body) => setScenario(call.ctx, call, body),
  }),
  operation({
    id: "seedSandbox",
    path: "/v1/sandbox/credits::seed",
    ...acting,
    summary: "Get synthetic credits to try things with",
    description:
      "Gives a firm synthetic credits, so that there is something to trade. The same seed makes the same faces and days.",
    body: SeedCreditsBody,
    answer: SeededCredits,
    run: (call, body) => seedSandbox(call.ctx, call, body),
  }),
  operation({
    id: "resetSandbox",
    path: "/v1/sandbox/reset",
    ...acting,
    summary: "Let go of everything that is open on your desk",
    description:
      "Resting orders are cancelled, open settlements fail, free credits are withdrawn. What " +
      "has happened stays: the books and the events are only ever added to.",
    body: NoFields,
    takesNoBody: true,
    answer: ResetDone,
    run: (call) => resetSandbox(call.ctx, call, call.wiring.settlementHooks),
  }),
];
