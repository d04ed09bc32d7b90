// One call of every operation, with what a furnished desk has for it; writes are only tried.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type Document, resolveParameter, resolveSchema } from "../../client/generate/document.ts";
import { furnishDesks } from "./furnished-desks.ts";
import type { Fixtures } from "./isolation.ts";
import { dealOn, openLiveMarket } from "./public.ts";
import type { Service } from "./service.ts";

export type ClientCall = {
  readonly id: string;
  /** What the path names, then the query or the body. */
  readonly given: readonly unknown[];
  readonly options: { readonly dry_run?: true };
  /** The slug, where the state of the desk's things does not allow it. */
  readonly refused: string | undefined;
};

export async function readDocument(): Promise<Document> {
  const file = join(import.meta.dirname, "../../docs/openapi.json");
  return JSON.parse(await readFile(file, "utf8")) as Document;
}

const person = { name: "Asha Rao", email: "asha@exporter.example", consent: true } as const;

/** What an operation needs beside what a furnished desk has for it. */
function bodiesFor({ ids, bodies }: Fixtures): Record<string, object> {
  const own = (name: string) => ids[name]?.own ?? "";
  return {
    ...bodies,
    mintKey: { name: "probe", kind: "app", scopes: ["quote"] },
    takeQuote: { side: "sell", scrip_no: own("scrip_no") },
    proposeAct: { ...bodies["proposeAct"], firm_id: own("firm_id") },
    placeOrder: { side: "sell", scheme: "RODTEP", face_paise: 100_000, firm_id: own("firm_id") },
    quoteCross: {
      kind: "intra_group",
      side: "sell",
      firm_id: own("firm_id"),
      counterparty_firm_id: own("quoteCross/counterparty_firm_id"),
      scrip_nos: [own("scrip_no")],
    },
    proposeCross: { cross_quote_ref: own("cross_quote_ref") },
    crossNetting: { netting_ref: own("netting_ref") },
    submitSellEnquiry: { ...person, scheme: "RODTEP", face_paise: 100_000_000 },
    submitBuyEnquiry: { ...person, scheme: "RODTEP", requirement_paise: 100_000_000 },
    submitContactEnquiry: { ...person, message: "Please call me." },
  };
}

const queries: Readonly<Record<string, object>> = {
  estimateEnquiry: { side: "sell", scheme: "RODTEP", amount_paise: 100_000_000 },
  streamEvents: { after_sequence: 0 },
};

const refused: Readonly<Record<string, string>> = {
  offboardFirm: "conflict",
  withdrawMoney: "conflict",
  approveAct: "forbidden",
  crossNetting: "conflict",
  acceptCross: "conflict",
  fundCross: "conflict",
  releaseCross: "conflict",
  reportMissing: "conflict",
};

/** The desk's key, and a call for each operation of the document. */
export async function furnishCalls(
  service: Service,
): Promise<{ key: string; calls: ClientCall[] }> {
  await openLiveMarket(service);
  await dealOn(service, "2026-11-14", 9_800);
  service.clock.advance({ days: 1 });
  await service.work();
  const { key, fixtures } = (await furnishDesks(service)).root;
  const body = { ...person, message: "First." };
  const enquiry = await service.send("POST", "/public/enquiry/contact", { body, expect: 201 });
  const known: Readonly<Record<string, string>> = {
    date: "2026-11-14",
    enquiry_ref: enquiry.body.enquiry_ref,
  };
  const find = (id: string, name: string) =>
    known[name] ?? fixtures.ids[`${id}/${name}`]?.own ?? fixtures.ids[name]?.own ?? "";
  const bodies = bodiesFor(fixtures);
  const { paths, components } = await readDocument();
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ClientCall => {
      const { operationId: id, parameters = [], requestBody } = operation;
      const takesQuery = parameters.some((one) => resolveParameter(one, components).in === "query");
      const schema = requestBody?.content["application/json"]?.schema ?? {};
      const takesBody = Object.keys(resolveSchema(schema, components).properties ?? {}).length > 0;
      return {
        id,
        given: [
          ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => find(id, name)),
          ...(takesQuery ? [queries[id] ?? {}] : []),
          ...(takesBody ? [bodies[id] ?? {}] : []),
        ],
        options: method === "get" ? {} : { dry_run: true },
        refused: refused[id],
      };
    }),
  );
  return { key, calls };
}
