// The form of firms' own account numbers, set by the operator as the bank gave it, and the firms that
// numbers of it are of. A former form is still read: money comes to an old number for years.
//
// Firms are told to pay to these numbers, so whoever could set a form alone would be paid in the house's
// place: in live it takes two people as soon as two may, as the house's account does.

import type { Actor, Change } from "../kernel/actor.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { normalizeIdentifier } from "../kernel/identifiers.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { actWithApproval, type ProposedAct, tellOutcome } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { countPeople } from "../operators/manage-operators.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  buildNumber,
  findFormProblems,
  hasForm,
  type NumberForm,
  readSerial,
  type SetForm,
} from "./rules.ts";
import {
  findFirmNo,
  insertForm,
  listFirmsByNo,
  listFormRows,
  lockForms,
  type NumberFormRow,
} from "./store.ts";
import { refuseOffboarded, requireVisibleFirm } from "../firms/find-firms.ts";
import { findHouse } from "../house/read-house.ts";
import { houseIncomplete } from "../house/rules.ts";
import { istDay } from "../kernel/time.ts";
import type { Funding } from "./schema.ts";

type FormTerms = { readonly form: NumberForm | null };

/** The form as an operator gives it: all of it, or that there is none. */
export function parseForm({
  off = false,
  ...given
}: {
  readonly [Part in keyof NumberForm]?: NumberForm[Part] | undefined;
} & { readonly off?: boolean | undefined }): NumberForm | null {
  const { prefix, length, alphabet, ifsc } = given;
  const isWhole =
    prefix !== undefined && length !== undefined && alphabet !== undefined && ifsc !== undefined;
  if (isWhole && !off) return { prefix, length, alphabet, ifsc };
  if (off && Object.values(given).every((part) => part === undefined)) return null;
  const problem = "give it with length, alphabet and ifsc, or off alone";
  throw unprocessable({ path: "prefix", problem });
}

/** Sets the form, or ends the numbers with null. */
export async function setNumberForm(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, form: given }: { readonly environment: Environment } & FormTerms,
): Promise<ProposedAct | { readonly outcome: "set" }> {
  const form = given && {
    ...given,
    prefix: normalizeIdentifier(given.prefix),
    ifsc: normalizeIdentifier(given.ifsc),
  };
  const people = await countPeople(ctx.db, ["admin", ...formSetting.approvers]);
  const acted = await actWithApproval(ctx, actor, {
    kind: formSetting,
    environment,
    subjectId: environment,
    terms: { form },
    people: people >= 2 ? 2 : 1,
  });
  return tellOutcome(acted, "set");
}

export const formSetting: ApprovalKind<FormTerms> = {
  name: "number_form.set",
  proposers: [],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, terms: { form } }, now): Promise<Prepared> {
    await lockForms(tx, environment);
    const problems = form === null ? [] : findFormProblems(form);
    if (problems.length > 0) throw unprocessable(...problems);
    const [before] = await listNumberForms(tx, environment);
    if (isSameForm(before?.form ?? null, form)) throw sameForm();
    return {
      summary:
        form === null
          ? `firms of ${environment} have no account numbers of their own any more`
          : `firms of ${environment} are told to pay to numbers of ${form.length} ${form.alphabet} that begin with ${form.prefix}, at ${form.ifsc}`,
      valuePaise: null,
      facts: { version: before?.version ?? 0 },
      async carryOut(actor, proposedBy) {
        const after: SetForm = {
          environment,
          version: (before?.version ?? 0) + 1,
          form,
          set_at: now,
          set_by: proposedBy ?? actor.id,
          approved_by: proposedBy === undefined ? null : actor.id,
        };
        await insertForm(tx, [toFormRow(after)]);
        return { changes: [buildFormChange(after)] };
      },
    };
  },
};

/** Every form there was, the latest first. */
export async function listNumberForms(db: Db, environment: Environment): Promise<SetForm[]> {
  return (await listFormRows(db, environment)).map(
    ({ prefix, length, alphabet, ifsc, ...row }): SetForm => ({
      ...row,
      form:
        prefix !== null && length !== null && alphabet !== null && ifsc !== null
          ? { prefix, length, alphabet, ifsc }
          : null,
    }),
  );
}

/** The words that look like numbers of firms, each with its firm; undefined where it is of none. */
export async function findNumberedFirms(
  db: Db,
  environment: Environment,
  listWords: (length: number) => readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const forms = (await listNumberForms(db, environment)).flatMap(({ form }) => form ?? []);
  const found = forms.flatMap((form) =>
    listWords(form.length)
      .filter((word) => hasForm(form, word))
      .map((word) => ({ word, serial: readSerial(form, word) })),
  );
  if (found.length === 0) return new Map();
  const serials = [...new Set(found.flatMap(({ serial }) => serial ?? []))];
  const firms = await listFirmsByNo(db, environment, serials);
  const byNo = new Map(firms.map(({ firm_no, firm_id }) => [firm_no, firm_id]));
  return new Map(
    found.map(({ word, serial }) => [word, serial === undefined ? undefined : byNo.get(serial)]),
  );
}

function isSameForm(one: NumberForm | null, other: NumberForm | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.prefix === other.prefix &&
    one.length === other.length &&
    one.alphabet === other.alphabet &&
    one.ifsc === other.ifsc
  );
}

function sameForm(): Failure {
  return new Failure("conflict", "the numbers have this form already", {
    detail: { reason: "same_form" },
  });
}

function toFormRow({ form, ...row }: SetForm): NumberFormRow {
  return {
    ...row,
    prefix: form?.prefix ?? null,
    length: form?.length ?? null,
    alphabet: form?.alphabet ?? null,
    ifsc: form?.ifsc ?? null,
  };
}

function buildFormChange(after: SetForm): Change {
  const { environment, version } = after;
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: "number_form.set",
    entity: { type: "number_form", id: environment, version, href: "/ops/house/virtual-accounts" },
    after: { form: after.form },
  };
}

/** Where a firm pays ahead of its deals. */
export async function readFunding(
  ctx: Pick<Context, "db" | "now">,
  caller: Caller,
  firmId: string,
): Promise<Funding> {
  const firm = await requireVisibleFirm(ctx.db, caller, firmId);
  refuseOffboarded(firm);
  const { environment } = caller;
  const bank = (await findHouse(ctx.db, environment, istDay(ctx.now())))?.bank;
  if (!bank) throw houseIncomplete(["bank"]);
  const form = (await listNumberForms(ctx.db, environment)).at(0)?.form ?? null;
  const serial = form === null ? undefined : await findFirmNo(ctx.db, firmId);
  const isOwn = form !== null && serial !== undefined;
  return {
    firm_id: firmId,
    beneficiary: bank.beneficiary,
    account_no: isOwn ? buildNumber(form, serial) : bank.account_no,
    ifsc: isOwn ? form.ifsc : bank.ifsc,
    bank: bank.bank,
    is_own_number: isOwn,
    reference: firmId,
  };
}
