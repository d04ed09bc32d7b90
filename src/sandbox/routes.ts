import { callOf, takeNoBodyAsEmpty } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { type Resetting, resetSandbox } from "./reset-sandbox.ts";
import {
  NoFields,
  ResetDone,
  ScenarioList,
  SeedCreditsBody,
  SeededCredits,
  SetScenarioBody,
} from "./schema.ts";
import { seedSandbox } from "./seed-sandbox.ts";
import { setScenario } from "./set-scenario.ts";

export function sandboxRoutes(app: App, ctx: Context, resetting: Resetting): void {
  app.post(
    "/v1/sandbox/scenarios",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "setScenario",
        tags: ["Sandbox"],
        summary: "Choose what happens to your desk's next settlement or payout",
        description: "It happens once, to the first that it fits.",
        body: SetScenarioBody,
        response: { 200: ScenarioList },
      },
    },
    async (request, reply) => await setScenario(ctx, callOf(request, reply), request.body),
  );

  app.post(
    "/v1/sandbox/credits::seed",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "seedSandbox",
        tags: ["Sandbox"],
        summary: "Get synthetic credits to try things with",
        body: SeedCreditsBody,
        response: { 200: SeededCredits },
      },
    },
    async (request, reply) => await seedSandbox(ctx, callOf(request, reply), request.body),
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
    async (request, reply) => await resetSandbox(ctx, callOf(request, reply), resetting),
  );
}
