import { type Static, Type } from "typebox";

import { crossStates } from "../crosses/rules.ts";
import { schemes } from "../kernel/scheme.ts";
import { body, flag, openEnum, timestamp } from "../platform/http/wire.ts";

const groupId = Type.String({
  description: "A group of your desk.",
  examples: ["grp_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const nettingRef = Type.String({
  description: "Names these proposals until their time is over.",
  examples: ["net_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const firmId = (description: string) =>
  Type.String({ description, examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"] });
const sum = (description: string, example = 25_000_000) =>
  Type.Integer({ description, examples: [example] });
const scheme = openEnum(schemes, "Which scheme the credits are of.");
const scripNo = Type.String({ description: "A credit's number.", examples: ["0123/RODTEP/4567"] });
const priceBps = Type.Integer({
  description: "The card's mid, in basis points of face.",
  examples: [9_850],
});

export const NettingParams = Type.Object({ group_id: groupId });

const SchemeLine = Type.Object({
  scheme: openEnum(schemes, "Always one line for each scheme."),
  gross_credit_paise: sum(
    "Face of the credits that are listed or on their way to a member, and have not lapsed.",
  ),
  gross_requirement_paise: sum(
    "Basic customs duty that is due today or later. What either scheme may pay counts where it is paid, and " +
      "what is left of it where cover costs least.",
  ),
  internal_match_paise: sum("What of it the group's own credits pay, moved or not."),
  net_sell_paise: sum("Face that is left to sell: gross credit less the match."),
  net_buy_paise: sum(
    "Duty that is left to buy cover for or pay: gross requirement less the match.",
  ),
  spread_saved_paise: sum(
    "What the moves keep from the market: buying them at today's ask less selling them at its bid.",
    140_000,
  ),
});

const EntityLine = Type.Object({
  firm_id: firmId("A member of the group."),
  give_paise: sum("Face of the credits that it gives to other members."),
  take_paise: sum("Face of the credits that it takes from other members."),
  net_cash_paise: Type.Integer({
    description: "What it is paid less what it pays for the moves; sums to zero over the members.",
    examples: [-24_625_000],
  }),
  uncovered_paise: sum("Duty of its own that no credit of the group pays."),
});

const ProposalLine = Type.Object({
  from_firm_id: firmId("The id of the firm that gives the credit."),
  to_firm_id: firmId("Who takes it, to pay its own duty with."),
  scheme,
  scrip_no: scripNo,
  face_paise: sum("The credit's face value in paise."),
  price_bps: priceBps,
});

export const Netting = Type.Object(
  {
    group_id: groupId,
    as_of: timestamp("The one moment that every figure is of."),
    netting_ref: nettingRef,
    proven_optimal: flag("Whether it is proven that no other moves leave less duty uncovered."),
    schemes: Type.Array(SchemeLine, { description: "One line per scheme." }),
    entities: Type.Array(EntityLine, { description: "Every member, newest firm first." }),
    proposals: Type.Array(ProposalLine, {
      description: "Whole credits that change hands, by giver, taker and scheme.",
    }),
  },
  {
    title: "Netting",
    description:
      "How a group covers its basic customs duty with its own credits, and what is left over.",
    headers: {
      "X-Quote-Valid-Until": {
        type: "string",
        description: "Until when crosses can be made under the netting_ref, at these prices.",
      },
    },
  },
);
export type Netting = Static<typeof Netting>;

export const CrossNettingBody = body({ netting_ref: nettingRef });
export type CrossNettingBody = Static<typeof CrossNettingBody>;

const NettedCross = Type.Object({
  cross_id: Type.String({
    description: "The cross; its buyer funds it and its seller releases it.",
    examples: ["crs_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
  from_firm_id: firmId("The id of the firm that sells."),
  to_firm_id: firmId("The id of the firm that buys."),
  scheme,
  scrip_nos: Type.Array(scripNo, { description: "All credits that the one gives the other." }),
  face_paise: sum("The sum of their faces."),
  price_bps: priceBps,
  all_in_paise: sum("What the buyer pays and the seller is paid.", 24_625_000),
  status: openEnum(crossStates, "How far the cross has come."),
  version: Type.Integer({ description: "Raised by every change of the cross.", examples: [1] }),
});

export const NettingCrosses = Type.Object(
  {
    group_id: groupId,
    netting_ref: nettingRef,
    crosses: Type.Array(NettedCross, {
      description: "One for each giver, taker and scheme, agreed by both sides.",
    }),
  },
  { title: "NettingCrosses", description: "The crosses that a netting was turned into." },
);
export type NettingCrosses = Static<typeof NettingCrosses>;
