// What the public and integrators ask of people: `enquiries …`, `webhooks …`.

import { eventCatalog } from "../src/journal/event-rules.ts";
import { webhookOperations } from "../src/ops/desks.ts";
import { enquiryOperations } from "../src/ops/prices.ts";
import { replayAsOperator } from "../src/webhooks/replay-deliveries.ts";
import { command, parseChoice, printOne, UsageError } from "./command.ts";
import { deriveFrom } from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";

const derive = deriveFrom([...enquiryOperations, ...webhookOperations]);

const replay = command({
  name: "webhooks replay",
  summary: "send dead-lettered deliveries again, with the same ids and bytes",
  options: {
    webhook: { help: "those of this webhook id" },
    delivery: { help: "this delivery id alone" },
    event: { help: "those of this event" },
    all: { type: "boolean", help: "those of every desk" },
    ...operatorOption,
  },
  example: "npx scripdesk webhooks replay --webhook whk_01jd2m7q4x8r5v6w9y0abcdefg",
  async run({ webhook, delivery, event, all, operator, json }) {
    if (!all && webhook === undefined && delivery === undefined && event === undefined) {
      throw new UsageError("say which: --webhook, --delivery, --event or --all");
    }
    const wanted = {
      webhookId: webhook ?? null,
      deliveryId: delivery ?? null,
      event: event === undefined ? null : parseChoice("event", event, eventCatalog),
    };
    const replayed = await withOperator(
      { operator },
      { permission: "webhooks.write" },
      async ({ ctx, actor }) => await replayAsOperator(ctx, wanted, actor),
    );
    printOne(replayed, { json });
  },
});

export const commands = [
  derive("listEnquiries", "enquiries list", {
    defaults: { limit: "200" },
    columns: "enquiry_ref kind scheme amount_paise name status created_at",
  }),
  derive("readEnquiry", "enquiries show"),
  derive("closeEnquiry", "enquiries close", {
    example: "npx scripdesk enquiries close enq_… --outcome 'called back, opened a desk'",
  }),
  derive("listAllWebhooks", "webhooks list", {
    columns:
      "webhook_id=webhook.webhook_id desk=legal_name env=webhook.environment event=webhook.event url=webhook.url status=webhook.status created_at=webhook.created_at",
  }),
  derive("listAllFailures", "webhooks failures", {
    defaults: { limit: "1000" },
    columns: "delivery_id webhook_id env event reason last_status attempts updated_at",
  }),
  replay,
];
