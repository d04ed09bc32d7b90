// What a request for a cross quote means, or everything that is wrong with it.

import { normalScripNo } from "../credits/rules.ts";
import { isIec, plainIdentifier } from "../firms/rules.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Side } from "../kernel/side.ts";
import type { CrossKind } from "./rules.ts";

/** A request as it arrives, well-formed field by field. */
export type CrossRequest = {
  readonly kind: CrossKind;
  readonly side: Side;
  readonly firm_id?: string;
  readonly counterparty_firm_id?: string;
  readonly counterparty_iec?: string;
  readonly scrip_nos?: readonly string[];
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly price_bps?: number;
};

/** Credits by number, or an amount of a scheme; both where nobody here can tell what a number is. */
export type Lot = {
  readonly scripNos: readonly string[] | undefined;
  readonly scheme: Scheme | undefined;
  readonly facePaise: number | undefined;
};

export type WantedCross = {
  readonly kind: CrossKind;
  readonly side: Side;
  readonly firmId: string | undefined;
  readonly counterparty: { readonly firmId: string } | { readonly iec: string };
  readonly lot: Lot;
  readonly priceBps: number | undefined;
};

export function wantedOf(request: CrossRequest): WantedCross {
  const { kind, side, counterparty_firm_id: firmId, scheme, face_paise: facePaise } = request;
  const iec = request.counterparty_iec && plainIdentifier(request.counterparty_iec);
  const problems = [...counterpartyProblems(request, iec), ...lotProblems(request)];
  const counterparty = firmId === undefined ? iec && { iec } : { firmId };
  if (problems.length > 0 || !counterparty) throw unprocessable(...problems);
  return {
    kind,
    side,
    firmId: request.firm_id,
    counterparty,
    // A text that is no number stays as it is, and is found nowhere.
    lot: {
      scripNos: request.scrip_nos?.map((text) => normalScripNo(text) ?? text),
      scheme,
      facePaise,
    },
    priceBps: request.price_bps,
  };
}

function counterpartyProblems(
  { kind, counterparty_firm_id: firmId }: CrossRequest,
  iec: string | undefined,
): FieldProblem[] {
  if (firmId === undefined && iec === undefined) {
    return [{ path: "counterparty_iec", problem: "is required without counterparty_firm_id" }];
  }
  if (firmId !== undefined && iec !== undefined) {
    return [{ path: "counterparty_iec", problem: "must not be given with counterparty_firm_id" }];
  }
  if (iec !== undefined && kind === "intra_group") {
    const problem = "is required: an intra-group cross is between firms of one of your groups";
    return [{ path: "counterparty_firm_id", problem }];
  }
  return iec === undefined || isIec(iec)
    ? []
    : [{ path: "counterparty_iec", problem: "must be a PAN, or ten digits" }];
}

function lotProblems(request: CrossRequest): FieldProblem[] {
  const { side, scrip_nos: scripNos, scheme, face_paise: facePaise } = request;
  const missing = [
    ...(scheme === undefined ? [{ path: "scheme", problem: "is required" }] : []),
    ...(facePaise === undefined ? [{ path: "face_paise", problem: "is required" }] : []),
  ];
  if (scripNos === undefined) return missing;
  const numbers = new Set(scripNos.map((text) => normalScripNo(text) ?? text));
  if (numbers.size < scripNos.length) {
    return [{ path: "scrip_nos", problem: "names a credit twice" }];
  }
  // What another desk's credits are is for their seller to say.
  return side === "buy" && request.counterparty_firm_id === undefined ? missing : [];
}
