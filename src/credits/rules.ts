// A credit is one firm's holding of one scrip.
//
//   declared ──confirm──▶ listed ──reserve──▶ reserved ──settle──▶ in_settlement ──transfer──▶ transferred
//      └─reject─▶ rejected   ▲ └──────◀─release─┘                        │
//                            └──────────────────◀─unwind─────────────────┘
//
//   the firm       declares, withdraws, uses: part by part, or all that is left
//   the registry   confirms or rejects a claim; suspends, lifts, cancels or reports use, also while a
//                  deal holds the credit. While its transfer may be open at customs nobody knows whose
//                  it is: then customs says first what became of the transfer
//   a deal         reserves, releases, settles, unwinds, transfers
//   the operator   returns the credit of a reversed deal to its seller
//   the clock      expires credits that no deal holds; others expire when their deal releases them
//
// A suspended credit keeps its state in `state_before_suspension`; lifting restores it.
//
// What a credit was issued with is its balance, the parts that its firm told (`uses`), and what was used
// before or elsewhere. A quote binds a balance: an order on it after a part was used is refused.
//
// A declaration is a claim and blocks no other claim. The registry confirms one claim as the holding;
// a partial unique index allows one live holding per number and environment. `sellable` is computed
// when a credit is shown, from its state, its firm and its days left. Credits of the house come the
// same way, with the operator in place of the registry (`inventory.ts`).

import { type FieldProblem, unprocessable, Failure } from "../kernel/failure.ts";
import { type Lifecycle, allowedActions } from "../kernel/lifecycle.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { sumParts } from "../kernel/money.ts";
import { addDays, daysBetween, type IstDay, isCalendarDay } from "../kernel/time.ts";

export const creditStates = [
  "declared",
  "listed",
  "reserved",
  "in_settlement",
  "transferred",
  "suspended",
  "cancelled",
  "expired",
  "used",
  "withdrawn",
  "rejected",
] as const;

export type CreditState = (typeof creditStates)[number];

export const creditLifecycle = {
  noun: "credit",
  initial: ["declared"],
  states: creditStates,
  moves: {
    confirm: { from: ["declared"], to: "listed", by: "registry" },
    reject: { from: ["declared"], to: "rejected", by: "registry" },
    withdraw: { from: ["declared", "listed"], to: "withdrawn" },
    use: { from: ["listed"], to: "used" },
    reserve: { from: ["listed"], to: "reserved", by: "deal" },
    release: { from: ["reserved"], to: "listed", by: "deal" },
    settle: { from: ["reserved"], to: "in_settlement", by: "deal" },
    unwind: { from: ["in_settlement"], to: "listed", by: "deal" },
    transfer: { from: ["in_settlement"], to: "transferred", by: "deal" },
    give_back: { from: ["listed"], to: "transferred", by: "operator" },
    suspend: { from: ["listed", "reserved"], to: "suspended", by: "registry" },
    lift: { from: ["suspended"], to: "listed", by: "registry" },
    lift_reserved: { from: ["suspended"], to: "reserved", by: "registry" },
    cancel: { from: ["listed", "reserved", "suspended"], to: "cancelled", by: "registry" },
    spend: { from: ["listed", "reserved", "suspended"], to: "used", by: "registry" },
    expire: { from: ["declared", "listed", "suspended"], to: "expired", by: "clock" },
  },
} as const satisfies Lifecycle<CreditState>;

export type CreditAction = keyof typeof creditLifecycle.moves;

/** Confirmed and not ended: at most one live holding per scrip and environment. */
const liveStates = ["listed", "reserved", "in_settlement", "suspended"] as const;

export function isLive(state: CreditState): boolean {
  return (liveStates as readonly CreditState[]).includes(state);
}

/** Live, or a claim that waits for the registry: at most one per firm and scrip. */
export function isOpen(state: CreditState): boolean {
  return state === "declared" || isLive(state);
}

/**
 * The row that a scrip number refers to, of a desk's rows with the latest first: the live holding,
 * otherwise a claim, otherwise the latest row. With a firm id, of that firm's rows.
 */
export function resolveScripNo<
  Row extends { readonly firm_id: string; readonly state: CreditState },
>(rows: readonly Row[], firmId: string | null): Row | undefined {
  const own = firmId === null ? rows : rows.filter((row) => row.firm_id === firmId);
  return own.find(({ state }) => isLive(state)) ?? own.find(({ state }) => isOpen(state)) ?? own[0];
}

/** The move that restores the state before the suspension. */
export function chooseLift(before: CreditState | null): CreditAction {
  return before === "reserved" ? "lift_reserved" : "lift";
}

/** The declared facts of a credit. */
export type CreditFacts = {
  readonly scrip_no: string;
  readonly scheme: Scheme;
  readonly issued_paise: number;
  readonly face_paise: number;
  readonly port_code: string | null;
  readonly issued_on: IstDay;
  readonly expires_on: IstDay;
};

/** A declaration of a request, well-formed but unchecked. */
export type Declaration = {
  readonly scrip_no: string;
  readonly scheme: Scheme;
  readonly face_paise: number;
  readonly issued_paise?: number;
  readonly port_code?: string;
  readonly issued_on: string;
  readonly expires_on: string;
};

/** The life of a credit from its issue. */
export const validDays = 730;

/** The issue day that follows from the expiry, at the latest today. */
export function deriveIssueDay(expiresOn: IstDay, today: IstDay): IstDay {
  if (!isDay(expiresOn)) return today;
  const issued = addDays(expiresOn, -validDays);
  return issued < today ? issued : today;
}

const scripNoForm = /^[A-Z0-9][A-Z0-9/-]{5,24}$/;
const portForm = /^IN[A-Z0-9]{3}[0-9A-Z]$/;

/** Trims and upper-cases; undefined when the text is no scrip number. */
export function normalizeScripNo(text: string): string | undefined {
  const scripNo = text.trim().toUpperCase();
  return scripNoForm.test(scripNo) ? scripNo : undefined;
}

/** The facts of a declaration; refused with every broken rule. */
export function parseDeclaration(declared: Declaration, today: IstDay): CreditFacts {
  const scripNo = normalizeScripNo(declared.scrip_no);
  const portCode = declared.port_code?.trim().toUpperCase() ?? null;
  const facts: CreditFacts = {
    scrip_no: scripNo ?? "",
    scheme: declared.scheme,
    issued_paise: declared.issued_paise ?? declared.face_paise,
    face_paise: declared.face_paise,
    port_code: portCode,
    issued_on: declared.issued_on,
    expires_on: declared.expires_on,
  };
  const problems = findProblems(facts, today);
  if (problems.length > 0) throw unprocessable(...problems);
  return facts;
}

function findProblems(facts: CreditFacts, today: IstDay): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (path: keyof CreditFacts, problem: string) => problems.push({ path, problem });
  if (facts.scrip_no === "") {
    refuse("scrip_no", "must be 6 to 25 letters, digits, / or -, and begin with no sign");
  }
  if (facts.face_paise > facts.issued_paise) {
    refuse("face_paise", "the balance must not exceed the issued amount");
  }
  if (facts.port_code !== null && !portForm.test(facts.port_code)) {
    refuse("port_code", "must be a customs port such as INNSA1");
  }
  const issuedOk = isDay(facts.issued_on);
  const expiresOk = isDay(facts.expires_on);
  if (!issuedOk) refuse("issued_on", "must be a day as YYYY-MM-DD");
  else if (facts.issued_on > today) refuse("issued_on", "must not be in the future");
  if (!expiresOk) refuse("expires_on", "must be a day as YYYY-MM-DD");
  else if (facts.expires_on < today) refuse("expires_on", "has passed");
  else if (issuedOk && facts.expires_on < facts.issued_on) {
    refuse("expires_on", "must not be before issued_on");
  }
  return problems;
}

/** A calendar day in a plausible range; days outside it are typing errors. */
function isDay(text: string): boolean {
  return isCalendarDay(text) && text >= "2000-01-01" && text <= "2199-12-31";
}

/** A part that was used; a bill is told whole, or not at all when the credit was only marked as used. */
export type CreditUse = {
  readonly bill_of_entry: string | null;
  readonly used_on: IstDay | null;
  readonly port_code: string | null;
  readonly amount_paise: number;
  /** What it left. */
  readonly balance_paise: number;
};

/** What a firm tells of a part; everything is left out when all is used and no bill is told. */
export type ToldUse = {
  readonly bill_of_entry?: string;
  readonly used_on?: string;
  readonly port?: string;
  readonly amount_paise?: number;
};

/** Parts of one credit that a firm can tell. */
export const usesMax = 100;

const billForm = /^[A-Z0-9][A-Z0-9/-]{0,29}$/;

/** A part, well-formed; an amount of null is all that is left. */
type WantedUse = Pick<CreditUse, "bill_of_entry" | "used_on" | "port_code"> & {
  readonly amountPaise: number | null;
};

/** Refused with every broken rule. */
export function parseUse(told: ToldUse, today: IstDay): WantedUse {
  const bill = told.bill_of_entry?.trim().toUpperCase() ?? null;
  const port = told.port?.trim().toUpperCase() ?? null;
  const day = told.used_on ?? null;
  const amountPaise = told.amount_paise ?? null;
  const problems: FieldProblem[] = [];
  const refuse = (path: string, problem: string) => problems.push({ path, problem });
  const isTold = [bill, port, day, amountPaise].some((field) => field !== null);
  if (isTold && bill === null) refuse("bill_of_entry", "is required for a part");
  if (isTold && day === null) refuse("used_on", "is required for a part");
  if (isTold && port === null) refuse("port", "is required for a part");
  if (bill !== null && !billForm.test(bill)) {
    refuse("bill_of_entry", "must be 1 to 30 letters, digits, / or -, and begin with no sign");
  }
  if (port !== null && !portForm.test(port))
    refuse("port", "must be a customs port such as INNSA1");
  if (day !== null && !isDay(day)) refuse("used_on", "must be a day as YYYY-MM-DD");
  else if (day !== null && day > today) refuse("used_on", "must not be in the future");
  if (problems.length > 0) throw unprocessable(...problems);
  return { bill_of_entry: bill, used_on: day, port_code: port, amountPaise };
}

/** The part of the same bill that was told before; refused when it was told otherwise. */
export function findToldUse(
  uses: readonly CreditUse[],
  wanted: WantedUse,
): CreditUse | Failure | undefined {
  const { bill_of_entry, amountPaise } = wanted;
  if (bill_of_entry === null) return undefined;
  const told = uses.find((use) => use.bill_of_entry === bill_of_entry);
  if (!told) return undefined;
  const isAmount =
    amountPaise === null ? told.balance_paise === 0 : told.amount_paise === amountPaise;
  const isBill = told.used_on === wanted.used_on && told.port_code === wanted.port_code;
  if (isAmount && isBill) return told;
  return new Failure("conflict", `${bill_of_entry} was told otherwise of this credit`, {
    detail: { reason: "bill_of_entry_told", bill_of_entry, amount_paise: told.amount_paise },
  });
}

/** Takes a part from a balance; refused when there is not so much. */
export function takePart(
  facePaise: number,
  uses: readonly CreditUse[],
  { amountPaise, ...bill }: WantedUse,
): CreditUse | Failure {
  const amount_paise = amountPaise ?? facePaise;
  if (amount_paise > facePaise) {
    return new Failure("conflict", "the part is larger than the credit's balance", {
      detail: { reason: "above_balance", face_paise: facePaise },
    });
  }
  if (uses.length >= usesMax && amount_paise < facePaise) {
    return new Failure("conflict", "too many parts of this credit were told", {
      detail: { reason: "too_many_uses", uses_max: usesMax },
    });
  }
  return { ...bill, amount_paise, balance_paise: facePaise - amount_paise };
}

/** What was used before the credit was declared, or told by customs: no part of its firm's. */
export function findUsedElsewhere(
  { issued_paise, face_paise }: Pick<CreditFacts, "issued_paise" | "face_paise">,
  uses: readonly CreditUse[],
): number {
  return issued_paise - face_paise - sumParts(uses.map((use) => use.amount_paise));
}

/** What the database has of a declared number. */
export type Known = {
  /** What the declaring firm has told of parts that this credit paid. */
  readonly usedPaise: number;
  /** The declaring firm's open row, otherwise its latest. */
  readonly own: (CreditFacts & { readonly state: CreditState }) | undefined;
  readonly heldElsewhere: boolean;
};

type DeclarationVerdict =
  | { readonly kind: "create" }
  | { readonly kind: "same" }
  /** The report has a lower balance: part of it was used, or all. */
  | { readonly kind: "lower" }
  | { readonly kind: "refuse"; readonly reason: DeclarationRefusal };

export type DeclarationRefusal =
  | "facts_differ"
  | "ended"
  | "held_elsewhere"
  | "was_used"
  | "used_up";

export type DeclarationMode = {
  /**
   * True for reports of the registry: they may lower a balance; declarations never change facts.
   */
  readonly followsBalance: boolean;
};

const endedForGood: readonly CreditState[] = ["used", "cancelled", "transferred"];
const balanceMayFall: readonly CreditState[] = ["declared", "listed"];

/** Decides a declaration. Withdrawn, rejected and expired credits may be declared again. */
export function judgeDeclaration(
  facts: CreditFacts,
  { own, heldElsewhere, usedPaise }: Known,
  { followsBalance }: DeclarationMode,
): DeclarationVerdict {
  const isUsedUp = facts.face_paise === 0;
  if (own && (isOpen(own.state) || (isUsedUp && own.state === "used"))) {
    const differing = listDifferingFacts(facts, own);
    if (differing.length === 0) return { kind: "same" };
    const fell = differing.length === 1 && facts.face_paise < own.face_paise;
    const mayFall = isUsedUp ? own.state === "listed" : balanceMayFall.includes(own.state);
    if (followsBalance && fell && mayFall) return { kind: "lower" };
    return { kind: "refuse", reason: "facts_differ" };
  }
  if (own && endedForGood.includes(own.state)) return { kind: "refuse", reason: "ended" };
  if (heldElsewhere) return { kind: "refuse", reason: "held_elsewhere" };
  if (isUsedUp) return { kind: "refuse", reason: "used_up" };
  // A credit that is taken back and declared anew is no larger for it.
  if (usedPaise > facts.issued_paise - facts.face_paise) {
    return { kind: "refuse", reason: "was_used" };
  }
  return { kind: "create" };
}

const factNames = [
  "scheme",
  "issued_paise",
  "face_paise",
  "port_code",
  "issued_on",
  "expires_on",
] as const satisfies readonly (keyof CreditFacts)[];

export function listDifferingFacts(a: CreditFacts, b: CreditFacts): string[] {
  return factNames.filter((name) => a[name] !== b[name]);
}

/** Days after today on which the credit can be used: 0 on its last day. */
export function countDaysLeft(expiresOn: IstDay, today: IstDay): number {
  return daysBetween(today, expiresOn);
}

/** The house quotes no price for credits with fewer days left: it could not resell them in time. */
export const sellableDaysMin = 30;

/** The state of a credit that is not listed, or another reason. */
export const notSellableReasons = [
  ...creditStates.filter((state) => state !== "listed"),
  "firm_not_authorized",
  "too_short",
] as const;

type NotSellableReason = Exclude<CreditState, "listed"> | "firm_not_authorized" | "too_short";

export function findNotSellableReason(
  credit: { readonly state: CreditState; readonly expires_on: IstDay },
  { firmState, today }: { readonly firmState: string; readonly today: IstDay },
): NotSellableReason | null {
  if (credit.state !== "listed") return credit.state;
  const left = countDaysLeft(credit.expires_on, today);
  if (left < 0) return "expired";
  if (firmState !== "authorized") return "firm_not_authorized";
  if (left < sellableDaysMin) return "too_short";
  return null;
}

/** The conflict of a sale; `reason` is the credit's `not_sellable_reason`. */
export function creditNotSellable(
  { scrip_no, state }: { readonly scrip_no: string; readonly state: CreditState },
  reason: NotSellableReason,
): Failure {
  return new Failure("conflict", "the credit cannot be sold now", {
    detail: {
      reason,
      credit_status: state,
      scrip_no,
      state,
      allowed_actions: allowedActions(creditLifecycle, state),
    },
  });
}

/** Days left at which the firm is warned, in order. */
export const expiryWarningDays = [90, 60, 30, 14, 7] as const;

/** The latest warning that is due today; undefined before the first. */
export function findWarning(expiresOn: IstDay, today: IstDay): number | undefined {
  const left = countDaysLeft(expiresOn, today);
  return expiryWarningDays.findLast((days) => left <= days);
}

/** The day of the next warning; after the last warning, the day after the expiry. */
export function findExpiryDueDay(expiresOn: IstDay, told: number | null): IstDay {
  const next = expiryWarningDays.find((days) => told === null || days < told);
  return addDays(expiresOn, next === undefined ? 1 : -next);
}

/** The kinds of news from the registry about a holding. */
export const registryNews = ["suspend", "lift", "cancel", "use"] as const;

export type RegistryNews = (typeof registryNews)[number];

/** The lifecycle move of a kind of news. */
export function toAction(news: RegistryNews, before: CreditState | null): CreditAction {
  switch (news) {
    case "suspend":
      return "suspend";
    case "lift":
      return chooseLift(before);
    case "cancel":
      return "cancel";
    case "use":
      return "spend";
  }
}

/** Leaving and rejected firms may not declare. */
export function mayDeclare(firmState: string): boolean {
  return !["offboarding", "offboarded", "rejected"].includes(firmState);
}

/** How the numbers of the sandbox's synthetic shelf begin. */
export const shelfPrefix = "HOUSE/";

/** Whether a credit is of the stock that the sandbox's house is given, and given again. */
export function isShelfNo(scripNo: string): boolean {
  return scripNo.startsWith(shelfPrefix);
}
