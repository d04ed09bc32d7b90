// What customs, banks and their calendars say: `registry …`, `credits …`, `calendar …`.

import { readFile } from "node:fs/promises";

import { importCreditsAsOperator } from "../src/credits/declare-credits.ts";
import { Failure } from "../src/kernel/failure.ts";
import { registryOperations } from "../src/ops/registry.ts";
import { importDays } from "../src/outside/calendar.ts";
import { checkNames } from "../src/outside/question-rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { readRows } from "./csv.ts";
import { callOne, deriveFrom, type Fields, findOperation, pick, viewAttested } from "./derived.ts";
import { operatorOption, readCsv, withOperator } from "./operators.ts";
import { readReportFile, reportOptions } from "./report-file.ts";

const derive = deriveFrom(registryOperations);

/** An answer to an open question, as operations take it. */
type Finding = {
  readonly question_id: string;
  readonly reference: string;
  readonly failed: readonly { readonly check: string; readonly cure?: string }[];
  readonly held?: boolean;
};

const confirm = command({
  name: "registry confirm",
  summary: "answer open questions with what you saw and a reference to it",
  operand: "QUESTION_ID",
  operandOptional: true,
  options: {
    reference: { help: "what you saw: a ticket, a letter, a screenshot's number" },
    fail: { help: "CHECK:cure of a check that failed; the others pass (firms)" },
    held: { help: "yes or no: whether the firm holds the credit (credits)" },
    csv: { help: "a file with the columns question_id, outcome, check, reference" },
    ...operatorOption,
  },
  example:
    "npx scripdesk registry confirm inq_… --reference TICKET-7 --fail 'PAN_MATCH:correct the PAN'",
  async run(options, questionId) {
    const findings =
      options.csv === undefined
        ? [parseFinding(questionId, options)]
        : await readFindings(await readCsv(options.csv));
    const asked = { options, ids: findings.map((finding) => finding.question_id) };
    const attesting = findOperation(registryOperations, "attestQuestions");
    printOne(viewAttested(await callOne(attesting, { findings }, asked)), options);
  },
});

function parseFinding(
  questionId: string,
  options: { reference: string | undefined; fail: string | undefined; held: string | undefined },
): Finding {
  if (questionId === "") throw new UsageError("give one QUESTION_ID, or --csv FILE");
  if (!options.reference?.trim()) throw new UsageError("--reference is required");
  return {
    question_id: questionId,
    reference: options.reference.trim(),
    failed: options.fail === undefined ? [] : [parseCheck(options.fail)],
    ...(options.held !== undefined && {
      held: parseChoice("held", options.held, ["yes", "no"]) === "yes",
    }),
  };
}

async function readFindings(text: string): Promise<Finding[]> {
  const rows = await readRows(text, ["question_id", "outcome", "check", "reference"]);
  return rows.map(({ line, cells }) => {
    const { question_id = "", outcome = "", check = "", reference = "" } = cells;
    const where = `line ${line}`;
    if (reference === "") throw new UsageError(`${where} has no reference`);
    if (!["pass", "fail", "held", "not_held"].includes(outcome)) {
      throw new UsageError(`${where}: outcome must be pass, fail, held or not_held`);
    }
    if ((outcome === "fail") !== (check !== "")) {
      throw new UsageError(`${where}: a check is named when it failed, and only then`);
    }
    return {
      question_id,
      reference,
      failed: outcome === "fail" ? [parseCheck(check)] : [],
      ...(outcome.endsWith("held") && { held: outcome === "held" }),
    };
  });
}

/** `PAN_MATCH:correct the PAN` */
function parseCheck(text: string): Finding["failed"][number] {
  const [name = "", ...cure] = text.split(":");
  const told = cure.join(":").trim();
  return {
    check: parseChoice("fail", name.trim(), checkNames),
    ...(told !== "" && { cure: told }),
  };
}

const showCredit = command({
  name: "credits show",
  summary: "show every desk's holding of a scrip number, newest first",
  operand: "SCRIP_NO",
  options: { env: { required: true, help: "live or sandbox" } },
  async run(options, scrip_no) {
    const environment = parseChoice("env", options.env, environments);
    const listing = findOperation(registryOperations, "listAllCredits");
    const found = await callOne(listing, { environment, scrip_no, limit: 1_000 }, { options });
    const rows = found["credits"] as readonly Fields[];
    if (rows.length === 0) throw new Failure("not_found", `nobody has declared ${scrip_no}`);
    const columns =
      "scrip_no env desk_id firm_id scheme issued_paise face_paise expires_on status reason as_of";
    print(
      rows.map((row) => pick(row, columns)),
      options,
    );
  },
});

const importCredits = command({
  name: "credits import",
  summary: "import a report of the customs portal for a firm",
  options: {
    firm: { required: true, help: "the firm's id" },
    desk: { help: "the desk's firm id; the firm's own when not given" },
    ...reportOptions,
    ...operatorOption,
  },
  example: "npx scripdesk credits import --desk frm_… --firm frm_… --xlsx scrips.xlsx",
  async run(options) {
    const report = readReportFile(options);
    if (!report) throw new UsageError("--csv or --xlsx is required");
    const target = { deskId: options.desk ?? options.firm, firmId: options.firm };
    const answer = await withOperator(
      options,
      { permission: "credits.write", about: [options.firm] },
      async ({ ctx, actor }) => await importCreditsAsOperator(ctx, actor, target, report),
    );
    if (options.json) printOne(answer, options);
    else {
      print(
        answer.results.map(({ row, status, credit, error }) => ({
          row,
          status,
          scrip_no: credit?.scrip_no,
          problem: error?.message,
        })),
        options,
      );
    }
    return answer.failed > 0 ? 1 : 0;
  },
});

const importDaysFile = command({
  name: "calendar import",
  summary: "take over a list of holidays; starting rows of its years that it lacks go",
  operand: "FILE.csv",
  options: operatorOption,
  example: "npx scripdesk calendar import holidays-2027.csv  # office,day,name[,works]",
  async run(options, file) {
    const text = await readFile(file, "utf8").catch((error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`);
    });
    const rows = await readRows(text, ["office", "day", "name"]);
    const days = rows.map(({ cells }) => ({
      office: cells["office"] ?? "",
      day: cells["day"] ?? "",
      name: cells["name"] ?? "",
      works: cells["works"] ?? "",
    }));
    const act = { permission: "calendar.write" } as const;
    const done = await withOperator(options, act, ({ ctx, actor }) => importDays(ctx, actor, days));
    printOne(done, options);
  },
});

function recordNews(news: "suspend" | "lift" | "cancel", what: string) {
  return derive("recordNews", `credits ${news}`, {
    summary: `record that customs ${what}`,
    word: "scrip_no",
    fixed: { news },
    example: `npx scripdesk credits ${news} 0123/RODTEP/4567 --env live --reason "notice 7/2026"`,
  });
}

export const commands = [
  derive("listQuestions", "registry list", {
    defaults: { limit: "10000" },
    columns: "question_id env port kind subject_id facts asked_at=created_at",
  }),
  confirm,
  derive("setOutage", "registry outage", {
    summary: "say that a port is down, or up again; questions wait meanwhile",
    as: { note: "on" },
    own: { off: { type: "boolean", help: "it is up again" } },
    complete(input, { off }) {
      if ((input["note"] === undefined) === (off === true)) return input;
      throw new UsageError("give --on NOTE or --off");
    },
    columns: "environment port state=status",
    example: "npx scripdesk registry outage --env live --port registry --on 'portal maintenance'",
  }),
  derive("listAllCredits", "credits list", {
    fixed: { scrip_no: undefined },
    columns: "scrip_no scheme firm_id face_paise expires_on status version",
  }),
  showCredit,
  recordNews("suspend", "suspended a credit"),
  recordNews("lift", "lifted a suspension"),
  recordNews("cancel", "cancelled a credit"),
  importCredits,
  derive("listCalendar", "calendar list", { columns: "day office works name status" }),
  importDaysFile,
  derive("addCalendarDay", "calendar add", {
    summary: "add or confirm one day: a holiday, or with --works a day on which banks work",
    word: "day",
    view: ({ day, office, works = false, name }) => ({
      day,
      office,
      works,
      name,
      status: "confirmed",
    }),
    example: 'npx scripdesk calendar add 2026-12-07 --office bank --name "Declared by the state"',
  }),
  derive("removeCalendarDay", "calendar remove", { word: "day", columns: "day office removed" }),
];
