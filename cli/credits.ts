import { applyRegistryNews } from "../src/credits/registry-news.ts";
import { importCreditsAsOperator } from "../src/credits/declare-credits.ts";
import { listAllCredits } from "../src/credits/read-credits.ts";
import { creditStates, type RegistryNews } from "../src/credits/rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { everything } from "../src/kernel/desk-search.ts";
import { Failure } from "../src/kernel/failure.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { onLost } from "../src/hooks.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { readReportFile, reportOptions } from "./report-file.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

const env = { env: { required: true, help: "live or sandbox" } } as const;

const list = command({
  name: "credits list",
  summary: "list credits of every desk, newest first",
  options: {
    ...searchOptions,
    scheme: { help: `only ${schemes.join(" or only ")}` },
    status: { help: "only this status" },
  },
  async run(options) {
    const scheme = readOptionalWord("scheme", options.scheme, schemes);
    const status = readOptionalWord("status", options.status, creditStates);
    await printSearch(options, {
      list: (ctx, search) => listAllCredits(ctx, { ...search, scheme, status }),
      listFirmIds: (row) => [row.firm_id],
      toRow: (row) => ({
        scrip_no: row.scrip_no,
        scheme: row.scheme,
        firm_id: row.firm_id,
        face_paise: row.face_paise,
        expires_on: row.expires_on,
        status: row.state,
        version: row.version,
      }),
    });
  },
});

const show = command({
  name: "credits show",
  summary: "show every desk's holding of a scrip number, newest first",
  operand: "SCRIP_NO",
  options: env,
  async run(options, scripNo) {
    const environment = parseChoice("env", options.env, environments);
    const rows = await withOperator(
      options,
      { permission: "read", environment },
      async ({ ctx }) => (await listAllCredits(ctx, { ...everything, environment, scripNo })).rows,
    );
    if (rows.length === 0) throw new Failure("not_found", `nobody has declared ${scripNo}`);
    print(
      rows.map((row) => ({
        scrip_no: row.scrip_no,
        env: row.environment,
        desk_id: row.desk_id,
        firm_id: row.firm_id,
        scheme: row.scheme,
        issued_paise: row.issued_paise,
        face_paise: row.face_paise,
        expires_on: row.expires_on,
        status: row.state,
        reason: row.reason,
        as_of: istTimestamp(row.as_of),
      })),
      options,
    );
  },
});

function newsCommand(news: Exclude<RegistryNews, "use">, summary: string) {
  return command({
    name: `credits ${news}`,
    summary,
    operand: "SCRIP_NO",
    options: {
      ...env,
      reason: { required: true, help: "the notice that says so" },
      ...operatorOption,
    },
    example: `npx scripdesk credits ${news} 0123/RODTEP/4567 --env live --reason "notice 7/2026"`,
    async run(options, scripNo) {
      const environment = parseChoice("env", options.env, environments);
      const { reason } = options;
      const [result] = await withOperator(
        options,
        { permission: "credits.write", environment },
        async ({ ctx, actor }) =>
          await applyRegistryNews(ctx, actor, {
            environment,
            news: [{ scripNo, news, reason }],
            onLost,
          }),
      );
      if (!result?.ok) throw new Failure("conflict", `${scripNo}: ${result?.problem ?? ""}`);
      printOne(result, options);
    },
  });
}

const importCommand = command({
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
    const report = await readReportFile(options);
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

export const creditCommands = [
  list,
  show,
  newsCommand("suspend", "record that customs suspended a credit"),
  newsCommand("lift", "record that customs lifted a suspension"),
  newsCommand("cancel", "record that customs cancelled a credit"),
  importCommand,
];
