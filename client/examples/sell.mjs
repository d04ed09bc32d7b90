// From a key to money in the bank: a client firm, one credit of it, a sale, its settlement and payout.
// SCRIPDESK_URL and SCRIPDESK_KEY say where, and with which key of the sandbox.

import { Scripdesk } from "scripdesk-client";

const { SCRIPDESK_URL: base_url = "http://127.0.0.1:8080", SCRIPDESK_KEY: api_key } = process.env;
const desk = new Scripdesk({ base_url, api_key });

// What the desk did before is not of this sale.
const { latest_sequence: after_sequence } = await desk.listEvents({ limit: 1 });
const legal_name = "Satara Exports Private Limited";
const { firm_id } = await desk.registerFirm({
  legal_name,
  iec: "AAGCS4821J",
  pan: "AAGCS4821J",
  email: "accounts@satara.example",
  role: "exporter",
  bank: { account_no: "50200012345679", ifsc: "HDFC0000001", name: legal_name },
});
await desk.verifyFirm(firm_id);

// Everything that follows is told as an event, whose name says what its data is.
const mandate = { signatory_name: "R. Mehta", reference: "MND-42", valid_until: "2027-03-31" };
const dates = { issued_on: "2026-10-01", expires_on: "2028-09-30" };
const scrip_no = "0124/RODTEP/4821";
for await (const { event, data } of desk.streamEvents({ after_sequence })) {
  console.log(data.sequence, event);
  if (event === "firm.verified") {
    await desk.authorizeFirm(firm_id, { mandate });
    await desk.declareCredits(firm_id, {
      credits: [{ scrip_no, scheme: "RODTEP", face_paise: 25_000_000, ...dates }],
    });
  } else if (event === "credit.listed") {
    const quote = await desk.takeQuote({ side: "sell", scrip_no });
    if (quote.no_quote) throw new Error(`no price now: ${quote.reason}`);
    await desk.placeOrder({ quote_ref: quote.quote_ref });
  } else if (event === "payout.paid") {
    const { amount_paise, utr } = data.data;
    console.log(`paid ₹${amount_paise / 100} by ${utr}`);
    break;
  }
}
