// The people who run the service: names, credentials, roles, and how long a session lasts.
//
//   enrolling   they were added; they hold a code from each admin and choose a password
//   enrolled    they sign in with password and authenticator code, and get a token
//   disabled    their tokens are revoked; only a reset enables them again

import {
  type OperatorRole,
  operatorRoles,
  type Permission,
  permissions,
  personKey,
} from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";

export const nameForm = /^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$/;
/** The actor in the audit trail when no name was given. */
const reservedNames = new Set(["cli"]);

export function isName(name: string): boolean {
  return nameForm.test(name) && !reservedNames.has(personKey(name));
}

/** Trims and checks a name. */
export function cleanName(given: string): string {
  const name = given.trim();
  if (isName(name)) return name;
  throw unprocessable({
    path: "name",
    problem: "must be 1 to 64 letters, digits, spaces and . _ @ -, and not cli",
  });
}

const passwordLengthMin = 12;
const passwordLengthMax = 256;

export function refuseWeakPassword(password: string, name: string): void {
  if (password.length < passwordLengthMin || password.length > passwordLengthMax) {
    const problem = `must be ${passwordLengthMin} to ${passwordLengthMax} characters`;
    throw unprocessable({ path: "password", problem });
  }
  if (new Set(password).size < 4 || personKey(password).includes(personKey(name))) {
    throw unprocessable({ path: "password", problem: "must not be your name or a few letters" });
  }
}

/** The six digits of an authenticator, or a recovery code as people type it. */
export const signInCodePattern = "^([0-9]{6}|([A-Za-z2-7]{4}[ -]?){4})$";

/** A session lasts a working day. */
export const sessionHours = 12;
/** An invitation is valid for a week, and one of the machine for a day. */
export const enrolHours = 168;
export const recoverHours = 24;
/** With fewer admins than this who can sign in with a password, the machine lets another one in. */
export const adminsMin = 2;

/** The first failures are free; then each one doubles the wait, up to 15 minutes: some 110 in a day. */
const freeFailures = 3;
const waitSMax = 900;

/** The wait after the failures of so many networks together. */
export function computeWaitS(failures: number, networks: number): number {
  const counted = failures - freeFailures * networks;
  if (counted <= 0) return 0;
  return Math.min(waitSMax, 2 ** Math.min(counted, 30)) / networks;
}

/** One answer for every cause, so that it reveals nothing. */
export function badSignIn(): Failure {
  return new Failure("unauthorized", "name, password or code is wrong", { form: "edge" });
}

export function notSignedIn(): Failure {
  return new Failure("unauthorized", "sign in first", { form: "edge" });
}

export function tooManyAttempts(retryAfterS: number): Failure {
  return new Failure("rate_limited", `too many attempts: wait ${retryAfterS} s`, {
    form: "edge",
    detail: { retry_after_s: retryAfterS },
  });
}

export function isPermitted(role: OperatorRole, permission: Permission): boolean {
  const roles: readonly OperatorRole[] = permissions[permission];
  return role === "admin" || roles.includes(role);
}

export function listPermissions(role: OperatorRole | undefined): Permission[] {
  if (role === undefined) return [];
  const all = Object.keys(permissions) as Permission[]; // The table has no other names.
  return all.filter((permission) => isPermitted(role, permission));
}

export function refuseUnpermitted(role: OperatorRole, permission: Permission): void {
  if (isPermitted(role, permission)) return;
  const allowed = operatorRoles.filter((candidate) => isPermitted(candidate, permission));
  throw wrongRole("this", { role, allowed });
}

/** The refusal of an act that takes another role. */
export function wrongRole(
  act: string,
  {
    role,
    allowed,
  }: { readonly role: OperatorRole | undefined; readonly allowed: readonly OperatorRole[] },
): Failure {
  return new Failure("forbidden", `${act} takes the role ${allowed.join(" or ")}`, {
    detail: { reason: "role", role, allowed },
  });
}
