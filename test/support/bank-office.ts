// A live service and one person who imports the bank's statements through /ops.

import type { TestContext } from "node:test";

import { type BankLine, statement } from "./bank.ts";
import { asBearer, startOps } from "./ops.ts";
import { addPerson } from "./people.ts";
import { startService } from "./service.ts";

/** As `genericStatement`, of a bank that gives names and no accounts. */
export const nameFormat = {
  name: "names-only",
  day: "date",
  reference: "reference",
  narration: "description",
  debit: "debit",
  credit: "credit",
  balance: "balance",
  remitter_name: "remitter_name",
};

let references = 0;
export const nextUtr = () => `HDFCR52029${String(++references).padStart(9, "0")}`;

export async function openBankOffice(t: TestContext) {
  const service = await startService(t);
  const { send } = await startOps(t, service, { twoOperatorsFromPaise: Number.MAX_SAFE_INTEGER });
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  /** Signs in each time: a session ends when the clock is turned. */
  const enter = async () => asBearer((await asha.signIn()).token);
  let openingPaise = 900_000_000;
  const importText = async (text: string, format?: object) => {
    const content_base64 = Buffer.from(text).toString("base64");
    const body = { content_base64, ...(format && { format }) };
    const headers = await enter();
    return (await send("POST", "/ops/bank/statements", { headers, body, expect: 200 })).body;
  };
  return {
    service,
    importText,
    /** Imports lines after those before. */
    bring: async (
      lines: readonly BankLine[],
      { day, format }: { readonly day?: string; readonly format?: object } = {},
    ) => {
      const text = statement(openingPaise, lines, day);
      openingPaise += lines.reduce((sum, { paise }) => sum + paise, 0);
      return await importText(text, format);
    },
    queue: async () => {
      const headers = await enter();
      return (await send("GET", "/ops/bank/queue", { headers, expect: 200 })).body.lines;
    },
    decide: async (lineId: string, act: string, body: object) => {
      const headers = await enter();
      const path = `/ops/bank/queue/${lineId}/${act}`;
      return (await send("POST", path, { headers, body, expect: 200 })).body;
    },
  };
}

export const listReasons = ({ results }: { results: { reason: string }[] }): string[] =>
  results.map(({ reason }) => reason);
