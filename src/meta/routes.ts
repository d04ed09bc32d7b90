import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { App } from "../platform/http.ts";
import { listStates } from "./list-states.ts";
import { StateTables } from "./schema.ts";

export function metaRoutes(app: App, lifecycles: readonly Lifecycle[]): void {
  app.get(
    "/v1/meta/states",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "listStates",
        tags: ["Meta"],
        summary: "The state tables as data",
        response: { 200: StateTables },
      },
    },
    async () => listStates(lifecycles),
  );
}
