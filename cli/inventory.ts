import { readConfig } from "../src/config.ts";
import { type AddedInventory, addInventoryWithApproval } from "../src/credits/inventory.ts";
import { listAllCredits } from "../src/credits/read-credits.ts";
import { creditStates } from "../src/credits/rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { Failure } from "../src/kernel/failure.ts";
import { houseFirmId } from "../src/kernel/ids.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { command, parseChoice, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { readReportFile, reportOptions } from "./report-file.ts";
import { readOptionalWord, pageOptions, printSearch, spanOptions } from "./search.ts";

const env = { env: { required: true, help: "live or sandbox" } } as const;

type One = {
  readonly scheme: string | undefined;
  readonly "scrip-no": string | undefined;
  readonly "face-paise": string | undefined;
  readonly "expires-on": string | undefined;
  readonly "issued-on": string | undefined;
};

const add = command({
  name: "inventory add",
  summary: "add credits for the house to sell; you vouch for them, so they are listed at once",
  options: {
    ...env,
    scheme: { help: schemes.join(" or ") },
    "scrip-no": { help: "the credit's number" },
    "face-paise": { help: "its balance, in paise" },
    "expires-on": { help: "its last day, YYYY-MM-DD" },
    "issued-on": { help: "its day of issue; two years before its last day when not given" },
    ...reportOptions,
    ...operatorOption,
  },
  example:
    "npx scripdesk inventory add --env live --scheme RODTEP --scrip-no 0123/RODTEP/4567 --face-paise 25000000 --expires-on 2028-03-31",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const act = { permission: "inventory.write", environment } as const;
    const inventory = await readInventory(options);
    const twoFromPaise = readConfig(process.env).twoOperatorsFromPaise;
    const added = await withOperator(options, act, ({ ctx, actor }) =>
      addInventoryWithApproval(ctx, actor, { environment, inventory, twoFromPaise }),
    );
    if (added.outcome === "proposed") {
      printOne(added, options);
      return 0;
    }
    const { results } = added;
    if ("items" in inventory) {
      printOne(viewCredit(inventory.items[0]?.scrip_no ?? "", results.results[0]), options);
      return 0;
    }
    if (options.json) printOne(results, options);
    else print(results.results.map(viewLine), options);
    return results.failed > 0 ? 1 : 0;
  },
});

async function readInventory(options: One & Parameters<typeof readReportFile>[0]) {
  const report = await readReportFile(options);
  if (!report) return { items: [parseItem(options)] } as const;
  if (isItem(options)) throw new UsageError("give --csv or --xlsx alone, or one credit");
  return report;
}

const list = command({
  name: "inventory list",
  summary: "list the house's own credits, newest first",
  options: {
    ...env,
    scheme: { help: `only ${schemes.join(" or only ")}` },
    status: { help: "only this status" },
    ...spanOptions,
    ...pageOptions,
  },
  async run(options) {
    const firm = houseFirmId[parseChoice("env", options.env, environments)];
    const scheme = readOptionalWord("scheme", options.scheme, schemes);
    const status = readOptionalWord("status", options.status, creditStates);
    await printSearch(
      { ...options, firm },
      {
        list: (ctx, search) => listAllCredits(ctx, { ...search, scheme, status }),
        listFirmIds: () => [],
        toRow: (row) => ({
          scrip_no: row.scrip_no,
          scheme: row.scheme,
          face_paise: row.face_paise,
          expires_on: row.expires_on,
          status: row.state,
          version: row.version,
        }),
      },
    );
  },
});

function isItem(options: One): boolean {
  const names = ["scheme", "scrip-no", "face-paise", "expires-on", "issued-on"] as const;
  return names.some((name) => options[name] !== undefined);
}

function parseItem(options: One) {
  const required = (name: keyof One): string => {
    const text = options[name];
    if (text === undefined) throw new UsageError(`--${name} is required, or --csv or --xlsx`);
    return text;
  };
  return {
    scheme: parseChoice("scheme", required("scheme"), schemes),
    scrip_no: required("scrip-no"),
    face_paise: wholeNumber("face-paise", required("face-paise")),
    expires_on: required("expires-on"),
    issued_on: options["issued-on"],
  };
}

type Line = Extract<AddedInventory, { outcome: "done" }>["results"]["results"][number];

function viewCredit(scripNo: string, line: Line | undefined) {
  if (!line?.credit) throw new Failure("conflict", `${scripNo}: ${line?.error?.message}`);
  const { scrip_no, scheme, face_paise, issued_on, expires_on, status } = line.credit;
  return { scrip_no, scheme, face_paise, issued_on, expires_on, status };
}

function viewLine(line: Line) {
  const { status, credit, error } = line;
  const row = "row" in line ? line.row : line.index + 1;
  return { row, status, scrip_no: credit?.scrip_no, problem: error?.message };
}

export const inventoryCommands = [add, list];
