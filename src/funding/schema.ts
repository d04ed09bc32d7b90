import { type Static, Type } from "typebox";
import { flag } from "../platform/http/wire.ts";

const text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

export const FundingParams = Type.Object({
  firm_id: Type.String({ description: "The firm's id.", maxLength: 64 }),
});

export const Funding = Type.Object(
  {
    firm_id: text("The firm that pays.", "frm_01jd2m7q4x8r5v6w9y0abcdefg"),
    beneficiary: text("Whom to pay: the house.", "Mint House LLP"),
    account_no: text("Which account to pay to.", "50200012345678"),
    ifsc: text("The IFSC of the account's branch.", "HDFC0000001"),
    bank: text("The account's bank.", "HDFC Bank"),
    is_own_number: flag(
      "Whether the number is this firm's alone, so that money to it is found without a " +
        "reference. It is the firm's money once it came from a confirmed account of the firm.",
    ),
    reference: text(
      "What to write with the payment: it says for whom the money is.",
      "frm_01jd2m7q4x8r5v6w9y0abcdefg",
    ),
  },
  { title: "Funding", description: "Where a firm pays ahead of its deals." },
);
export type Funding = Static<typeof Funding>;
