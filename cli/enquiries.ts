import { closeEnquiry, listEnquiries, showEnquiry } from "../src/market/answer-enquiries.ts";
import { enquiryStatuses } from "../src/market/public-rules.ts";
import { parseQuerySpan } from "../src/kernel/query-time.ts";
import { command, parseChoice, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { spanOptions } from "./search.ts";

/** Enquiries hold the names and addresses of visitors. */
const reading = { permission: "enquiries.read" } as const;

const list = command({
  name: "enquiries list",
  summary: "list what the public asks, newest first",
  options: {
    status: { help: "only received or only closed" },
    ...spanOptions,
    limit: { default: "200", help: "how many at most" },
  },
  async run(options) {
    const filter = {
      status:
        options.status === undefined
          ? null
          : parseChoice("status", options.status, enquiryStatuses),
      limit: wholeNumber("limit", options.limit),
      ...parseQuerySpan(options),
    };
    const rows = await withOperator(
      options,
      reading,
      async ({ ctx }) => await listEnquiries(ctx, filter),
    );
    print(
      rows.map(({ enquiry_ref, kind, scheme, amount_paise, name, status, created_at }) => ({
        enquiry_ref,
        kind,
        scheme,
        amount_paise,
        name,
        status,
        created_at,
      })),
      options,
    );
  },
});

const show = command({
  name: "enquiries show",
  summary: "show an enquiry, with who sent it and how to reach them",
  operand: "ENQUIRY_REF",
  options: {},
  async run(options, enquiryRef) {
    printOne(
      await withOperator(options, reading, async ({ ctx }) => await showEnquiry(ctx, enquiryRef)),
      options,
    );
  },
});

const close = command({
  name: "enquiries close",
  summary: "close an enquiry; it is deleted 30 days later",
  operand: "ENQUIRY_REF",
  options: {
    outcome: { required: true, help: "what came of it, for your colleagues" },
    ...operatorOption,
  },
  example: "npx scripdesk enquiries close enq_… --outcome 'called back, opened a desk'",
  async run(options, enquiryRef) {
    const outcome = options.outcome.trim();
    if (outcome === "") throw new UsageError("--outcome must say something");
    const closed = await withOperator(
      options,
      { permission: "enquiries.write" },
      async ({ ctx, actor }) => await closeEnquiry(ctx, actor, { enquiryRef, outcome }),
    );
    printOne(closed, options);
  },
});

export const enquiryCommands = [list, show, close];
