// Verification and authorization of a firm.
//
//   verify      the registry and the bank are asked about the firm; it is `verifying`
//   answers     checks arrive in any order; the last one decides the next state
//   authorize   the firm's mandate lets its desk trade for it

import { refuseHouse } from "../house/read-house.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import { istDay, istTimestamp, parseInstant } from "../kernel/time.ts";
import { askOutside, dropQuestions, type NewQuestion } from "../outside/ask.ts";
import {
  accountChecks,
  type AnsweredQuestion,
  listIdentityChecks,
} from "../outside/question-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type ConfirmedAccountRow, insertConfirmedAccounts } from "./account-store.ts";
import type { Requester } from "./find-firms.ts";
import { applyChanges, changeFirm, buildFirmChange, type Decision } from "./change-firm.ts";
import { type AccountColumns, renewAccount } from "./particulars.ts";
import {
  toFirmChecks,
  type FirmCheck,
  firmLifecycle,
  type Mandate,
  mergeChecks,
  buildPendingChecks,
  decideVerification,
} from "./rules.ts";
import type { AuthorizeFirmBody, Firm } from "./schema.ts";
import { type FirmRow, lockFirms, setFirms } from "./store.ts";

/**
 * Asks the registry and the bank about the firm. Asking again while answers are due does nothing.
 */
export async function verifyFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  firmId: string,
): Promise<Firm> {
  return await changeFirm(ctx, requester, {
    firmId,
    async decide(tx, firm, now) {
      if (firm.connection_state === "verifying") return undefined;
      const state = advance(firmLifecycle, firm.connection_state, "verify");
      refuseIncomplete(firm);
      const asked = await askAboutFirm(tx, firm, now);
      return { action: "verify", changes: { connection_state: state, ...asked } };
    },
  });
}

type AskedColumns = AccountColumns & Pick<FirmRow, "checks">;

/** Asks the registry about the firm and, if it has an account, the bank about the account. */
export async function askAboutFirm(tx: Tx, firm: FirmRow, now: Date): Promise<AskedColumns> {
  const account = renewAccount(firm, now);
  const question = buildAccountQuestion({ ...firm, ...account });
  await tx.run(askOutside([buildIdentityQuestion(firm), ...(question ? [question] : [])], now));
  const asked = [...listIdentityChecks(firm), ...(question ? accountChecks : [])];
  return { ...account, checks: buildPendingChecks(asked) };
}

/** Asks the bank only; a firm without an account has no check of it. */
export async function askAboutAccount(tx: Tx, firm: FirmRow, now: Date): Promise<AskedColumns> {
  const account = renewAccount(firm, now);
  const question = buildAccountQuestion({ ...firm, ...account });
  const others = firm.checks.filter(({ check }) => check !== "BANK_NAME_MATCH");
  if (!question) return { ...account, checks: others };
  await tx.run(askOutside([question], now));
  return { ...account, checks: mergeChecks(others, buildPendingChecks(accountChecks)) };
}

/** Whatever was asked about the firm is no longer asked. */
export async function dropFirmQuestions(
  tx: Tx,
  { firm_id }: Pick<FirmRow, "firm_id">,
): Promise<void> {
  await dropQuestions(tx, { firm_identity: [firm_id], bank_account: [firm_id] });
}

type Answers = readonly AnsweredQuestion<"firm_identity" | "bank_account">[];

/** Stores the answers about firms as their checks, and moves firms whose checks are complete. */
export async function applyChecks(
  tx: Tx,
  actor: Actor,
  answered: Answers,
  now: Date,
): Promise<void> {
  const answers = Map.groupBy(answered, ({ subject_id }) => subject_id);
  const firms = await lockFirms(tx, [...answers.keys()]);
  const decided = firms.map((firm) => {
    const found = findChecks(firm, answers.get(firm.firm_id) ?? []);
    const decision = decideOnChecks(firm, found, now);
    return { firm, changed: applyChanges(firm, decision.changes, now), decision };
  });
  await setFirms(
    tx,
    decided.map(({ changed }) => changed),
  );
  await insertConfirmedAccounts(
    tx,
    decided.flatMap(({ firm, changed }) => listConfirmed(firm, changed)),
  );
  await recordChanges(
    tx,
    actor,
    decided.map(({ firm, changed, decision }) => buildFirmChange(firm, changed, decision, now)),
    now,
  );
}

const verdictEvents = {
  confirm: "firm.verified",
  require_action: "firm.action_required",
  reject: "firm.rejected",
} as const;

/**
 * Stores the mandate that lets the desk trade for the firm. The same mandate again does nothing.
 */
export async function authorizeFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  { firmId, mandate: given }: { firmId: string; mandate: AuthorizeFirmBody["mandate"] },
): Promise<Firm> {
  const mandate = parseMandate(given, ctx.now());
  return await changeFirm(ctx, requester, {
    firmId,
    async decide(tx, firm, now) {
      await refuseHouse(tx, firm.environment, { firm, on: istDay(now) });
      const isGiven = firm.mandate !== null && isSameMandate(firm.mandate, mandate);
      if (firm.connection_state === "authorized" && isGiven) return undefined;
      const state = advance(firmLifecycle, firm.connection_state, "authorize");
      return {
        action: "authorize",
        changes: { connection_state: state, mandate },
        event: {
          name: "firm.authorized",
          data: { mandate: { reference: mandate.reference, valid_until: mandate.valid_until } },
        },
      };
    },
  });
}

/** A desk's own firm can be opened without IEC and PAN. */
function refuseIncomplete({ iec, pan, connection_state }: FirmRow): void {
  const missing = Object.entries({ iec, pan }).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === 0) return;
  throw new Failure("conflict", "the firm has no IEC or PAN yet", {
    detail: {
      reason: "identity_incomplete",
      missing,
      state: connection_state,
      allowed_actions: allowedActions(firmLifecycle, connection_state),
    },
  });
}

/** Names the account by its last digits, so that no question holds the whole number. */
function buildAccountQuestion(firm: FirmRow): NewQuestion<"bank_account"> | undefined {
  const { account_id, bank_last4, bank_ifsc, bank_name } = firm;
  if (account_id === null || bank_last4 === null || bank_ifsc === null || bank_name === null) {
    return undefined;
  }
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    port: "bank",
    kind: "bank_account",
    subjectId: firm.firm_id,
    facts: {
      legal_name: firm.legal_name,
      account_name: bank_name,
      last4: bank_last4,
      ifsc: bank_ifsc,
      account_id,
    },
  };
}

function buildIdentityQuestion(firm: FirmRow): NewQuestion<"firm_identity"> {
  if (firm.iec === null || firm.pan === null) throw new Error("a firm is asked about by its IEC");
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    port: "registry",
    kind: "firm_identity",
    subjectId: firm.firm_id,
    facts: { legal_name: firm.legal_name, iec: firm.iec, pan: firm.pan, gstin: firm.gstin },
  };
}

/** What the answers say about the firm as it is; an answer about a former account says nothing. */
function findChecks({ account_id }: FirmRow, answered: Answers): FirmCheck[] {
  return answered
    .filter(({ kind, facts }) => kind !== "bank_account" || facts.account_id === account_id)
    .flatMap(({ answer, as_of }) => toFirmChecks(answer.checks, istTimestamp(as_of)));
}

function decideOnChecks(firm: FirmRow, found: readonly FirmCheck[], now: Date): Decision {
  const checks = mergeChecks(firm.checks, found);
  const account = found.find(({ check }) => check === "BANK_NAME_MATCH");
  const changes = {
    checks,
    checked_at: now,
    ...(account && { account_confirmed_at: account.outcome === "pass" ? now : null }),
  };
  const failed = checks.filter(({ outcome }) => outcome === "fail");
  if (firm.connection_state !== "verifying") {
    // A trading firm that changed its account keeps trading; its payouts wait for the bank.
    const isFailure = found.some(({ outcome }) => outcome === "fail");
    const event = { name: "firm.action_required", data: { checks: failed } };
    return { action: "check", changes, ...(isFailure && { event }) };
  }
  const verdict = decideVerification(checks);
  if (verdict === "pending") return { action: "check", changes };
  const state = advance(firmLifecycle, firm.connection_state, verdict);
  return {
    action: verdict,
    changes: { ...changes, connection_state: state },
    event: { name: verdictEvents[verdict], data: { checks: failed } },
  };
}

/** The account that the bank has confirmed with this change. */
function listConfirmed(before: FirmRow, after: FirmRow): ConfirmedAccountRow[] {
  const { account_id, firm_id, bank_ifsc: ifsc, bank_last4: last4 } = after;
  const confirmed_at = after.account_confirmed_at;
  if (before.account_confirmed_at !== null || confirmed_at === null) return [];
  if (account_id === null || ifsc === null || last4 === null) {
    throw new Error("an account that is confirmed is whole");
  }
  return [{ account_id, firm_id, ifsc, last4, confirmed_at }];
}

function parseMandate(given: AuthorizeFirmBody["mandate"], now: Date): Mandate {
  const signatory = given.signatory_name.trim();
  const reference = given.reference.trim();
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given.valid_until);
  const until = parseInstant(isDay ? `${given.valid_until}T23:59:59+05:30` : given.valid_until);
  const problems = [
    ...(signatory === "" ? [{ path: "mandate.signatory_name", problem: "is required" }] : []),
    ...(reference === "" ? [{ path: "mandate.reference", problem: "is required" }] : []),
    ...(until === undefined
      ? [{ path: "mandate.valid_until", problem: "must be ISO 8601 with an offset, or a day" }]
      : []),
    ...(until && until <= now
      ? [{ path: "mandate.valid_until", problem: "must be in the future" }]
      : []),
  ];
  if (problems.length > 0 || !until) throw unprocessable(...problems);
  const { transfers = "house" } = given;
  return { signatory_name: signatory, reference, valid_until: istTimestamp(until), transfers };
}

function isSameMandate(one: Mandate, other: Mandate): boolean {
  return (
    one.signatory_name === other.signatory_name &&
    one.reference === other.reference &&
    one.valid_until === other.valid_until &&
    (one.transfers ?? "house") === (other.transfers ?? "house")
  );
}
