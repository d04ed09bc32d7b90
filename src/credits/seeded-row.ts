import type { Environment } from "../kernel/caller.ts";
import type { IstDay } from "../kernel/time.ts";
import { expiryDueOn, warningOf } from "./rules.ts";
import type { CreditRow } from "./store.ts";
import type { SyntheticCredit } from "./synthetic-credits.ts";

/** A synthetic credit as a firm's holding, without the id that it gets. */
export function seededRow(
  { suspended, ...facts }: SyntheticCredit,
  {
    environment,
    deskId,
    firmId,
    today,
    now,
  }: {
    readonly environment: Environment;
    readonly deskId: string;
    readonly firmId: string;
    readonly today: IstDay;
    readonly now: Date;
  },
): Omit<CreditRow, "credit_id"> {
  // Warnings that would have been given by today count as given, so that a seed tells nobody.
  const told = warningOf(facts.expires_on, today) ?? null;
  return {
    ...facts,
    environment,
    desk_id: deskId,
    firm_id: firmId,
    state: suspended ? "suspended" : "listed",
    state_before_suspension: suspended ? "listed" : null,
    reserved_for: null,
    reason: suspended ? "seeded" : null,
    as_of: now,
    expiry_told: told,
    expiry_due_on: expiryDueOn(facts.expires_on, told),
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
