// The yardstick of every HTTP measurement: Fastify with the same schemas and a constant answer, and
// nothing else.

import { fastify } from "fastify";

import { WhoAmI } from "../src/access/schema.ts";
import { Quote, TakeQuoteBody } from "../src/trading/schema.ts";

const answer: WhoAmI = {
  key_id: "key_01jd2m7q4x8r5v6w9y0abcdefg",
  kind: "root",
  environment: "live",
  firm_id: "frm_01jd2m7q4x8r5v6w9y0abcdefg",
  desk_id: "frm_01jd2m7q4x8r5v6w9y0abcdefg",
  parent_key_id: null,
  scopes: ["*"],
  buy_side: false,
};

const quote: Quote = {
  side: "sell",
  scheme: "RODTEP",
  scrip_no: "QUOTE-000001",
  face_paise: 25_000_000,
  price_bps: 9_765,
  all_in_paise: 24_412_500,
  valid_until: "2026-11-15T14:47:00.000+05:30",
  quote_ref: "qte_01jd2m7q4x8r5v6w9y0abcdefg",
};

const app = fastify();
app.get("/v1/whoami", { schema: { response: { 200: WhoAmI } } }, async () => answer);
app.post(
  "/v1/quote",
  { schema: { body: TakeQuoteBody, response: { 200: Quote } } },
  async () => quote,
);
const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`bare Fastify listens on ${address}\n`);
process.once("SIGTERM", () => void app.close());
