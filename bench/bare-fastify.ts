// The yardstick of every HTTP measurement: Fastify with the same schemas and a constant answer, and
// nothing else.

import { fastify } from "fastify";

import { WhoAmI } from "../src/access/schema.ts";
import { Order, OrderParams, Quote, TakeQuoteBody } from "../src/trading/schema.ts";

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

const order: Order = {
  order_id: "ord_01jd2m7q4x8r5v6w9y0abcdefg",
  client_ref: null,
  firm_id: "frm_01jd2m7q4x8r5v6w9y0abcdefg",
  side: "sell",
  scheme: "RODTEP",
  scrip_nos: ["QUOTE-000001"],
  face_paise: 25_000_000,
  covered_paise: 25_000_000,
  residual_paise: 0,
  price_bps: 9_765,
  limit_bps: null,
  all_in_paise: 24_412_500,
  savings_paise: null,
  time_in_force: "IOC",
  expires_at: null,
  quote_ref: null,
  metadata: {},
  status: "matched",
  settlement_id: "stl_01jd2m7q4x8r5v6w9y0abcdefg",
  settlement_ids: ["stl_01jd2m7q4x8r5v6w9y0abcdefg"],
  settlement_status: "settled",
  settled_paise: 24_412_500,
  version: 1,
  allowed_actions: [],
  history: [{ status: "matched", at: "2026-11-15T14:46:00.000+05:30", reason: null }],
  created_at: "2026-11-15T14:46:00.000+05:30",
  updated_at: "2026-11-15T14:46:10.000+05:30",
};

// The schemas bear words for readers of the document, which the validator has to know.
const app = fastify({ ajv: { customOptions: { keywords: ["x-forms", "x-extensible-enum"] } } });
app.get("/v1/whoami", { schema: { response: { 200: WhoAmI } } }, async () => answer);
app.get(
  "/v1/orders/:order_id",
  { schema: { params: OrderParams, response: { 200: Order } } },
  async () => order,
);
app.post(
  "/v1/quote",
  { schema: { body: TakeQuoteBody, response: { 200: Quote } } },
  async () => quote,
);
const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`bare Fastify listens on ${address}\n`);
process.once("SIGTERM", () => void app.close());
