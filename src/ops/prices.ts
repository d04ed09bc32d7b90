import { type Static, Type } from "typebox";

import { listAllCredits, sumStockByExpiry } from "../credits/read-credits.ts";
import { addInventoryWithApproval } from "../credits/inventory.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { readHouseDay } from "../overview/today.ts";
import { countOpenQuotes } from "../trading/quotes.ts";
import { listCards } from "../rates/current-cards.ts";
import { previewCard, publishCardWithApproval } from "../rates/publish-card.ts";
import type { MarketState, RateCard } from "../rates/rules.ts";
import { haltMarket, openMarket, setAllMarkets } from "../rates/set-market.ts";
import {
  environment,
  natural,
  optional,
  paise,
  query,
  reportFiles,
  scheme,
  searchDesks,
  searchQuery,
  takesMachines,
  text,
  under,
  cursor,
  listQuery,
  readQueue,
  spanQuery,
} from "./operation.ts";
import {
  AddedInventory,
  Board,
  CardPreview,
  Cards,
  ChangedCards,
  HouseDay,
  PublishedCard,
  Enquiries,
  OpenedEnquiry,
  Enquiry,
} from "./prices-schema.ts";
import { DayBands } from "./schema.ts";
import { Credits } from "./registry-schema.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import { type Operation, operation, type OperatorCall } from "../platform/http/operation.ts";
import { closeEnquiry, listEnquiries, showEnquiry } from "../market/answer-enquiries.ts";
import { enquiryStatuses } from "../market/public-rules.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";

const rates = under("Rates");
const inventory = under("Inventory");

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
            below_paise: Type.Union([paise("Faces below this."), Type.Null()], {
              description: "Faces below this; null for the last band.",
            }),
            bps: signed("What is added to the mid, in basis points."),
          },
          { additionalProperties: false },
        ),
        { description: "By rising bound; the last has none.", maxItems: 50 },
      ),
    ),
    validity_bands: optional(
      Type.Array(
        Type.Object(
          {
            from_days: natural("From this number of days left."),
            bps: signed("What is added to the mid, in basis points."),
          },
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
    default_bps: optional(natural("Of face, what a side that is proved late pays the other.")),
  },
  { additionalProperties: false, description: "What is left out stays as it is." },
);

const card = { environment, scheme, terms, note: optional(text("Why, for whoever asks later.")) };
const market = body({
  environment,
  scheme: optional(scheme),
  all: optional(Type.Boolean({ description: "Every scheme that has a card." })),
  note: optional(text("Why, for whoever asks later.")),
});

async function setMarkets(
  { ctx, actor }: OperatorCall,
  { environment: where, scheme: which, all = false, note }: Static<typeof market>,
  state: MarketState,
): Promise<{ readonly cards: readonly RateCard[] }> {
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
  operation({
    ...rates.read("readBoard", "/ops/board"),
    summary:
      "Read both markets: card, prices, index, stock and how much of the day's limit is used",
    query: query({ environment }),
    answer: Board,
    run: ({ wiring: { boards } }, asked) => boards.read(asked.environment),
  }),
  operation({
    ...rates.read("streamBoard", "/ops/board/stream"),
    summary: "Follow the board: an event `board` with all of it now and at every change",
    query: query({ environment }),
    answer: Board,
    run: ({ wiring: { boards }, openStream }, asked) =>
      boards.follow(asked.environment, openStream()) as Promise<never>, // The stream is the answer.
    config: { streams: true },
  }),
  operation({
    ...rates.read("listCards", "/ops/rates"),
    summary: "List the rate cards in force, or every version there was",
    query: query({
      environment: optional(environment),
      scheme: optional(scheme),
      history: optional(Type.Boolean({ description: "Every version, newest first." })),
    }),
    answer: Cards,
    run: async ({ ctx }, asked) => ({
      cards: await listCards(ctx, {
        environment: asked.environment ?? null,
        scheme: asked.scheme ?? null,
        history: asked.history ?? false,
      }),
    }),
  }),
  operation({
    ...rates.act("previewCard", "/ops/rates/preview", "read"),
    summary:
      "Show terms, bid and ask of every band before and after, and the open quotes; writes nothing",
    body: body(card),
    answer: CardPreview,
    run: async ({ ctx, actor, wiring: { twoFromBps } }, asked) => ({
      ...(await previewCard(ctx, actor, { ...asked, twoFromBps })),
      open_quotes: await countOpenQuotes(ctx, asked),
    }),
  }),
  operation({
    ...rates.act("publishCard", "/ops/rates", "rates.publish"),
    summary:
      "Publish a rate card; a price or a limit that moves far, and a first live card, takes two people",
    body: body(card),
    answer: PublishedCard,
    run: ({ ctx, actor, wiring: { twoFromBps } }, asked) =>
      publishCardWithApproval(ctx, actor, { ...asked, twoFromBps }),
  }),
  operation({
    ...rates.act("haltMarket", "/ops/market/halt", "market.halt"),
    config: takesMachines,
    summary: "Make no more binding prices in a scheme, or in all of them",
    body: market,
    answer: ChangedCards,
    run: (call, asked) => setMarkets(call, asked, "halted"),
  }),
  operation({
    ...rates.act("openMarket", "/ops/market/open", "market.open"),
    summary: "Make binding prices again in a scheme, or in all of them",
    body: market,
    answer: ChangedCards,
    run: (call, asked) => setMarkets(call, asked, "open"),
  }),
  operation({
    ...inventory.read("listInventory", "/ops/inventory"),
    summary: "List the house's own credits, newest first",
    query: query({ environment, limit: searchQuery.limit, cursor: searchQuery.cursor }),
    answer: Credits,
    run: async ({ ctx }, asked) => {
      const house = { ...asked, firm_id: houseFirmId[asked.environment] };
      return await searchDesks({ ctx, query: house }, "credits", {
        list: (search) => listAllCredits(ctx, search),
        listFirmIds: (row) => [row.firm_id],
      });
    },
  }),
  operation({
    ...inventory.read("sumStockByExpiry", "/ops/inventory/by-expiry"),
    summary: "Sum what the house offers by the days until it expires",
    query: query({ environment }),
    answer: DayBands,
    run: async ({ ctx }, asked) => ({ bands: await sumStockByExpiry(ctx, asked.environment) }),
  }),
  operation({
    ...inventory.read("readHouseDay", "/ops/house/day"),
    summary: "Read what the house bought, sold and matched on a day, and what that came to",
    query: query({
      environment,
      day: optional(text("The day, YYYY-MM-DD; today when left out.", 10)),
    }),
    answer: HouseDay,
    run: ({ ctx }, asked) => readHouseDay(ctx, asked.environment, asked.day),
  }),
  operation({
    ...inventory.act("addInventory", "/ops/inventory", "inventory.write"),
    summary: "Add credits for the house to sell; a large face takes two people",
    body: body({
      environment,
      credits: optional(
        Type.Array(
          Type.Object(
            {
              scheme,
              scrip_no: text("The credit's number.", 64),
              face_paise: paise("What is left on the credit, in paise."),
              expires_on: text("Its last day, YYYY-MM-DD.", 10),
              issued_on: optional(text("Its day of issue.", 10)),
            },
            { additionalProperties: false },
          ),
          { minItems: 1, maxItems: 500, description: "Credits one by one." },
        ),
      ),
      ...reportFiles,
    }),
    answer: AddedInventory,
    run: async ({ ctx, actor, wiring: { twoFromPaise } }, asked) => {
      const { environment: where, credits: items, csv, xlsx } = asked;
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

const support = under("Support");

export const enquiryOperations: readonly Operation[] = [
  operation({
    ...support.read("listEnquiries", "/ops/enquiries", "enquiries.read"),
    summary: "List what the public asks, with who sent it",
    query: query({
      status: optional(closedEnum(enquiryStatuses, { description: "Only in this state." })),
      limit: listQuery.limit,
      cursor,
      ...spanQuery,
    }),
    answer: Enquiries,
    run: ({ ctx }, asked) =>
      readQueue("enquiries", asked.limit, {
        list: (limit) => {
          const { status = null, cursor: before } = asked;
          return listEnquiries(ctx, { status, before, limit, ...parseQuerySpan(asked) });
        },
        findId: (row) => row.enquiry_ref,
      }),
  }),
  operation({
    ...support.read("readEnquiry", "/ops/enquiries/:enquiry_ref", "enquiries.read"),
    summary: "Read an enquiry, with who sent it and how to reach them",
    answer: OpenedEnquiry,
    run: ({ ctx }, asked) => showEnquiry(ctx, asked.enquiry_ref),
  }),
  operation({
    ...support.act("closeEnquiry", "/ops/enquiries/:enquiry_ref/close", "enquiries.write"),
    summary: "Close an enquiry; it is deleted 30 days later",
    body: body({ outcome: text("What came of the enquiry, in words.") }),
    answer: Enquiry,
    run: ({ ctx, actor }, { enquiry_ref: enquiryRef, outcome }) =>
      closeEnquiry(ctx, actor, { enquiryRef, outcome }),
  }),
];
