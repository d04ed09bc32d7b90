import { Type } from "typebox";

import { DeclarationResults, ImportResults } from "../credits/schema.ts";
import { nullable, nullableObject, openEnum, timestamp } from "../platform/http/wire.ts";
import { boardStates } from "../market/rules.ts";
import { marketStates } from "../rates/rules.ts";
import {
  count,
  day,
  environment,
  extend,
  wrapList,
  maybeCount,
  maybeText,
  maybeTime,
  Proposed,
  scheme,
  sum,
  text,
  pageList,
} from "./schema.ts";
import { Enquiry } from "../market/public-schema.ts";

export { Enquiry };
import { type Scheme } from "../kernel/scheme.ts";
import { enquiryKinds } from "../market/public-rules.ts";

const RateCard = Type.Object(
  {
    environment,
    scheme,
    version: count("Which card of the scheme it is."),
    status: openEnum(marketStates, "No binding price is made in a halted market."),
    mid_bps: count("The middle of the market."),
    half_spread_bps: count("From the mid to either side."),
    size_bands: Type.Array(
      Type.Object({
        below_paise: maybeCount("Faces below this; null for the last band."),
        bps: count("What is added to the mid, in basis points."),
      }),
      { description: "By rising bound." },
    ),
    validity_bands: Type.Array(
      Type.Object({
        from_days: count("From this number of days left."),
        bps: count("What is added to the mid, in basis points."),
      }),
      { description: "By falling days; with fewer than the last there is no price." },
    ),
    floor_bps: count("The least that is ever bid."),
    ceiling_bps: count("The most that is ever bid."),
    ask_ceiling_bps: count("The most that is ever asked."),
    face_max_paise: count("The largest amount that is priced."),
    house_limit_paise: count("Face the house takes on in a day."),
    desk_share_bps: count(
      "How much of it one desk's open quotes may hold; in the sandbox, what it sells in a day too.",
    ),
    quote_window_s: count("How long a price is binding."),
    rest_min_paise: count("The least face that an order rests with."),
    margin_bps: count("The least the house keeps between two clients."),
    fee_bps: count("Fee within the all-in amount."),
    default_bps: count("Of face, what a side that is proved late pays the other."),
    published_at: timestamp("Since when it is in force."),
    published_by: text("Who published, halted or opened it."),
    note: maybeText("Why it was published; null where nobody said."),
  },
  { title: "RateCard", description: "Everything that a price is made of." },
);

const AuthoredCard = extend(
  RateCard,
  { approved_by: maybeText("The second person; null where it took one.") },
  { title: "AuthoredCard", description: "A rate card and who approved it." },
);

export const Cards = wrapList("cards", AuthoredCard, "By scheme; the newest version first.");
export const ChangedCards = wrapList("cards", RateCard, "Each market as it is now.");

const price = (description: string) =>
  nullable<number>({ type: "integer", description: `${description} Null for no price.` });

export const CardPreview = Type.Object(
  {
    environment,
    scheme,
    version: count("The version that it would be."),
    move_bps: maybeCount("The largest move of any price; null for a first card."),
    limit_move_bps: maybeCount(
      "The largest raise of a limit, in proportion to what it was; null for a first card.",
    ),
    people: Type.Unsafe<1 | 2>({ type: "integer", description: "How many people it takes." }),
    terms: Type.Array(
      Type.Object({
        term: text("Its name in the card."),
        before: maybeCount("As in force; null for a first card."),
        after: count("The number after the change."),
      }),
      { description: "Every number of the card." },
    ),
    bands: Type.Array(
      Type.Object({
        from_paise: count("The smallest face of the band."),
        below_paise: maybeCount("The first face that is above it; null for the last one."),
        from_days: count("From this number of days left."),
        bid_before_bps: price("The bid in force."),
        bid_after_bps: price("The bid of the new card."),
        ask_before_bps: price("The ask in force."),
        ask_after_bps: price("The ask of the new card."),
      }),
      { description: "Every band of size and validity." },
    ),
    open_quotes: Type.Object(
      {
        count: count("How many binding prices are out."),
        face_paise: count("The face that they are for."),
        last_valid_until: maybeTime("When the last of them ends; null without any."),
      },
      { description: "They are honoured, whatever is published." },
    ),
  },
  { title: "CardPreview", description: "What publishing a card would change." },
);

export const PublishedCard = Type.Union(
  [
    Type.Object({
      outcome: Type.Literal("published", { description: "The card is in force." }),
      card: RateCard,
    }),
    extend(
      Proposed,
      { move_bps: maybeCount("The largest move of any price; null for a first card.") },
      { title: "ProposedCard", description: "It takes two people: the old card is in force." },
    ),
  ],
  { title: "PublishedCard", description: "A card in force, or the proposal of one." },
);

export const AddedInventory = Type.Union(
  [
    Type.Object({
      outcome: Type.Literal("done", { description: "What was accepted is for sale." }),
      results: Type.Union([DeclarationResults, ImportResults], {
        description: "Each credit, by its place in the request or its row in the report.",
      }),
    }),
    Proposed,
  ],
  { title: "AddedInventory", description: "What became of credits for the house to sell." },
);

export const HouseDay = Type.Object(
  {
    environment,
    day: day("The day."),
    schemes: Type.Array(
      Type.Object(
        {
          scheme,
          bought: count("Credits that the house bought."),
          bought_face_paise: sum("The sum of the credits' face values, in paise."),
          bought_paise: sum("What it pays for them."),
          sold: count("Credits that the house sold."),
          sold_face_paise: sum("The sum of the credits' face values, in paise."),
          sold_paise: sum("What it gets for them, without taxes."),
          matched: count("Credits that went from one client to another."),
          matched_face_paise: sum("The sum of the credits' face values, in paise."),
          kept_paise: sum("What the house keeps of them, without taxes."),
          fees_paise: sum("The fees within all of this."),
          result_paise: sum("Its money, and its credits at the mid in force when each was dealt."),
        },
        { title: "HouseScheme", description: "What the house dealt in one scheme." },
      ),
      { description: "One for each scheme; block deals between clients are left out." },
    ),
    result_paise: sum("The result of all schemes."),
  },
  { title: "HouseDay", description: "What the house dealt on a day, of what has not failed." },
);

const BoardMarket = Type.Object(
  {
    scheme,
    status: openEnum(boardStates, "unavailable until a first card."),
    card: Type.Union([AuthoredCard, Type.Null()], {
      description: "The card in force; null before the first.",
    }),
    bid_bps: maybeCount(
      "What a seller of ₹10 lakh with at least 365 days left gets; null while there is no price.",
    ),
    ask_bps: maybeCount("What a buyer of ₹10 lakh pays; null while there is no price."),
    index_bps: maybeCount("The last published index; null before there is one."),
    last_deal: nullableObject(
      {
        price_bps: count("What the seller got, in basis points of face."),
        face_paise: count("Its face, rounded to two digits."),
        at: timestamp("When it was agreed."),
      },
      { description: "The last credit that changed hands; null before the first." },
    ),
    volume_24h_paise: sum("Face dealt in the last 24 hours, each rounded to two digits."),
    deals_24h: count("Credits dealt in that time."),
    inventory: Type.Object(
      {
        count: count("Credits that the house could sell."),
        face_paise: sum("What they add up to, band by band rounded to two digits."),
      },
      { description: "What the house has to sell." },
    ),
    day_limit: Type.Object(
      {
        limit_paise: count("Face the house takes on in a day; 0 before the first card."),
        taken_paise: count("What it has taken on today."),
        quoted_paise: count("What open binding prices may still take."),
      },
      { description: "How much of the day's limit is used." },
    ),
  },
  { title: "BoardMarket", description: "One scheme's market as its dealer sees it." },
);

export const Board = Type.Object(
  {
    environment,
    markets: Type.Array(BoardMarket, { description: "One per scheme." }),
  },
  { title: "Board", description: "Both markets as their dealer sees them." },
);

export const OpenedEnquiry = extend(
  Enquiry,
  {
    kind: openEnum(enquiryKinds, "What the enquiry is about."),
    scheme: nullable<Scheme>({
      type: "string",
      description: "The scheme that was asked about; null where none was named.",
    }),
    amount_paise: maybeCount("The amount that was asked about; null where none was given."),
    name: text("The name of whoever sent it."),
    email: text("The mail address for the answer."),
    phone: maybeText("The telephone number for the answer; null when none was given."),
    iec: maybeText("The importer-exporter code (IEC); null while none is given."),
    message: maybeText("The message as it was sent; null when there was none."),
    outcome: maybeText("What came of it; null before it is closed."),
  },
  { title: "OpenedEnquiry", description: "An enquiry with who sent it." },
);

export const Enquiries = pageList("enquiries", OpenedEnquiry, "The newest first.");
