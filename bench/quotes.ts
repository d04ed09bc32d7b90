// What a binding price costs: sell quotes by scrip_no, authenticated, metered and kept in PostgreSQL
// before they are answered, against a bare Fastify route with the same schemas.

import { buildRows, connections, loadInTurns } from "./beside-bare.ts";
import { printTable, startLoad, startService, startYardstick } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const creditCount = 400;

export async function quotes(): Promise<void> {
  await using stack = openStack();
  const service = await startService(stack);
  const bare = await startYardstick(stack, "bare-fastify.ts");
  const load = await startLoad(stack);
  const issue = ["--firm", "Bench", "--env", "sandbox", "--buy"];
  const desk = (await service.command("keys", "issue", ...issue)) as Desk;
  const scripNos = await declareCredits(service.port, desk);
  const requests = scripNos.map((scripNo) =>
    formatPost({ side: "sell", scrip_no: scripNo }, `x-service-key: ${desk.api_key}\r\n`),
  );
  const calls = {
    ours: { port: service.port, request: requests },
    bare: {
      port: bare.port,
      request: scripNos.map((scripNo) => formatPost({ side: "sell", scrip_no: scripNo })),
    },
  };
  const told = {
    what: `sell quotes by scrip_no, ${connections} connections`,
    latency: "their median latency",
    goal: "≥ 0.65",
  };
  printTable(buildRows(told, await loadInTurns(load, calls)));
}

export type Desk = { readonly api_key: string; readonly firm_id: string };

/** Credits of the desk's own firm, listed at once by the simulated registry. */
export async function declareCredits(port: number, desk: Desk): Promise<string[]> {
  const credits = Array.from({ length: creditCount }, (_, at) => ({
    scrip_no: `QUOTE-${String(at).padStart(6, "0")}`,
    scheme: "RODTEP",
    face_paise: 25_000_000 + at * 100,
    issued_on: "2026-01-01",
    expires_on: "2098-12-31",
  }));
  const response = await fetch(`http://127.0.0.1:${port}/v1/firms/${desk.firm_id}/credits`, {
    method: "POST",
    headers: { "x-service-key": desk.api_key, "content-type": "application/json" },
    body: JSON.stringify({ credits }),
  });
  const { accepted } = (await response.json()) as { accepted: number };
  if (accepted !== creditCount) throw new Error(`${accepted} credits were accepted`);
  return credits.map(({ scrip_no }) => scrip_no);
}

export function formatPost(body: object, headers = ""): string {
  const text = JSON.stringify(body);
  return (
    `POST /v1/quote HTTP/1.1\r\nhost: bench\r\n${headers}content-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}
