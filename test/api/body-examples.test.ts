// Every example of the document is sent to the service, on a desk that has what it stands for.

import assert from "node:assert/strict";
import { test } from "node:test";

import { seedInventory } from "../../src/credits/seed-credits.ts";
import { isObject } from "../../src/kernel/json.ts";
import { readDocument } from "../support/client-calls.ts";
import { firmBody, firmThatIs } from "../support/client-firms.ts";
import { crores, crossThatIs, quoteFor, terms, traders } from "../support/crosses.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { payIn } from "../support/ledger.ts";
import { addDeadLetters, registerWebhook } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  makeDeal,
  openTestDesk,
  readSettlement,
} from "../support/settlements.ts";

/** What stands in the place of the ids of an example: in its path, and in its body by field. */
type Standing = { readonly key?: string } & Readonly<Record<string, unknown>>;

type Example = { readonly value: object; readonly "x-answer": number };

async function furnish(service: Service) {
  await seedInventory(service.ctx);
  const { api_key: key, firm_id: deskId } = await service.issue();
  const parties = await traders(service, crores(8));
  let fresh = 0;
  let crossed = 0;
  const post = async (path: string, body: object, expect = 200) =>
    (await service.send("POST", path, { key, body, expect })).body;
  const addHolder = async (count = 1) => {
    const firm_id = await addFirm(service, { deskId });
    const one = { firmId: firm_id, scheme: "RODTEP", facePaise: 25_000_000 } as const;
    const listed = { ...one, expiresOn: "2028-10-01", state: "listed" } as const;
    const numbers = await addCredits(
      service,
      deskId,
      Array.from({ length: count }, () => ({ ...listed })),
    );
    return { firm_id, scrip_no: numbers[0] ?? "", numbers };
  };
  const addGroup = async () =>
    (await post("/v1/groups", { name: `Group ${++fresh}` }, 201)).group_id;
  const addMembers = async () => {
    const group_id = await addGroup();
    const seller = await addHolder();
    const buyer = await addHolder(0);
    for (const { firm_id } of [seller, buyer]) {
      await service.send("PUT", `/v1/groups/${group_id}/members/${firm_id}`, { key, expect: 200 });
    }
    return { group_id, seller, buyer };
  };
  const addRequirement = async () => {
    const { firm_id } = await addHolder(0);
    const duty = { scheme: "RODTEP", amount_paise: 1_000_000, due_on: "2027-01-31" };
    const path = `/v1/firms/${firm_id}/requirements`;
    const made = await post(path, { ...duty, reference: `BE-${++fresh}` }, 201);
    return { firm_id, requirement_id: made.requirement_id };
  };
  const crossAt = async (stage: "proposed" | "agreed" | "funded") => {
    const scrip_nos = [parties.seller.scripNos[++crossed] ?? ""];
    const cross = await crossThatIs(parties, stage, { scrip_nos });
    return { cross_id: cross.cross_id as string, terms_hash: cross.terms_hash as string };
  };
  const addWebhook = async () => {
    const url = `https://erp.example/hooks/${++fresh}`;
    return (await registerWebhook(service, key, url)).webhook_id as string;
  };
  const parts = { addHolder, addGroup, addMembers, addRequirement, addWebhook, crossAt };
  return { service, key, parties, post, ...parts };
}

type World = Awaited<ReturnType<typeof furnish>>;

async function addSale({ service, post, addHolder }: World) {
  const { firm_id, scrip_no } = await addHolder();
  const order = await post("/v1/orders", { side: "sell", scrip_no }, 201);
  await service.work();
  return { firm_id, settlement_id: order.settlement_id as string };
}

/** A purchase whose receiver looks for the transfer itself. */
async function addTask({ service }: World) {
  const buyer = await openTestDesk(service);
  const { key } = buyer;
  await payIn(service, buyer.firmId, buyerPaise);
  await service.send("POST", "/v1/sandbox/scenarios", { key, body: { scenario: "tasks_manual" } });
  const scripNo = await addCredit(service, house());
  const settlement_id = await makeDeal(service, { buyer, legs: [{ seller: house(), scripNo }] });
  await service.work();
  const { tasks } = await readSettlement(service, buyer, settlement_id);
  return { key, settlement_id, task_id: tasks.at(-1).task_id as string };
}

async function addMoney({ service, addHolder }: World) {
  const { firm_id } = await addHolder(0);
  await payIn(service, firm_id, 5_000_000);
  return { firm_id };
}

/** A desk with two root keys that could approve for one another. */
async function addPair(service: Service) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const { api_key: second } = await service.issue({ firmName: undefined, deskId, name: "board" });
  return { key, second };
}

/** A withdrawal that another key has proposed. */
async function addApproval(world: World) {
  const { firm_id } = await addMoney(world);
  const { service, key } = world;
  const { api_key: maker } = await mintChild(service, key, { name: "maker" });
  const { api_key: checker } = await mintChild(service, key, { name: "checker" });
  const body = { kind: "withdrawal", firm_id, amount_paise: 1_000 };
  const proposed = await service.send("POST", "/v1/approvals", { key: maker, body, expect: 201 });
  return { key: checker, approval_id: proposed.body.approval_id as string };
}

/** By operation, or by operation and case. */
const preparing: Readonly<Record<string, (world: World) => Promise<Standing>>> = {
  finishTask: addTask,
  reportMissing: addTask,
  "mintKey/client_firm": async ({ addHolder }) => await addHolder(0),
  updateFirm: async ({ addHolder }) => await addHolder(0),
  verifyFirm: async ({ post }) => await post("/v1/firms", firmBody(), 201),
  authorizeFirm: async ({ service, key }) => ({
    firm_id: (await firmThatIs(service, key, "verified")).firm_id,
  }),
  suspendFirm: async ({ addHolder }) => await addHolder(0),
  resumeFirm: async ({ addHolder, post }) => {
    const { firm_id } = await addHolder(0);
    await post(`/v1/firms/${firm_id}/suspend`, { reason: "for now" });
    return { firm_id };
  },
  offboardFirm: async ({ addHolder }) => await addHolder(0),
  updateGroup: async ({ addGroup }) => ({ group_id: await addGroup() }),
  declareRequirement: async ({ addHolder }) => await addHolder(0),
  updateRequirement: async ({ addRequirement }) => await addRequirement(),
  coverRequirement: async ({ addRequirement }) => await addRequirement(),
  crossNetting: async ({ service, key, addMembers, post }) => {
    const { group_id, buyer } = await addMembers();
    const duty = { scheme: "RODTEP", amount_paise: 25_000_000, due_on: "2027-01-31" };
    await post(`/v1/firms/${buyer.firm_id}/requirements`, { ...duty, reference: "BE-1" }, 201);
    const path = `/v1/groups/${group_id}/netting`;
    const { netting_ref } = (await service.send("GET", path, { key, expect: 200 })).body;
    return { group_id, netting_ref };
  },
  declareCredits: async ({ addHolder }) => ({ firm_id: (await addHolder(0)).firm_id }),
  importCredits: async ({ addHolder }) => ({ firm_id: (await addHolder(0)).firm_id }),
  useCredit: async ({ addHolder }) => await addHolder(),
  "takeQuote/sell_credit": async ({ addHolder }) => await addHolder(),
  "placeOrder/quote": async ({ addHolder, post }) => {
    const { scrip_no } = await addHolder();
    return { quote_ref: (await post("/v1/quote", { side: "sell", scrip_no })).quote_ref };
  },
  "placeOrder/sell_now": async ({ addHolder }) => await addHolder(),
  "placeOrder/sell_amount": async ({ addHolder }) => await addHolder(2),
  "placeOrder/sell_limit": async ({ addHolder }) => await addHolder(),
  placeOrderBatch: async ({ addHolder }) => {
    const { numbers } = await addHolder(2);
    return { orders: numbers.map((scrip_no) => ({ side: "sell", scrip_no })) };
  },
  "quoteCross/block": async ({ parties }) => {
    const { key } = parties.seller;
    return { key, ...terms(parties) };
  },
  "quoteCross/intra_group": async ({ addMembers }) => {
    const { seller, buyer } = await addMembers();
    const sides = { firm_id: seller.firm_id, counterparty_firm_id: buyer.firm_id };
    return { ...sides, scrip_nos: [seller.scrip_no] };
  },
  "quoteCross/to_be_chosen": async ({ parties: { buyer, seller } }) => ({
    key: buyer.key,
    firm_id: buyer.firmId,
    counterparty_iec: seller.pan,
  }),
  proposeCross: async ({ parties }) => ({
    key: parties.seller.key,
    cross_quote_ref: (await quoteFor(parties.seller, terms(parties))).cross_quote_ref,
  }),
  acceptCross: async ({ parties, crossAt }) => ({
    key: parties.buyer.key,
    ...(await crossAt("proposed")),
  }),
  declineCross: async ({ parties, crossAt }) => ({
    key: parties.buyer.key,
    ...(await crossAt("proposed")),
  }),
  fundCross: async ({ parties, crossAt }) => ({
    key: parties.buyer.key,
    ...(await crossAt("agreed")),
  }),
  releaseCross: async ({ parties, crossAt }) => ({
    key: parties.seller.key,
    ...(await crossAt("funded")),
  }),
  cancelCross: async ({ parties, crossAt }) => ({
    key: parties.seller.key,
    ...(await crossAt("proposed")),
  }),
  advanceSettlement: addSale,
  withdrawMoney: addMoney,
  setApprovalRules: async ({ service }) => await addPair(service),
  "proposeAct/withdrawal": addMoney,
  "proposeAct/bank_change": async ({ addHolder }) => await addHolder(0),
  "proposeAct/rules": async ({ service }) => await addPair(service),
  approveAct: addApproval,
  rejectAct: addApproval,
  "seedSandbox/firm": async ({ addHolder }) => await addHolder(0),
  updateKey: async ({ service, key }) => ({ key_id: (await mintChild(service, key)).key_id }),
  updateWebhook: async ({ addWebhook }) => ({ webhook_id: await addWebhook() }),
  rotateSecret: async ({ addWebhook }) => ({ webhook_id: await addWebhook() }),
  "replayDeliveries/these": async ({ service, addWebhook }) => ({
    delivery_ids: await addDeadLetters(service, await addWebhook()),
  }),
  "replayDeliveries/since": async ({ addWebhook }) => ({ webhook_id: await addWebhook() }),
};

/** The value with what stands for its fields, at any depth. */
function stand(value: unknown, standing: Standing): unknown {
  if (Array.isArray(value)) return value.map((item) => stand(item, standing));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name in standing ? standing[name] : stand(member, standing),
    ]),
  );
}

test("every request body has examples, and the service answers each as the document says", async (t) => {
  const world = await furnish(await startService(t));
  const { paths } = await readDocument();
  const sent: string[] = [];
  const failed: string[] = [];
  for (const [template, methods] of Object.entries(paths)) {
    for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
      if (!requestBody) continue;
      const { examples = {} } = requestBody.content["application/json"] as {
        examples?: Record<string, Example>;
      };
      assert.ok(Object.keys(examples).length > 0, `${operationId} has no example`);
      for (const [name, { value, "x-answer": expected }] of Object.entries(examples)) {
        const about = `${operationId}/${name}`;
        const prepare = preparing[about] ?? preparing[operationId];
        const standing: Standing = (await prepare?.(world)) ?? {};
        const path = template.replaceAll(/\{(\w+)\}/g, (_, field) => String(standing[field]));
        const key = template.startsWith("/public") ? undefined : (standing.key ?? world.key);
        const body = stand(value, standing);
        const options = { body, ...(key !== undefined && { key }) };
        const answer = await world.service.send(method.toUpperCase(), path, options);
        sent.push(about);
        if (answer.status !== expected) failed.push(`${about}: ${answer.status} ${answer.text}`);
        const results: { ok: boolean }[] = answer.body.results ?? [];
        if (!results.every(({ ok }) => ok)) failed.push(`${about}: ${answer.text}`);
      }
    }
  }
  assert.deepEqual(failed, []);
  assert.ok(sent.length > 50, `${sent.length} were sent`);
});
