// From a key to money in the bank: a client firm, one credit of it, a sale, its settlement and payout.
// SCRIPDESK_URL and SCRIPDESK_KEY say where, and with which key of the sandbox.

import { Scripdesk } from "scripdesk-client";

const { SCRIPDESK_URL: base_url, SCRIPDESK_KEY: api_key } = process.env;
const desk = new Scripdesk({ base_url, api_key });

const legal_name = "Acme Exports Private Limited";
const { firm_id } = await desk.registerFirm({
  legal_name,
  iec: "AAGCB7383J",
  pan: "AAGCB7383J",
  email: "accounts@acme.example",
  role: "exporter",
  bank: { account_no: "50200012345678", ifsc: "HDFC0000001", name: legal_name },
});
await desk.verifyFirm(firm_id);

// Everything that follows is told as an event; what holds is read from the service.
const mandate = { signatory_name: "R. Mehta", reference: "MND-42", valid_until: "2027-03-31" };
const dates = { issued_on: "2026-10-01", expires_on: "2028-09-30" };
const scrip_no = "0123/RODTEP/4567";
const credit = { scrip_no, scheme: "RODTEP", face_paise: 25_000_000, ...dates };
for await (const { event, data } of desk.streamEvents({ after_sequence: 0 })) {
  console.log(data.sequence, event);
  if (event === "firm.verified") {
    await desk.authorizeFirm(firm_id, { mandate });
    await desk.declareCredits(firm_id, { credits: [credit] });
  } else if (event === "credit.listed") {
    const quote = await desk.takeQuote({ side: "sell", scrip_no });
    if (quote.no_quote) throw new Error(`no price now: ${quote.reason}`);
    await desk.placeOrder({ quote_ref: quote.quote_ref });
  } else if (event === "payout.paid") {
    const { amount_paise, utr } = await desk.readPayout(data.entity.id);
    console.log(`paid ₹${amount_paise / 100} by ${utr}`);
    break;
  }
}
