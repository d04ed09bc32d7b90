import { listAllFailures } from "../src/webhooks/read-deliveries.ts";
import { replayAsOperator } from "../src/webhooks/replay-deliveries.ts";
import { eventCatalog } from "../src/journal/event-rules.ts";
import { resolveSearch } from "../src/overview/desks.ts";
import { listAllWebhooks } from "../src/webhooks/read-webhooks.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { parseNarrowing, searchOptions, toReading } from "./search.ts";

const { limit: _limit, cursor: _cursor, ...narrowing } = searchOptions;

const list = command({
  name: "webhooks list",
  summary: "list the webhooks of every desk, without their secrets",
  options: narrowing,
  async run(options) {
    const act = toReading(options);
    const rows = await withOperator(
      options,
      act,
      async ({ ctx }) =>
        await listAllWebhooks(ctx, await resolveSearch(ctx, parseNarrowing(options))),
    );
    print(
      rows.map(({ legal_name, webhook }) => ({
        webhook_id: webhook.webhook_id,
        desk: legal_name,
        env: webhook.environment,
        event: webhook.event,
        url: webhook.url,
        status: webhook.status,
        created_at: webhook.created_at,
      })),
      options,
    );
  },
});

const failures = command({
  name: "webhooks failures",
  summary: "list the newest dead-lettered deliveries of every desk",
  options: { webhook: { help: "only of this webhook id" }, ...narrowing },
  async run(options) {
    const webhookId = options.webhook ?? null;
    const rows = await withOperator(options, toReading(options), async ({ ctx }) => {
      const search = await resolveSearch(ctx, parseNarrowing(options));
      return await listAllFailures(ctx, { ...search, webhookId });
    });
    print(
      rows.map((row) => ({
        delivery_id: row.delivery_id,
        webhook_id: row.webhook_id,
        env: row.environment,
        event: row.event,
        reason: row.reason,
        last_status: row.last_status,
        attempts: row.attempts,
        updated_at: row.updated_at,
      })),
      options,
    );
  },
});

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

export const webhookCommands = [list, failures, replay];
