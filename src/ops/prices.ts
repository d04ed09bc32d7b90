import { type Static, Type } from "typebox";

import { listAllCredits } from "../credits/read-credits.ts";
import { addInventoryWithApproval } from "../credits/inventory.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { readHouseDay } from "../overview/house-day.ts";
import { countOpenQuotes } from "../trading/quotes.ts";
import { listCards } from "../rates/current-cards.ts";
import { previewCard, publishCardWithApproval } from "../rates/publish-card.ts";
import type { MarketState, RateCard } from "../rates/rules.ts";
import { haltMarket, openMarket, setAllMarkets } from "../rates/set-market.ts";
import {
  act,
  environment,
  events,
  natural,
  type OpsCall,
  optional,
  paise,
  read,
  scheme,
  searchDesks,
  searchQuery,
  text,
  reportFiles,
} from "./operation.ts";
import {
  AddedInventory,
  Board,
  CardPreview,
  Cards,
  ChangedCards,
  HouseDay,
  PublishedCard,
} from "./prices-schema.ts";
import { Credits } from "./world-schema.ts";
import type { Operation } from "../platform/http/operation.ts";

const rates = { tag: "Rates" } as const;
const inventory = { tag: "Inventory" } as const;

const signed = (description: string) =>
  Type.Integer({ minimum: -10_000, maximum: 10_000, description });

const terms = Type.Object(
  {
    mid_bps: optional(natural("The middle of the market.")),
    half_spread_bps: optional(natural("From the mid to either side.")),
    size_bands: optional(
      Type.Array(
        Type.Object(
          {
            below_paise: Type.Union([paise("Faces below this."), Type.Null()]),
            bps: signed("What they get."),
          },
          { additionalProperties: false },
        ),
        { description: "By rising bound; the last has none.", maxItems: 50 },
      ),
    ),
    validity_bands: optional(
      Type.Array(
        Type.Object(
          { from_days: natural("Days left, at least."), bps: signed("What they get.") },
          { additionalProperties: false },
        ),
        { description: "By falling days.", maxItems: 50 },
      ),
    ),
    floor_bps: optional(natural("The least that is ever bid.")),
    ceiling_bps: optional(natural("The most that is ever bid.")),
    ask_ceiling_bps: optional(natural("The most that is ever asked.")),
    face_max_paise: optional(natural("The largest amount that is priced.")),
    house_limit_paise: optional(natural("Face the house takes on in a day.")),
    desk_share_bps: optional(
      natural(
        "How much of it one desk's open quotes may hold; in the sandbox, what it sells in a day too.",
      ),
    ),
    quote_window_s: optional(natural("How long a price is binding.")),
    rest_min_paise: optional(natural("The least face that an order rests with.")),
    margin_bps: optional(natural("The least the house keeps between two clients.")),
    fee_bps: optional(natural("Fee within the all-in amount.")),
  },
  { additionalProperties: false, description: "What is left out stays as it is." },
);

const card = { environment, scheme, terms, note: optional(text("Why, for whoever asks later.")) };
const market = {
  environment,
  scheme: optional(scheme),
  all: optional(Type.Boolean({ description: "Every scheme that has a card." })),
  note: optional(text("Why, for whoever asks later.")),
};
const marketBody = Type.Object(market);

async function setMarkets(
  { ctx, actor, body }: OpsCall<undefined, Static<typeof marketBody>>,
  state: MarketState,
): Promise<{ readonly cards: readonly RateCard[] }> {
  const { environment: where, scheme: which, all = false, note } = body;
  if ((which === undefined) === !all) {
    throw unprocessable({ path: "scheme", problem: "give it, or all: true" });
  }
  if (which === undefined) {
    return { cards: await setAllMarkets(ctx, actor, { environment: where, note, state }) };
  }
  const set = state === "halted" ? haltMarket : openMarket;
  return { cards: [await set(ctx, actor, { environment: where, scheme: which, note })] };
}

export const priceOperations: readonly Operation[] = [
  read("readBoard", "/ops/board", {
    ...rates,
    summary:
      "Read both markets: card, prices, index, stock and how much of the day's limit is used",
    query: { environment },
    answer: Board,
    run: async ({ query, wiring: { boards } }) => await boards.read(query.environment),
  }),
  events("streamBoard", "/ops/board/stream", {
    ...rates,
    summary: "Follow the board: an event `board` with all of it now and at every change",
    query: { environment },
    answer: Board,
    run: async ({ query, wiring: { boards }, openStream }) =>
      await boards.follow(query.environment, openStream()),
  }),
  read("listCards", "/ops/rates", {
    ...rates,
    summary: "List the rate cards in force, or every version there was",
    query: {
      environment: optional(environment),
      scheme: optional(scheme),
      history: optional(Type.Boolean({ description: "Every version, newest first." })),
    },
    answer: Cards,
    run: async ({ ctx, query }) => ({
      cards: await listCards(ctx, {
        environment: query.environment ?? null,
        scheme: query.scheme ?? null,
        history: query.history ?? false,
      }),
    }),
  }),
  act("previewCard", "/ops/rates/preview", {
    ...rates,
    summary: "Show bid and ask of every band before and after, and the open quotes; writes nothing",
    permission: "read",
    body: card,
    answer: CardPreview,
    run: async ({ ctx, actor, body, wiring: { twoFromBps } }) => ({
      ...(await previewCard(ctx, actor, { ...body, twoFromBps })),
      open_quotes: await countOpenQuotes(ctx, body),
    }),
  }),
  act("publishCard", "/ops/rates", {
    ...rates,
    summary: "Publish a rate card; a price that moves far takes two people",
    permission: "rates.publish",
    body: card,
    answer: PublishedCard,
    run: async ({ ctx, actor, body, wiring: { twoFromBps } }) =>
      await publishCardWithApproval(ctx, actor, {
        ...body,
        twoFromBps,
      }),
  }),
  act("haltMarket", "/ops/market/halt", {
    ...rates,
    summary: "Make no more binding prices in a scheme, or in all of them",
    permission: "market.halt",
    body: market,
    answer: ChangedCards,
    run: async (call) => await setMarkets(call, "halted"),
  }),
  act("openMarket", "/ops/market/open", {
    ...rates,
    summary: "Make binding prices again in a scheme, or in all of them",
    permission: "market.open",
    body: market,
    answer: ChangedCards,
    run: async (call) => await setMarkets(call, "open"),
  }),
  read("listInventory", "/ops/inventory", {
    ...inventory,
    summary: "List the house's own credits, newest first",
    query: { environment, limit: searchQuery.limit, cursor: searchQuery.cursor },
    answer: Credits,
    run: async ({ ctx, query }) => {
      const house = { ...query, firm_id: houseFirmId[query.environment] };
      return await searchDesks({ ctx, query: house }, "credits", {
        list: (search) => listAllCredits(ctx, search),
        listFirmIds: (row) => [row.firm_id],
      });
    },
  }),
  read("readHouseDay", "/ops/house/day", {
    ...inventory,
    summary: "Read what the house bought, sold and matched on a day, and what that came to",
    query: { environment, day: optional(text("The day, YYYY-MM-DD; today when left out.", 10)) },
    answer: HouseDay,
    run: async ({ ctx, query }) => await readHouseDay(ctx, query.environment, query.day),
  }),
  act("addInventory", "/ops/inventory", {
    ...inventory,
    summary: "Add credits for the house to sell; a large face takes two people",
    permission: "inventory.write",
    body: {
      environment,
      credits: optional(
        Type.Array(
          Type.Object(
            {
              scheme,
              scrip_no: text("The credit's number.", 64),
              face_paise: paise("Its balance."),
              expires_on: text("Its last day, YYYY-MM-DD.", 10),
              issued_on: optional(text("Its day of issue.", 10)),
            },
            { additionalProperties: false },
          ),
          { minItems: 1, maxItems: 500, description: "Credits one by one." },
        ),
      ),
      ...reportFiles,
    },
    answer: AddedInventory,
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) => {
      const { environment: where, credits: items, csv, xlsx } = body;
      const isReport = csv !== undefined || xlsx !== undefined;
      if ((items === undefined) !== isReport) {
        throw unprocessable({ path: "credits", problem: "give credits, or csv or xlsx" });
      }
      const added = isReport ? { csv, xlsx } : { items: items ?? [] };
      const adding = { environment: where, inventory: added, twoFromPaise };
      return await addInventoryWithApproval(ctx, actor, adding);
    },
  }),
];
