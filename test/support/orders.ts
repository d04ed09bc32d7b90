// Desks that deal: each with a client firm, credits of it, and the calls that orders are made with.

import type { Environment } from "../../src/kernel/caller.ts";
import { addCredits, addFirm, type TestCredit } from "./holdings.ts";
import type { Answer, Service } from "./service.ts";

const face = 25_000_000;
const longLived = "2028-10-01";

const plain = { scheme: "RODTEP", facePaise: face, expiresOn: longLived, state: "listed" } as const;

export type Dealer = Awaited<ReturnType<typeof dealer>>;

/** A desk with a client firm that holds these credits. An expected status of 0 is any. */
export async function dealer(
  service: Service,
  credits: readonly Partial<TestCredit>[] = [{}],
  { pan, environment }: { readonly pan?: string; readonly environment?: Environment } = {},
) {
  const where = environment && { environment };
  const { api_key: key, firm_id: deskId } = await service.issue(where);
  const firmId = await addFirm(service, { deskId, ...(pan && { pan }), ...where });
  const scripNos = await addCredits(
    service,
    deskId,
    credits.map((credit) => ({ firmId, ...plain, ...credit })),
  );
  const get = async (path: string): Promise<Answer["body"]> =>
    (await service.send("GET", path, { key, expect: 200 })).body;
  const list = async (query: string) => (await get(`/v1/orders${query}`)).orders;
  return {
    key,
    deskId,
    firmId,
    scripNos,
    scripNo: scripNos[0] ?? "",
    pan: (await get(`/v1/firms/${firmId}`)).pan as string,
    get,
    list,
    orders: async () => await list(""),
    read: async (orderId: string) => await get(`/v1/orders/${orderId}`),
    credit: async (scripNo: string) => await get(`/v1/credits/${scripNo}`),
    post: async (path: string, body: object, expect: number, headers = {}): Promise<Answer> =>
      await service.send("POST", path, { key, body, headers, ...(expect > 0 && { expect }) }),
  };
}
