// Who the house is in law: the operator's own firm, one per environment. Its particulars are dated
// data: setting them adds a version that holds from a day on, so that a paper of an earlier day keeps
// its head. A house is complete when it can be party to a deal: others know whom they deal with, where
// to pay, and to which code a credit goes.

import type { Environment } from "../kernel/caller.ts";
import { Failure, type FieldProblem } from "../kernel/failure.ts";
import {
  findAccountNoProblem,
  findCinProblem,
  findGstinProblem,
  findIecProblem,
  findIfscProblem,
  findPanProblem,
  isLegalName,
  legalNameLengthMax,
  normalizeIdentifier,
  type Problem,
} from "../kernel/identifiers.ts";
import { isCleanText } from "../kernel/json.ts";
import type { IstDay } from "../kernel/time.ts";

/** The account that buyers pay into. */
type HouseBank = {
  readonly beneficiary: string;
  readonly account_no: string;
  readonly ifsc: string;
  readonly bank: string;
};

export type HouseParticulars = {
  readonly legal_name: string;
  readonly iec: string | null;
  readonly pan: string | null;
  readonly tan: string | null;
  readonly gstin: string | null;
  readonly cin: string | null;
  /** Lines. */
  readonly address: readonly string[];
  /** The code of its state, as in a GSTIN. */
  readonly state_code: string | null;
  /** Who signs for it, with the office they hold. */
  readonly signatory: string | null;
  readonly bank: HouseBank | null;
};

/** The particulars as they were set once, and from which day they hold. */
export type HouseInLaw = HouseParticulars & {
  readonly environment: Environment;
  readonly version: number;
  readonly effective_from: IstDay;
  readonly set_at: Date;
  readonly set_by: string;
  readonly approved_by: string | null;
};

/** The state codes of GSTINs, by the notified list. */
const stateNames: Readonly<Record<string, string>> = {
  "01": "Jammu and Kashmir",
  "02": "Himachal Pradesh",
  "03": "Punjab",
  "04": "Chandigarh",
  "05": "Uttarakhand",
  "06": "Haryana",
  "07": "Delhi",
  "08": "Rajasthan",
  "09": "Uttar Pradesh",
  "10": "Bihar",
  "11": "Sikkim",
  "12": "Arunachal Pradesh",
  "13": "Nagaland",
  "14": "Manipur",
  "15": "Mizoram",
  "16": "Tripura",
  "17": "Meghalaya",
  "18": "Assam",
  "19": "West Bengal",
  "20": "Jharkhand",
  "21": "Odisha",
  "22": "Chhattisgarh",
  "23": "Madhya Pradesh",
  "24": "Gujarat",
  "26": "Dadra and Nagar Haveli and Daman and Diu",
  "27": "Maharashtra",
  "29": "Karnataka",
  "30": "Goa",
  "31": "Lakshadweep",
  "32": "Kerala",
  "33": "Tamil Nadu",
  "34": "Puducherry",
  "35": "Andaman and Nicobar Islands",
  "36": "Telangana",
  "37": "Andhra Pradesh",
  "38": "Ladakh",
};

/** `27 Maharashtra`: a code of the list with its name. */
export function formatState(code: string): string {
  const name = findStateName(code);
  return name === null ? code : `${code} ${name}`;
}

export function findStateName(code: string | null): string | null {
  return code === null ? null : (stateNames[code] ?? null);
}

/** What a house is complete with; the other particulars are told where they exist. */
export const neededParticulars = [
  "legal_name",
  "iec",
  "pan",
  "address",
  "state_code",
  "signatory",
  "bank",
] as const satisfies readonly (keyof HouseParticulars)[];

export type NeededParticular = (typeof neededParticulars)[number];

/** The particulars that a complete house would have and this one has not. */
export function listMissingParticulars(house: HouseParticulars | undefined): NeededParticular[] {
  return neededParticulars.filter((name) => {
    const value = house?.[name] ?? null;
    return value === null || (Array.isArray(value) && value.length === 0);
  });
}

/** The version in force on a day: of those from that day or before, the one that was set last. */
export function findCurrentHouse<Version extends Pick<HouseInLaw, "effective_from" | "version">>(
  versions: readonly Version[],
  on: IstDay,
): Version | undefined {
  return versions
    .filter(({ effective_from }) => effective_from <= on)
    .toSorted(
      (one, other) =>
        Number(other.effective_from > one.effective_from) -
          Number(one.effective_from > other.effective_from) || other.version - one.version,
    )
    .at(0);
}

/** What a new version changes, each field with what it was and becomes, for whoever approves it. */
export function listChangedParticulars(
  before: HouseParticulars | undefined,
  after: HouseParticulars,
): { readonly field: string; readonly before: string; readonly after: string }[] {
  const fields = (
    house: HouseParticulars | undefined,
  ): Readonly<Record<string, string | null>> => ({
    "legal name": house?.legal_name ?? null,
    IEC: house?.iec ?? null,
    PAN: house?.pan ?? null,
    TAN: house?.tan ?? null,
    GSTIN: house?.gstin ?? null,
    CIN: house?.cin ?? null,
    address: house?.address.join(", ") ?? null,
    state: house?.state_code ?? null,
    signatory: house?.signatory ?? null,
    beneficiary: house?.bank?.beneficiary ?? null,
    "account number": house?.bank?.account_no ?? null,
    IFSC: house?.bank?.ifsc ?? null,
    bank: house?.bank?.bank ?? null,
  });
  const [old, next] = [fields(before), fields(after)];
  return Object.entries(next).flatMap(([field, value]) => {
    const [was, becomes] = [old[field] || "none", value || "none"];
    return was === becomes ? [] : [{ field, before: was, after: becomes }];
  });
}

/** The conflict of an act that takes a complete house. */
export function houseIncomplete(missing: readonly (NeededParticular | "tan")[]): Failure {
  return new Failure("conflict", `the house is not complete: set its ${missing.join(", ")}`, {
    detail: { reason: "house_incomplete", missing },
  });
}

const tanForm = /^[A-Z]{4}[0-9]{5}[A-Z]$/;
const addressLinesMax = 6;
const lineLengthMax = 100;

function findTextProblem(text: string, lengthMax = lineLengthMax): Problem {
  const isText = /^.+$/.test(text) && text.length <= lengthMax && isCleanText(text);
  return isText ? undefined : `must be 1 to ${lengthMax} characters in one line`;
}

/** The rules that particulars break, by field. */
export function findHouseProblems({ bank, ...house }: HouseParticulars): FieldProblem[] {
  const { legal_name, iec, pan, tan, gstin, cin, address, state_code, signatory } = house;
  const aboutPan = pan !== null && findPanProblem(pan) === undefined ? pan : null;
  const problems: [string, Problem][] = [
    [
      "legal_name",
      isLegalName(legal_name) ? undefined : `must be 1 to ${legalNameLengthMax} characters`,
    ],
    ["pan", pan === null ? undefined : findPanProblem(pan)],
    ["iec", iec === null ? undefined : findIecProblem(iec, aboutPan)],
    ["tan", findTanProblem(tan)],
    ["gstin", gstin === null ? undefined : findGstinProblem(gstin, aboutPan)],
    ["cin", cin === null ? undefined : findCinProblem(cin, aboutPan)],
    ["address", findAddressProblem(address)],
    ["state_code", findStateProblem(state_code, gstin)],
    ["signatory", signatory === null ? undefined : findTextProblem(signatory)],
    ...(bank === null ? [] : findBankProblems(bank)),
  ];
  return problems.flatMap(([path, problem]) => (problem === undefined ? [] : [{ path, problem }]));
}

function findTanProblem(tan: string | null): Problem {
  if (tan === null || tanForm.test(tan)) return undefined;
  return "must be four letters, five digits and a letter";
}

function findAddressProblem(address: readonly string[]): Problem {
  if (address.length > addressLinesMax) return `must be at most ${addressLinesMax} lines`;
  return address.map((line) => findTextProblem(line)).find((problem) => problem !== undefined);
}

function findStateProblem(state: string | null, gstin: string | null): Problem {
  if (state === null) return undefined;
  if (!(state in stateNames)) return "must be the two digits of a state, as a GSTIN begins";
  return gstin === null || gstin.startsWith(state) ? undefined : "must be the state of the GSTIN";
}

function findBankProblems({ beneficiary, account_no, ifsc, bank }: HouseBank): [string, Problem][] {
  return [
    ["bank.beneficiary", findTextProblem(beneficiary)],
    ["bank.account_no", findAccountNoProblem(account_no)],
    ["bank.ifsc", findIfscProblem(ifsc)],
    ["bank.bank", findTextProblem(bank)],
  ];
}

/** The particulars in normal spelling; empty text is nothing. */
export function normalizeHouse(given: HouseParticulars): HouseParticulars {
  const code = (text: string | null) => normalizeIdentifier(text ?? "") || null;
  const line = (text: string) => text.trim().replace(/\s+/g, " ");
  return {
    legal_name: line(given.legal_name),
    iec: code(given.iec),
    pan: code(given.pan),
    tan: code(given.tan),
    gstin: code(given.gstin),
    cin: code(given.cin),
    address: given.address.map(line).filter((each) => each !== ""),
    state_code: code(given.state_code),
    signatory: line(given.signatory ?? "") || null,
    bank: given.bank && {
      beneficiary: line(given.bank.beneficiary),
      account_no: given.bank.account_no.replace(/[\s-]+/g, ""),
      ifsc: normalizeIdentifier(given.bank.ifsc),
      bank: line(given.bank.bank),
    },
  };
}

/** The conflict of making a client of a firm that is the house. */
export function firmIsHouse(): Failure {
  return new Failure("conflict", "a firm of the house's PAN is the house, and no client", {
    detail: { reason: "firm_is_house" },
  });
}

type HouseCodes = Pick<HouseParticulars, "iec" | "pan">;

/** Whether a firm is the house: both have one PAN, however it is told, or one IEC. */
export function isOfHouse(
  house: HouseCodes | undefined,
  { iec, pan, gstin }: HouseCodes & { readonly gstin?: string | null },
): boolean {
  const ofHouse = [house?.pan, house?.iec];
  const ofFirm = [pan, iec, gstin?.slice(2, 12)];
  return ofFirm.some((code) => code !== undefined && code !== null && ofHouse.includes(code));
}
