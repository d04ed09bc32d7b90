// From the fields of a request to the columns of a firm: identifiers are normalized, every broken
// rule is reported with its field, and the account number is sealed.

import { createHmac } from "node:crypto";

import { Failure, type FieldProblem, notFound, unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, violatedConstraint } from "../platform/postgres/postgres.ts";
import { open, seal, sealingKey } from "../platform/seal.ts";
import {
  findAccountNoProblem,
  findCinProblem,
  findEmailProblem,
  findGstinProblem,
  findIecProblem,
  findIfscProblem,
  toInternationalPhone,
  findPanProblem,
  findPhoneProblem,
  normalizeIdentifier,
  type Problem,
} from "../kernel/identifiers.ts";
import type { RegisterFirmBody, UpdateFirmBody } from "./schema.ts";
import { findDuplicate, type FirmRow } from "./store.ts";

type Bank = NonNullable<RegisterFirmBody["bank"]>;

type BankColumns = Pick<FirmRow, "bank_sealed" | "bank_last4" | "bank_ifsc" | "bank_name">;

const noBank: BankColumns = {
  bank_sealed: null,
  bank_last4: null,
  bank_ifsc: null,
  bank_name: null,
};

/** The given fields with normalized spelling. */
export function normalizeParticulars<Body extends UpdateFirmBody>(body: Body): Body {
  const plain = (text: string | null | undefined) => text && normalizeIdentifier(text);
  return dropUndefined({
    ...body,
    legal_name: body.legal_name?.trim().replace(/\s+/g, " "),
    iec: plain(body.iec),
    pan: plain(body.pan),
    gstin: plain(body.gstin),
    cin: plain(body.cin),
    email: body.email?.trim().toLowerCase(),
    phone: body.phone && (toInternationalPhone(body.phone) ?? body.phone),
    external_id: body.external_id?.trim() ?? body.external_id,
    bank: body.bank && {
      account_no: body.bank.account_no.replace(/[\s-]+/g, ""),
      ifsc: normalizeIdentifier(body.bank.ifsc),
      name: body.bank.name.trim().replace(/\s+/g, " "),
    },
  }) as Body; // The same fields.
}

/** Refuses invalid fields; rules that tie two fields also read the stored firm. */
export function refuseInvalidParticulars(
  given: UpdateFirmBody,
  firm: Pick<FirmRow, "iec" | "pan" | "gstin" | "cin">,
): void {
  const { iec, pan, gstin, cin } = { ...firm, ...given };
  const changesPan = given.pan !== undefined;
  // A rule that ties two fields is checked when either is given.
  const aboutPan = pan !== null && findPanProblem(pan) === undefined ? pan : null;
  const problems: [string, Problem][] = [
    ["legal_name", given.legal_name === "" ? "is required" : undefined],
    ["pan", changesPan && pan !== null ? findPanProblem(pan) : undefined],
    [
      "iec",
      iec !== null && (changesPan || given.iec !== undefined)
        ? findIecProblem(iec, aboutPan)
        : undefined,
    ],
    [
      "gstin",
      gstin !== null && (changesPan || given.gstin !== undefined)
        ? findGstinProblem(gstin, aboutPan)
        : undefined,
    ],
    [
      "cin",
      cin !== null && (changesPan || given.cin !== undefined)
        ? findCinProblem(cin, aboutPan)
        : undefined,
    ],
    ["email", given.email === undefined ? undefined : findEmailProblem(given.email)],
    ["phone", typeof given.phone === "string" ? findPhoneProblem(given.phone) : undefined],
    ["external_id", given.external_id === "" ? "must not be blank" : undefined],
    ["bank.account_no", given.bank ? findAccountNoProblem(given.bank.account_no) : undefined],
    ["bank.ifsc", given.bank ? findIfscProblem(given.bank.ifsc) : undefined],
    ["bank.name", given.bank?.name === "" ? "is required" : undefined],
  ];
  const fields = problems.flatMap(([path, problem]): FieldProblem[] =>
    problem === undefined ? [] : [{ path, problem }],
  );
  if (fields.length > 0) throw unprocessable(...fields);
}

/** The seal is bound to the firm: sealed bytes copied to another row do not open there. */
export function sealBank(bank: Bank | null, firmId: string, sealKey: Buffer): BankColumns {
  if (!bank) return noBank;
  return {
    bank_sealed: seal(bank.account_no, toSealPurpose(firmId), sealKey),
    bank_last4: bank.account_no.slice(-4),
    bank_ifsc: bank.ifsc,
    bank_name: bank.name,
  };
}

/** The identity of an account, and whether the bank has confirmed it. */
export type AccountColumns = Pick<FirmRow, "account_id" | "account_confirmed_at">;

/** Another, unconfirmed account: what the bank or a person said of the former one ends. */
export function renewAccount(
  { bank_sealed }: Pick<FirmRow, "bank_sealed">,
  now: Date,
): AccountColumns {
  return { account_id: bank_sealed && newId("acc", now), account_confirmed_at: null };
}

export function openAccountNo(
  { firm_id, bank_sealed }: Pick<FirmRow, "firm_id" | "bank_sealed">,
  sealKey: Buffer,
): string | null {
  return bank_sealed && open(bank_sealed, toSealPurpose(firm_id), sealKey);
}

export function isSameBank(firm: FirmRow, bank: Bank | null, sealKey: Buffer): boolean {
  if (!bank || firm.bank_sealed === null) return !bank && firm.bank_sealed === null;
  return (
    firm.bank_ifsc === bank.ifsc &&
    firm.bank_name === bank.name &&
    openAccountNo(firm, sealKey) === bank.account_no
  );
}

/**
 * The body that an idempotency key's fingerprint is made of. An account number could be guessed
 * from a plain digest, so it is replaced by an HMAC.
 */
export function toFingerprintBody(body: RegisterFirmBody, sealKey: Buffer): RegisterFirmBody {
  if (!body.bank) return body;
  const accountNo = createHmac("sha256", sealingKey(sealKey))
    .update(body.bank.account_no)
    .digest("base64url");
  return { ...body, bank: { ...body.bank, account_no: accountNo } };
}

export function toSealPurpose(firmId: string): string {
  return `bank account of ${firmId}`;
}

function dropUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Particulars = Pick<FirmRow, "desk_id" | "firm_id" | "iec" | "external_id">;

/**
 * The conflict for an IEC or external id that another firm of the desk has. It names that firm only
 * to callers that see the whole desk.
 */
export async function explainDuplicate(
  db: Db,
  firm: Particulars,
  visible: Visibility,
): Promise<Failure> {
  const duplicate = await findDuplicate(db, firm);
  if (!duplicate) throw new Error("a firm that caused a unique violation exists");
  const sameIec = duplicate.iec === firm.iec;
  return new Failure(
    "conflict",
    sameIec ? "a firm of this IEC is on your desk" : "a firm of this external_id is on your desk",
    {
      detail: {
        reason: sameIec ? "duplicate_iec" : "duplicate_external_id",
        ...(visible.firmId === null && { firm_id: duplicate.firm_id }),
      },
    },
  );
}

/** Turns a constraint violation into the failure that the caller gets. */
export async function explainRefusal(
  db: Db,
  error: unknown,
  { firm, visible }: { readonly firm: Particulars; readonly visible: Visibility },
): Promise<unknown> {
  const constraint = violatedConstraint(error);
  if (constraint === "firms_group_of_desk") return notFound("group_id");
  if (constraint === "firms_iec" || constraint === "firms_external_id") {
    return await explainDuplicate(db, firm, visible);
  }
  return error;
}
