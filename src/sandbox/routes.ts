import { toCall, takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { advanceClock, type TimeHooks } from "./advance-clock.ts";
import { type ResetHooks, resetSandbox, seedSandbox, setScenario } from "./reset-sandbox.ts";
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

export function sandboxRoutes(
  app: App,
  ctx: Context,
  {
    settlementHooks,
    timeHooks,
  }: { readonly settlementHooks: ResetHooks; readonly timeHooks: TimeHooks },
): void {
  app.post(
    "/v1/sandbox/clock",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "advanceClock",
        tags: ["Sandbox"],
        summary: "Let time pass for your desk",
        description:
          "Every deadline of your desk comes nearer by that much: of quotes, resting orders, " +
          "crosses, settlements, payouts, holds and credits. The market and other desks stay in their own " +
          "time, and so do the times on what has happened. A clock is at most ten years ahead of real " +
          "time; what is made while it is put forward keeps its deadlines.",
        body: AdvanceClockBody,
        response: { 200: DeskClock },
      },
    },
    async (request, reply) =>
      await advanceClock(contextFor(ctx, request.caller), toCall(request, reply), {
        command: request.body,
        timeHooks,
      }),
  );

  app.post(
    "/v1/sandbox/scenarios",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "setScenario",
        tags: ["Sandbox"],
        summary: "Choose what happens to what your desk does next",
        description:
          "It happens once, to the first settlement or payout that it fits. A market that is " +
          "halted stays so, for your desk's quotes alone, until it is opened or the desk is reset.",
        body: SetScenarioBody,
        response: { 200: ScenarioList },
      },
    },
    async (request, reply) =>
      await setScenario(contextFor(ctx, request.caller), toCall(request, reply), request.body),
  );

  app.post(
    "/v1/sandbox/credits::seed",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "seedSandbox",
        tags: ["Sandbox"],
        summary: "Get synthetic credits to try things with",
        description:
          "Gives a firm synthetic credits, so that there is something to trade. The same seed makes the same faces and days.",
        body: SeedCreditsBody,
        response: { 200: SeededCredits },
      },
    },
    async (request, reply) =>
      await seedSandbox(contextFor(ctx, request.caller), toCall(request, reply), request.body),
  );

  app.post(
    "/v1/sandbox/reset",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "resetSandbox",
        tags: ["Sandbox"],
        summary: "Let go of everything that is open on your desk",
        description:
          "Resting orders are cancelled, open settlements fail, free credits are withdrawn. What " +
          "has happened stays: the books and the events are only ever added to.",
        body: NoFields,
        response: { 200: ResetDone },
      },
    },
    async (request, reply) =>
      await resetSandbox(contextFor(ctx, request.caller), toCall(request, reply), settlementHooks),
  );
}
