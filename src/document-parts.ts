// What the OpenAPI document says beyond the routes: examples, reasons, the kinds of a quote, webhooks.

import { bodyExamples } from "./body-examples.ts";
import { describeWebhooks } from "./event-payloads.ts";
import type { DocumentParts } from "./platform/http/openapi-parts.ts";
import { reasonsByOperation } from "./refusal-reasons.ts";
import { quoteKinds } from "./trading/schema.ts";

export const documentParts: DocumentParts = {
  examples: bodyExamples,
  reasons: reasonsByOperation,
  schemas: quoteKinds,
  webhooks: describeWebhooks(),
};
