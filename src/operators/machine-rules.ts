// Machines: programs that act on the operators' listener without a person.
//
//   token         shown once, to the admin who approved the machine; stored as a hash
//   permissions   those that were listed, of these only; an operation that acts says that it takes machines
//   networks      where it may call from
//   day limit     what it does alone in 24 hours; what goes beyond waits for a person
//
// A machine approves nothing, and whoever holds its token does not approve what it proposed.

import type { Actor, Permission } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { isEverywhere, parseNetwork } from "../kernel/networks.ts";

/** What a machine can be permitted. */
export const machinePermissions = [
  "read",
  "bank.write",
  "credits.write",
  "settlements.write",
  "payouts.write",
  "market.halt",
] as const satisfies readonly Permission[];

export type MachinePermission = (typeof machinePermissions)[number];

export const machineNamePattern = "^[a-z0-9][a-z0-9._-]{0,39}$";
export const networksMax = 20;
/** A token that nobody renews ends after a year. */
const machineDaysMax = 366;

/** No person's name has a colon, so a machine and a person are never one. */
export function toMachineActorId(name: string): string {
  return `machine:${name}`;
}

export type MachineTerms = {
  readonly name: string;
  readonly permissions: readonly MachinePermission[];
  readonly networks: readonly string[];
  readonly day_limit_paise: number;
};

export function refuseBadMachine({ name, permissions, networks }: MachineTerms): void {
  if (!new RegExp(machineNamePattern).test(name)) {
    throw unprocessable({
      path: "name",
      problem: "must be 1 to 40 small letters, digits and . _ -, and begin with a letter or digit",
    });
  }
  if (permissions.length === 0) {
    throw unprocessable({ path: "permissions", problem: "must have one at least" });
  }
  if (networks.length === 0 || networks.length > networksMax) {
    throw unprocessable({ path: "networks", problem: `must have 1 to ${networksMax} networks` });
  }
  const bad = networks.find((text) => !parseNetwork(text) || isEverywhere(text));
  if (bad === undefined) return;
  throw unprocessable({ path: "networks", problem: `has ${bad}, which is no address or network` });
}

export function refuseBadEnd(expiresAt: Date, now: Date): void {
  const most = now.getTime() + machineDaysMax * 86_400_000;
  if (expiresAt > now && expiresAt.getTime() <= most) return;
  throw unprocessable({
    path: "expires_at",
    problem: `must be in the future, and within ${machineDaysMax} days`,
  });
}

export type MachineRefusal = "address" | "expired" | "disabled";

export function refuseAddress(from: string): Failure {
  return new Failure("forbidden", `this machine may not call from ${from}`, {
    detail: { reason: "machine_address", from },
  });
}

/** A machine does what takes machines, with a permission that it was given. */
export function refuseMachine(
  { machine }: Actor,
  {
    permission,
    takesMachines,
  }: { readonly permission: Permission; readonly takesMachines: boolean },
): void {
  if (machine === undefined) return;
  if (!takesMachines) throw personNeeded("this takes a person");
  if (machine.permissions.includes(permission)) return;
  throw new Failure("forbidden", `this machine was not given ${permission}`, {
    detail: { reason: "machine_permission", permission },
  });
}

/** A form that comes with a file says what the file means, so only people bring one. */
export function refuseOwnForm({ machine }: Actor, form: unknown): void {
  if (machine && form !== undefined) throw personNeeded("a machine brings no form of its own");
}

function personNeeded(what: string): Failure {
  return new Failure("forbidden", what, { detail: { reason: "machine" } });
}
