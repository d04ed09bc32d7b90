// Prices and what the house sells: `rates …`, `market …`, `inventory …`.

import { readConfig } from "../src/config.ts";
import { type AddedInventory, addInventoryWithApproval } from "../src/credits/inventory.ts";
import { environments } from "../src/kernel/caller.ts";
import { Failure } from "../src/kernel/failure.ts";
import { houseFirmId } from "../src/kernel/ids.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { priceOperations } from "../src/ops/prices.ts";
import { registryOperations } from "../src/ops/registry.ts";
import type { SizeBand, ValidityBand } from "../src/rates/rules.ts";
import {
  command,
  type Option,
  parseChoice,
  print,
  printOne,
  UsageError,
  wholeNumber,
} from "./command.ts";
import {
  callOne,
  deriveFrom,
  type Field,
  type Fields,
  findOperation,
  parseField,
  pick,
  toOption,
} from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { readReportFile, reportOptions } from "./report-file.ts";

const derive = deriveFrom(registryOperations);
const find = (id: string) => findOperation(priceOperations, id);

const market = {
  env: { required: true, help: "live or sandbox" },
  scheme: { required: true, help: schemes.join(" or ") },
} as const;

const show = command({
  name: "rates show",
  summary: "show the rate cards in force, or every version there was",
  options: {
    env: { help: "only live or only sandbox" },
    scheme: { help: `only ${schemes.join(" or only ")}` },
    history: { type: "boolean", help: "every version, newest first" },
  },
  example: "npx scripdesk rates show --env live --scheme RODTEP --history",
  async run(options) {
    const { env, scheme, history } = options;
    const asked = {
      ...(env !== undefined && { environment: parseChoice("env", env, environments) }),
      ...(scheme !== undefined && { scheme: parseChoice("scheme", scheme, schemes) }),
      history,
    };
    const { cards } = await callOne(find("listCards"), asked, { options });
    if (options.json) return print(viewAll(cards, viewCard), options);
    if (history) return print(viewAll(cards, summarizeCard), options);
    for (const [index, card] of viewAll(cards, toReadable).entries()) {
      if (index > 0) process.stdout.write("\n");
      printOne(card, options);
    }
    return undefined;
  },
});

const terms: Field["schema"] = find("publishCard").body?.properties["terms"] ?? {};

/** Every number that a card has, by the operation's schema. */
const numbers: readonly Field[] = Object.entries(terms.properties ?? {})
  .filter(([, schema]) => schema.type === "integer")
  .map(([name, schema]) => ({
    name,
    schema,
    option: name.replace(/_bps$/, "").replaceAll("_", "-"),
    isRequired: false,
  }));

const publish = command({
  name: "rates publish",
  summary: "publish a rate card; what is left out stays as it is, or is the starting card's",
  options: {
    ...market,
    ...(Object.fromEntries(numbers.map((field) => [field.option, toOption(field)])) as Record<
      string,
      Option
    >),
    "size-bands": { help: "BELOW_PAISE:BPS,… by rising bound; the last is *:BPS" },
    "validity-bands": { help: "FROM_DAYS:BPS,… by falling days; fewer days have no price" },
    note: { help: "why, for whoever asks later" },
    preview: { type: "boolean", help: "show what would change, and publish nothing" },
    ...operatorOption,
  },
  example:
    "npx scripdesk rates publish --env live --scheme RODTEP --mid 9850 --size-bands '5000000:-150,*:0'",
  async run(options) {
    const given: Readonly<Record<string, string | boolean | undefined>> = options;
    const { "size-bands": size, "validity-bands": validity, note, json } = options;
    const chosen = Object.fromEntries(
      numbers.map((field) => [field.name, parseField(field, given[field.option])]),
    );
    const asked = {
      environment: parseChoice("env", options.env, environments),
      scheme: parseChoice("scheme", options.scheme, schemes),
      terms: {
        ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)),
        ...(size !== undefined && { size_bands: sizeBands(size) }),
        ...(validity !== undefined && { validity_bands: validityBands(validity) }),
      },
      note,
    };
    if (options.preview) {
      const {
        bands,
        terms: changed,
        open_quotes,
        ...rest
      } = await callOne(find("previewCard"), asked, {
        options,
      });
      const open = pick(
        open_quotes as Fields,
        "open_quotes=count open_quotes_face_paise=face_paise open_quotes_until=last_valid_until",
      );
      if (json) return printOne({ ...rest, ...open, terms: changed, bands }, options);
      print(changed as readonly Fields[], options);
      process.stdout.write("\n");
      print(bands as readonly Fields[], options);
      process.stdout.write("\n");
      return printOne({ ...rest, ...open }, options);
    }
    const published = await callOne(find("publishCard"), asked, { options });
    if (published["outcome"] === "proposed") return printOne(published, options);
    printOne((json ? viewCard : toReadable)(published["card"] as Fields), options);
    return undefined;
  },
});

function marketCommand(verb: "halt" | "open", summary: string) {
  return command({
    name: `market ${verb}`,
    summary,
    options: {
      env: market.env,
      scheme: { help: schemes.join(" or ") },
      all: { type: "boolean", help: "every scheme that has a card" },
      note: { help: "why, for whoever asks later" },
      ...operatorOption,
    },
    example: `npx scripdesk market ${verb} --env live --scheme RODTEP`,
    async run(options) {
      const { scheme, all, note } = options;
      if ((scheme === undefined) === !all) throw new UsageError("give --scheme or --all");
      const asked = {
        environment: parseChoice("env", options.env, environments),
        ...(scheme !== undefined && { scheme: parseChoice("scheme", scheme, schemes) }),
        all,
        note,
      };
      const { cards } = await callOne(find(`${verb}Market`), asked, { options });
      const shown = viewAll(cards, options.json ? viewCard : summarizeCard);
      const [one] = shown;
      if (all || !one) print(shown, options);
      else printOne(one, options);
    },
  });
}

/** `5000000:-150,*:0` */
function sizeBands(text: string): SizeBand[] {
  return parseBands("size-bands", text, /^(\d+|\*):([+-]?\d+)$/).map(([below, bps]) => ({
    below_paise: below === "*" ? null : Number(below),
    bps: Number(bps),
  }));
}

/** `365:0,30:-250` */
function validityBands(text: string): ValidityBand[] {
  return parseBands("validity-bands", text, /^(\d+):([+-]?\d+)$/).map(([from, bps]) => ({
    from_days: Number(from),
    bps: Number(bps),
  }));
}

function parseBands(name: string, text: string, form: RegExp): (readonly [string, string])[] {
  return text.split(",").map((band) => {
    const [, edge, bps] = form.exec(band.trim()) ?? [];
    if (edge !== undefined && bps !== undefined) return [edge, bps];
    throw new UsageError(`--${name}: "${band.trim()}" is no band; see \`rates publish --help\``);
  });
}

function viewAll(cards: unknown, view: (card: Fields) => Fields): Fields[] {
  return (cards as readonly Fields[]).map(view); // By the operation's schema.
}

function viewCard(card: Fields): Fields {
  const {
    environment: env,
    scheme,
    version,
    status: state,
    published_at,
    published_by,
    ...rest
  } = card;
  const { note, approved_by = null, ...terms } = rest;
  return { env, scheme, version, state, ...terms, published_at, published_by, approved_by, note };
}

/** Bands as they are typed. */
function toReadable(card: Fields): Fields {
  const sizes = card["size_bands"] as readonly SizeBand[];
  const days = card["validity_bands"] as readonly ValidityBand[];
  return {
    ...viewCard(card),
    size_bands: sizes.map(({ below_paise, bps }) => `${below_paise ?? "*"}:${bps}`),
    validity_bands: days.map(({ from_days, bps }) => `${from_days}:${bps}`),
  };
}

/** A version in a history, without what fills a screen. */
function summarizeCard(card: Fields): Fields {
  return pick(
    viewCard(card),
    "env=env scheme version state mid_bps half_spread_bps published_at note",
  );
}

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
    env: market.env,
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
  const report = readReportFile(options);
  if (!report) return { items: [parseItem(options)] } as const;
  if (isItem(options)) throw new UsageError("give --csv or --xlsx alone, or one credit");
  return report;
}

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

export const commands = [
  show,
  publish,
  marketCommand("halt", "make no more binding prices in a scheme"),
  marketCommand("open", "make binding prices in a scheme again"),
  add,
  derive("listAllCredits", "inventory list", {
    summary: "list the house's own credits, newest first",
    fixed: { desk_id: undefined, firm_id: undefined, scrip_no: undefined },
    complete({ environment, ...asked }) {
      if (environment === undefined) throw new UsageError("--env is required");
      const firm_id = houseFirmId[environment as keyof typeof houseFirmId]; // By its schema.
      return { ...asked, environment, firm_id };
    },
    columns: "scrip_no scheme face_paise expires_on status version",
  }),
];
