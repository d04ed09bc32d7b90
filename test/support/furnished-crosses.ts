// Crosses that a desk's client and its sibling proposed, and such as wait for their answers.

import type { Environment } from "../../src/kernel/caller.ts";
import { crore } from "./crosses.ts";
import { addFirm } from "./holdings.ts";
import type { Fixtures, IdFixture } from "./isolation.ts";
import type { Service } from "./service.ts";

type DeskOfCrosses = {
  readonly environment: Environment;
  readonly key: string;
  readonly client: string;
  readonly sibling: string;
  readonly clientIec: string;
  readonly siblingIec: string;
};

export type FurnishedCrosses = Awaited<ReturnType<typeof furnishCrosses>>;

/** Nobody's code, so what is proposed to it waits. */
const nobody = "ZZZPZ0000Z";

const amount = { kind: "block", side: "buy", scheme: "RODTEP", face_paise: crore } as const;

export async function furnishCrosses(
  service: Service,
  { environment, key, client, sibling, clientIec, siblingIec }: DeskOfCrosses,
) {
  const partner = await service.issue({ environment });
  const partnerFirm = await addFirm(service, { deskId: partner.firm_id, environment });
  const post = async (as: string, path: string, body: object, expect: number) =>
    (await service.send("POST", path, { key: as, body, expect })).body;
  const quote = async (as: string, body: object): Promise<string> =>
    (await post(as, "/v1/cross/quote", { ...amount, ...body }, 200)).cross_quote_ref;
  const propose = async (as: string, body: object) =>
    await post(as, "/v1/cross", { cross_quote_ref: await quote(as, body) }, 201);
  const toNobody = async (firm_id: string) =>
    (await propose(key, { firm_id, counterparty_iec: nobody })).cross_id as string;
  const asked = async (counterparty_iec: string) =>
    await propose(partner.api_key, { firm_id: partnerFirm, counterparty_iec });
  const answer = await asked(clientIec);
  return {
    proposal: await toNobody(client),
    siblingProposal: await toNobody(sibling),
    answer: answer.cross_id as string,
    answerTerms: answer.terms_hash as string,
    siblingAnswer: (await asked(siblingIec)).cross_id as string,
    quote: await quote(key, { firm_id: client, counterparty_iec: nobody }),
    siblingQuote: await quote(key, { firm_id: sibling, counterparty_iec: nobody }),
  };
}

type OwnDesk = DeskOfCrosses & { readonly crosses: FurnishedCrosses };

export function bodiesOfCrosses({ client, sibling, crosses }: OwnDesk): Fixtures["bodies"] {
  return {
    "quoteCross/firm_id": { ...amount, counterparty_iec: nobody },
    "quoteCross/counterparty_firm_id": amount,
    "quoteCross/scrip_nos": {
      kind: "intra_group",
      side: "sell",
      firm_id: client,
      counterparty_firm_id: sibling,
    },
    proposeCross: {},
    acceptCross: { terms_hash: crosses.answerTerms },
    fundCross: { payment_ref: "PROBE-1" },
  };
}

/** What of crosses is the caller's, by what each operation is for; the rest is not there. */
export function idsOfCrosses(
  { crosses }: OwnDesk,
  {
    firm,
    scrip,
    counterparty,
    foreign,
    foreignQuotes,
    random,
  }: {
    readonly firm: IdFixture;
    readonly scrip: IdFixture;
    /** A firm that a cross can be had with; none for a key that knows one firm only. */
    readonly counterparty: string | undefined;
    readonly foreign: Readonly<Record<string, string>>;
    readonly foreignQuotes: Readonly<Record<string, string>>;
    readonly random: { readonly cross: string; readonly crossQuote: string };
  },
): Fixtures["ids"] {
  const cross = { own: crosses.proposal, foreign, random: random.cross };
  // A proposal to the client, in which it would sell; it has nothing of that face.
  const answer = { ...cross, own: crosses.answer, mayConflict: true };
  const { own: _firm, ownEnded: _ended, ...otherFirms } = firm;
  const { own: ownScrip, ownEnded: _used, ...otherScrips } = scrip;
  return {
    cross_id: cross,
    "acceptCross/cross_id": answer,
    "declineCross/cross_id": answer,
    "releaseCross/cross_id": answer,
    "fundCross/cross_id": { ...cross, mayConflict: true },
    cross_quote_ref: { own: crosses.quote, foreign: foreignQuotes, random: random.crossQuote },
    "quoteCross/counterparty_firm_id": {
      ...otherFirms,
      ...(counterparty !== undefined && { own: counterparty }),
    },
    "quoteCross/scrip_nos": {
      ...otherScrips,
      ...(counterparty !== undefined && ownScrip !== undefined && { own: ownScrip }),
    },
    "acceptCross/scrip_nos": otherScrips,
    netting_ref: { foreign: {}, random: "no netting" },
  };
}
