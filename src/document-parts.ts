// What the OpenAPI document says beyond the routes: examples, reasons, the kinds of a quote, webhooks.

import { answerExamples, bodyExamples } from "./body-examples.ts";
import { describeWebhooks } from "./event-payloads.ts";
import type { DocumentParts } from "./platform/http/openapi-parts.ts";
import { reasonsByOperation } from "./refusal-reasons.ts";
import { quoteKinds } from "./trading/schema.ts";

const pan = "[A-Za-z]{3}[ABCFGHJLPTabcfghjlpt][A-Za-z][0-9]{4}[A-Za-z]";

/** Letters of either case are taken, and kept as capitals. */
const patterns = {
  pan: `^${pan}$`,
  iec: `^(?:${pan}|[0-9]{10})$`,
  counterparty_iec: `^(?:${pan}|[0-9]{10})$`,
  gstin: "^[0-9]{2}[A-Za-z]{5}[0-9]{4}[A-Za-z][1-9A-Za-z][Zz][0-9A-Za-z]$",
  cin: "^[LUlu][0-9]{5}[A-Za-z]{2}[0-9]{4}[A-Za-z]{3}[0-9]{6}$",
  ifsc: "^[A-Za-z]{4}0[A-Za-z0-9]{6}$",
  scrip_no: "^[A-Za-z0-9][A-Za-z0-9/-]{5,24}$",
  port_code: "^[Ii][Nn][A-Za-z0-9]{4}$",
};

export const documentParts: DocumentParts = {
  examples: bodyExamples,
  answers: answerExamples,
  patterns,
  reasons: reasonsByOperation,
  schemas: quoteKinds,
  webhooks: describeWebhooks(),
};
