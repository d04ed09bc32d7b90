// The yardstick of every HTTP measurement: Fastify with the same schema and a constant answer, and
// nothing else.

import { fastify } from "fastify";

import { WhoAmI } from "../src/keys/schema.ts";

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

const app = fastify();
app.get("/v1/whoami", { schema: { response: { 200: WhoAmI } } }, async () => answer);
const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`bare Fastify listens on ${address}\n`);
process.once("SIGTERM", () => void app.close());
