import { type Finding, toAttestations } from "../src/outside/attest.ts";
import { readOpenInquiries, setOutage } from "../src/outside/ask.ts";
import { checkNames, ports } from "../src/outside/inquiry-rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { resolveSearch } from "../src/overview/desks.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { attest } from "./attest.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { readRows } from "./csv.ts";
import { operatorOption, withOperator, readCsv } from "./operators.ts";
import {
  readOptionalWord,
  parseNarrowing,
  searchOptions,
  spanOptions,
  toReading,
} from "./search.ts";

const list = command({
  name: "registry list",
  summary: "list the open questions to customs and banks, oldest first",
  options: {
    env: searchOptions.env,
    desk: searchOptions.desk,
    ...spanOptions,
    port: { help: "only registry or only bank" },
  },
  async run(options) {
    const port = readOptionalWord("port", options.port, ports) ?? null;
    const rows = await withOperator(options, toReading(options), async ({ ctx }) => {
      const search = await resolveSearch(ctx, parseNarrowing(options));
      return await readOpenInquiries(ctx, { ...search, port });
    });
    print(
      rows.map((inquiry) => ({
        inquiry_id: inquiry.inquiry_id,
        env: inquiry.environment,
        port: inquiry.port,
        kind: inquiry.kind,
        subject_id: inquiry.subject_id,
        facts: inquiry.facts,
        asked_at: istTimestamp(inquiry.created_at),
      })),
      options,
    );
  },
});

const confirm = command({
  name: "registry confirm",
  summary: "answer open questions with what you saw and a reference to it",
  operand: "INQUIRY_ID",
  operandOptional: true,
  options: {
    reference: { help: "what you saw: a ticket, a letter, a screenshot's number" },
    fail: { help: "CHECK:cure of a check that failed; the others pass (firms)" },
    held: { help: "yes or no: whether the firm holds the credit (credits)" },
    csv: { help: "a file with the columns inquiry_id, outcome, check, reference" },
    ...operatorOption,
  },
  example:
    "npx scripdesk registry confirm inq_… --reference TICKET-7 --fail 'PAN_MATCH:correct the PAN'",
  async run(options, inquiryId) {
    const findings =
      options.csv === undefined
        ? [parseFinding(inquiryId, options)]
        : await readFindings(await readCsv(options.csv));
    const attested = await withOperator(
      options,
      { permission: "registry.write", about: findings.map((finding) => finding.inquiryId) },
      async ({ ctx, actor }) => await attest(ctx, actor, await toAttestations(ctx, findings)),
    );
    printOne(attested, options);
  },
});

const outage = command({
  name: "registry outage",
  summary: "say that a port is down, or up again; questions wait meanwhile",
  options: {
    env: { required: true, help: "live or sandbox" },
    port: { required: true, help: "registry or bank" },
    on: { help: "it is down: a note for whoever asks why" },
    off: { type: "boolean", help: "it is up again" },
    ...operatorOption,
  },
  example: "npx scripdesk registry outage --env live --port registry --on 'portal maintenance'",
  async run(options) {
    const target = {
      environment: parseChoice("env", options.env, environments),
      port: parseChoice("port", options.port, ports),
    };
    if ((options.on === undefined) === !options.off)
      throw new UsageError("give --on NOTE or --off");
    await withOperator(
      options,
      { permission: "registry.write", environment: target.environment },
      async ({ ctx, actor }) => await setOutage(ctx, target, options.on, actor),
    );
    printOne({ ...target, state: options.off ? "up" : "outage" }, options);
  },
});

function parseFinding(
  inquiryId: string,
  options: { reference: string | undefined; fail: string | undefined; held: string | undefined },
): Finding {
  if (inquiryId === "") throw new UsageError("give one INQUIRY_ID, or --csv FILE");
  if (!options.reference?.trim()) throw new UsageError("--reference is required");
  return {
    inquiryId,
    reference: options.reference.trim(),
    failed: options.fail === undefined ? [] : [failedCheck(options.fail)],
    held:
      options.held === undefined
        ? undefined
        : parseChoice("held", options.held, ["yes", "no"]) === "yes",
  };
}

async function readFindings(text: string): Promise<Finding[]> {
  const rows = await readRows(text, ["inquiry_id", "outcome", "check", "reference"]);
  return rows.map(({ line, cells }) => {
    const { inquiry_id = "", outcome = "", check = "", reference = "" } = cells;
    const where = `line ${line}`;
    if (reference === "") throw new UsageError(`${where} has no reference`);
    if (!["pass", "fail", "held", "not_held"].includes(outcome)) {
      throw new UsageError(`${where}: outcome must be pass, fail, held or not_held`);
    }
    if ((outcome === "fail") !== (check !== "")) {
      throw new UsageError(`${where}: a check is named when it failed, and only then`);
    }
    return {
      inquiryId: inquiry_id,
      reference,
      failed: outcome === "fail" ? [failedCheck(check)] : [],
      held: outcome === "held" || outcome === "not_held" ? outcome === "held" : undefined,
    };
  });
}

/** `PAN_MATCH:correct the PAN` */
function failedCheck(text: string): Finding["failed"][number] {
  const [name = "", ...cure] = text.split(":");
  return {
    check: parseChoice("fail", name.trim(), checkNames),
    cure: cure.join(":").trim() || null,
  };
}

export const registryCommands = [list, confirm, outage];
