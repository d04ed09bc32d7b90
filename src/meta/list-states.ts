import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { StateTables } from "./schema.ts";

export function listStates(lifecycles: readonly Lifecycle[]): StateTables {
  return {
    lifecycles: lifecycles.map(({ noun, initial, states, moves }) => ({
      noun,
      initial: [...initial],
      states: [...states],
      moves: Object.entries(moves).map(([action, { from, to, by = "caller" }]) => ({
        action,
        from: [...from],
        to,
        by,
      })),
    })),
  };
}
