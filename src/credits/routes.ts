import { sendReplayable } from "../platform/http/calls.ts";
import { sendDocument } from "../platform/http/documents.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { declareCredits, importCredits, syncCredits } from "./declare-credits.ts";
import { useCredit, withdrawCredit } from "./end-holdings.ts";
import { creditsOfFirm, readCredit } from "./read-credits.ts";
import {
  Credit,
  CreditParams,
  DeclarationResults,
  DeclareCreditsBody,
  FirmParams,
  ImportCreditsBody,
  ImportResults,
  UseCreditBody,
} from "./schema.ts";

const credits = { demand: "firms", tag: "Credits" } as const;

export const creditOperations: readonly Operation[] = [
  operation({
    id: "listCredits",
    method: "GET",
    path: "/v1/firms/:firm_id/credits",
    ...credits,
    config: { orDemand: ["quote", "orders:read"] },
    summary: "List a firm's credits",
    description:
      "What a firm holds and held, newest first. `not_sellable_reason` says of each why it cannot be sold now.",
    list: creditsOfFirm,
  }),
  operation({
    id: "declareCredits",
    method: "POST",
    path: "/v1/firms/:firm_id/credits",
    ...credits,
    summary: "Declare 1 to 500 credits that a firm holds",
    description:
      "A declaration is a claim: declared until the registry confirms it, then listed. The same " +
      "credit again is ok with 200; with other facts it is a 409.",
    params: FirmParams,
    body: DeclareCreditsBody,
    batch: true,
    answer: DeclarationResults,
    send: sendReplayable,
    run: (call, asked) => declareCredits(call.ctx, call, asked),
  }),
  operation({
    id: "importCredits",
    method: "POST",
    path: "/v1/firms/:firm_id/credits::import",
    ...credits,
    summary: "Import a report of the customs portal",
    description:
      "As csv, or as xlsx in base64. Headings are known by many names, days as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or ISO, " +
      "amounts in rupees. A row whose balance fell lowers the credit's, one with nothing left marks it used; otherwise a row is " +
      "answered like a declaration, and sending the file again changes nothing.",
    params: FirmParams,
    body: ImportCreditsBody,
    answer: ImportResults,
    send: sendDocument,
    run: (call, asked) => importCredits(call.ctx, call, asked),
  }),
  operation({
    id: "syncCredits",
    method: "POST",
    path: "/v1/firms/:firm_id/credits::sync",
    ...credits,
    summary: "Take a firm's credits from the registry",
    description:
      "Sandbox only: customs offers no interface for this, so a live key is answered 409 with " +
      "detail.reason registry_attested_only; declare or import instead.",
    params: FirmParams,
    answer: DeclarationResults,
    run: (call, { firm_id }) => syncCredits(call.ctx, call, firm_id),
  }),
  operation({
    id: "readCredit",
    method: "GET",
    path: "/v1/credits/:scrip_no",
    ...credits,
    config: { orDemand: ["quote", "orders:read"] },
    summary: "Read a credit of your desk",
    description:
      "By its number, where a / is written as %2F, or by its credit_id. A number names the live " +
      "holding, otherwise the latest.",
    params: CreditParams,
    answer: Credit,
    run: ({ ctx, caller }, { scrip_no }) => readCredit(ctx, caller, scrip_no),
  }),
  operation({
    id: "withdrawCredit",
    method: "POST",
    path: "/v1/credits/:scrip_no/withdraw",
    ...credits,
    summary: "Take a credit off your desk",
    description: "It may be declared again. Withdrawing twice is no conflict.",
    params: CreditParams,
    answer: Credit,
    run: (call, { scrip_no }) => withdrawCredit(call.ctx, call, scrip_no),
  }),
  operation({
    id: "useCredit",
    method: "POST",
    path: "/v1/credits/:scrip_no/use",
    ...credits,
    summary: "Use a credit, or a part of it, for basic customs duty",
    description:
      "A part by its bill of entry lowers the balance, face_paise; uses tells the parts. Without " +
      "an amount all that is left is used. The same bill again is no conflict where nothing of it " +
      "differs, nor is marking a used credit as used. Only a credit that no deal holds is used; a " +
      "quote on it binds the balance that it was given for.",
    params: CreditParams,
    body: UseCreditBody,
    takesNoBody: true,
    answer: Credit,
    run: (call, { scrip_no, ...use }) => useCredit(call.ctx, call, scrip_no, use),
  }),
];
