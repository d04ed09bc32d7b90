import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { countOpenQuotes } from "../src/trading/quotes.ts";
import { listCards } from "../src/rates/current-cards.ts";
import { previewCard, publishCardWithApproval } from "../src/rates/publish-card.ts";
import type { CardTerms, RateCard, SizeBand, ValidityBand } from "../src/rates/rules.ts";
import { haltMarket, openMarket, setAllMarkets } from "../src/rates/set-market.ts";
import { command, naturalNumber, parseChoice, print, printOne, UsageError } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const market = {
  env: { required: true, help: "live or sandbox" },
  scheme: { required: true, help: schemes.join(" or ") },
} as const;

function parseMarket({ env, scheme }: { readonly env: string; readonly scheme: string }) {
  return {
    environment: parseChoice("env", env, environments),
    scheme: parseChoice("scheme", scheme, schemes),
  };
}

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
    const search = {
      environment: options.env === undefined ? null : parseChoice("env", options.env, environments),
      scheme: options.scheme === undefined ? null : parseChoice("scheme", options.scheme, schemes),
      history: options.history,
    };
    const cards = await withOperator(
      options,
      { permission: "read", environment: search.environment },
      async ({ ctx }) => await listCards(ctx, search),
    );
    if (options.json) print(cards.map(viewCard), options);
    else if (options.history) print(cards.map(summarizeCard), options);
    else printBlocks(cards.map(readable));
  },
});

/** The option and the term of every number that a card has. */
const numbers = {
  mid: { term: "mid_bps", help: "the middle of the market, in bps of face" },
  "half-spread": { term: "half_spread_bps", help: "from the mid to either side, in bps" },
  floor: { term: "floor_bps", help: "the least that is ever bid, in bps" },
  ceiling: { term: "ceiling_bps", help: "the most that is ever bid, in bps" },
  "ask-ceiling": { term: "ask_ceiling_bps", help: "the most that is ever asked, in bps" },
  "face-max-paise": { term: "face_max_paise", help: "the largest amount that is priced" },
  "house-limit-paise": { term: "house_limit_paise", help: "face the house takes on in a day" },
  "desk-share": {
    term: "desk_share_bps",
    help: "how much of it one desk's open quotes may hold, in bps",
  },
  "rest-min-paise": { term: "rest_min_paise", help: "the least face that an order rests with" },
  "quote-window-s": { term: "quote_window_s", help: "how long a price is binding, in seconds" },
  margin: { term: "margin_bps", help: "the least the house keeps between two clients, in bps" },
  fee: { term: "fee_bps", help: "fee within the all-in amount, in bps" },
  default: { term: "default_bps", help: "what a side that is proved late pays, in bps of face" },
} as const satisfies Record<string, { term: keyof CardTerms; help: string }>;

type NumberOption = keyof typeof numbers;

const numberNames = Object.keys(numbers) as NumberOption[];
const numberOptions = Object.fromEntries(
  numberNames.map((name) => [name, { help: numbers[name].help }]),
) as Record<NumberOption, { help: string }>;

const publish = command({
  name: "rates publish",
  summary: "publish a rate card; what is left out stays as it is, or is the starting card's",
  options: {
    ...market,
    ...numberOptions,
    "size-bands": { help: "BELOW_PAISE:BPS,… by rising bound; the last is *:BPS" },
    "validity-bands": { help: "FROM_DAYS:BPS,… by falling days; fewer days have no price" },
    note: { help: "why, for whoever asks later" },
    preview: { type: "boolean", help: "show what would change, and publish nothing" },
    ...operatorOption,
  },
  example:
    "npx scripdesk rates publish --env live --scheme RODTEP --mid 9850 --size-bands '5000000:-150,*:0'",
  async run(options) {
    const given = numberNames.flatMap((name) => {
      const text = options[name];
      return text === undefined ? [] : [[numbers[name].term, naturalNumber(name, text)]];
    });
    const terms: Partial<CardTerms> = {
      ...Object.fromEntries(given),
      ...(options["size-bands"] !== undefined && { size_bands: sizeBands(options["size-bands"]) }),
      ...(options["validity-bands"] !== undefined && {
        validity_bands: validityBands(options["validity-bands"]),
      }),
    };
    const { note } = options;
    const target = parseMarket(options);
    const publishing = {
      ...target,
      terms,
      note,
      twoFromBps: readConfig(process.env).twoOperatorsFromBps,
    };
    if (options.preview) {
      await showPreview(publishing, options);
      return;
    }
    const published = await withOperator(
      options,
      { permission: "rates.publish", environment: target.environment },
      async ({ ctx, actor }) => await publishCardWithApproval(ctx, actor, publishing),
    );
    if (published.outcome === "proposed") {
      printOne(published, options);
      return;
    }
    const { card } = published;
    printOne(options.json ? viewCard(card) : readable(card), options);
  },
});

async function showPreview(
  publishing: Parameters<typeof previewCard>[2],
  options: { readonly json: boolean },
): Promise<void> {
  const { environment } = publishing;
  const { preview, open } = await withOperator(
    options,
    { permission: "read", environment },
    async ({ ctx, actor }) => ({
      preview: await previewCard(ctx, actor, publishing),
      open: await countOpenQuotes(ctx, publishing),
    }),
  );
  const { bands, terms, ...rest } = preview;
  const summary = {
    ...rest,
    open_quotes: open.count,
    open_quotes_face_paise: open.face_paise,
    open_quotes_until: open.last_valid_until && istTimestamp(open.last_valid_until),
  };
  if (options.json) {
    printOne({ ...summary, terms, bands }, options);
    return;
  }
  print(terms, options);
  process.stdout.write("\n");
  print(bands, options);
  process.stdout.write("\n");
  printOne(summary, options);
}

function marketCommand(
  verb: "halt" | "open",
  { summary, set }: { summary: string; set: typeof haltMarket },
) {
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
      const environment = parseChoice("env", options.env, environments);
      const cards = await withOperator(
        options,
        { permission: `market.${verb}`, environment },
        async ({ ctx, actor }) => {
          const state = verb === "halt" ? "halted" : "open";
          if (scheme === undefined) {
            return await setAllMarkets(ctx, actor, { environment, note, state });
          }
          const target = { environment, scheme: parseChoice("scheme", scheme, schemes), note };
          return [await set(ctx, actor, target)];
        },
      );
      const [card] = cards;
      if (all || !card) print(cards.map(options.json ? viewCard : summarizeCard), options);
      else printOne(options.json ? viewCard(card) : summarizeCard(card), options);
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

function viewCard(card: RateCard & { readonly approved_by?: string | null }) {
  const { environment, scheme, version, state, published_at, published_by, ...rest } = card;
  const { note, approved_by = null, ...terms } = rest;
  return {
    env: environment,
    scheme,
    version,
    state,
    ...terms,
    published_at: istTimestamp(published_at),
    published_by,
    approved_by,
    note,
  };
}

/** Bands as they are typed. */
function readable(card: RateCard) {
  return {
    ...viewCard(card),
    size_bands: card.size_bands.map(({ below_paise, bps }) => `${below_paise ?? "*"}:${bps}`),
    validity_bands: card.validity_bands.map(({ from_days, bps }) => `${from_days}:${bps}`),
  };
}

/** A version in a history, without what fills a screen. */
function summarizeCard(card: RateCard) {
  const { env, scheme, version, state, mid_bps, half_spread_bps, published_at, note } =
    viewCard(card);
  return { env, scheme, version, state, mid_bps, half_spread_bps, published_at, note };
}

function printBlocks(cards: readonly ReturnType<typeof readable>[]): void {
  for (const [index, card] of cards.entries()) {
    if (index > 0) process.stdout.write("\n");
    printOne(card, { json: false });
  }
}

export const rateCommands = [show, publish];

export const marketCommands = [
  marketCommand("halt", { summary: "make no more binding prices in a scheme", set: haltMarket }),
  marketCommand("open", { summary: "make binding prices in a scheme again", set: openMarket }),
];
