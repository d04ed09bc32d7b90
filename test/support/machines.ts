// Machines of a service with two admins: the first proposes them, the second is shown the token.

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import type { MachinePermission } from "../../src/operators/machine-rules.ts";
import { addMachine } from "../../src/operators/machines.ts";
import { addPerson, type TestPerson } from "./people.ts";
import type { Service } from "./service.ts";

export type MachineAsked = {
  readonly name?: string;
  readonly permissions?: readonly MachinePermission[];
  readonly networks?: readonly string[];
  readonly dayLimitPaise?: number;
  readonly days?: number;
};

/** Adds a machine with the word of both admins; its token. */
export async function addTestMachine(
  { ctx, clock }: Pick<Service, "ctx" | "clock">,
  [first, second]: readonly [TestPerson, TestPerson],
  {
    name = "night-run",
    permissions = ["read", "bank.write"],
    networks = ["127.0.0.1"],
    dayLimitPaise = 10_000_000,
    days = 30,
  }: MachineAsked = {},
): Promise<string> {
  const { approval_id: approvalId = "" } = await addMachine(ctx, first.actor, {
    name,
    permissions,
    networks,
    day_limit_paise: dayLimitPaise,
    expires_at: new Date(clock.now().getTime() + days * 86_400_000),
  });
  const { answer } = await approveProposal(ctx, second.actor, { approvalId, kinds: approvalKinds });
  return (answer as { readonly token: string }).token; // What adding a machine answers.
}

export async function addTwoAdmins(service: Service): Promise<[TestPerson, TestPerson]> {
  const first = await addPerson(service, { name: "asha", role: "admin" });
  const second = await addPerson(service, { name: "ravi", role: "admin", by: [first] });
  return [first, second];
}
