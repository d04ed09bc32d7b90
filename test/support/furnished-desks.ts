// Desks with a resource of every kind, and what each of those resources is to a caller.

import { newId } from "../../src/kernel/ids.ts";
import { bank, firmBody, mandate } from "./client-firms.ts";
import { bodiesOfCrosses, furnishCrosses, idsOfCrosses } from "./furnished-crosses.ts";
import { furnishDeal } from "./furnished-deals.ts";
import { addCredits, addFirm } from "./holdings.ts";
import type { Fixtures, IdFixture } from "./isolation.ts";
import { mintChild } from "./keys.ts";
import { putCard } from "./dealing-house.ts";
import { addDeadLetters, registerWebhook } from "./receivers.ts";
import type { Service } from "./service.ts";

type Environment = "sandbox" | "live";

/** A desk as its root key sees it. The client firm is in the group, with a sibling. */
type Desk = Awaited<ReturnType<typeof furnish>>;

export type Tenancy = {
  readonly root: { readonly key: string; readonly fixtures: Fixtures };
  /** A sub_account key of the client firm on the same desk. */
  readonly sub: { readonly key: string; readonly fixtures: Fixtures };
};

/** Two desks and a desk of the other environment, and two callers of the first. */
export async function furnishDesks(service: Service): Promise<Tenancy> {
  await putCard(service, { environment: "live" });
  const own = await furnish(service, "sandbox");
  const other = await furnish(service, "sandbox");
  const live = await furnish(service, "live");
  const minted = { kind: "sub_account", firm_id: own.client, buy_side: true };
  const { api_key: sub, key_id } = await mintChild(service, own.key, minted);
  const caller = { key_id, request: await callOnce(service, sub) };
  const strangers = { other, live };
  const randoms = randomIds(service);
  const bodies = { ...anyBodies, crossNetting: { netting_ref: own.netting } };
  return {
    root: {
      key: own.key,
      fixtures: {
        bodies: { ...bodies, ...bodiesOfCrosses(own) },
        ids: {
          ...idsOfRoot(own, strangers, randoms),
          ...(await readCursors(service, { key: own.key, own, strangers })),
        },
      },
    },
    sub: {
      key: sub,
      fixtures: {
        bodies: { ...bodies, ...bodiesOfCrosses(own) },
        ids: {
          ...idsOfSub({ ...own, caller }, strangers, randoms),
          ...(await readCursorsOfSub(service, { key: sub, own, strangers })),
        },
      },
    },
  };
}

/** A scheme is everybody's, and there is no other. */
const scheme: IdFixture = { own: "RODTEP", foreign: {}, random: "NO-SCHEME" };

/** A month is everybody's; there is no statement of one before anybody was here. */
const period: IdFixture = { own: "2026-11", foreign: {}, random: "1999-12" };

const duty = { amount_paise: 4_200_000, due_on: "2027-01-31" };

/** Nobody is there; nothing is sent in these tests. */
const receiverUrl = "https://erp.example/hooks";

/** Valid bodies, for the operations that need one and name nothing of a desk in it. */
const anyBodies: Fixtures["bodies"] = {
  mintKey: { name: "probe", kind: "sub_account", scopes: ["quote"] },
  updateKey: { limits: { withdrawals: true } },
  registerFirm: firmBody(),
  updateFirm: { phone: "+919820012345" },
  authorizeFirm: { mandate },
  suspendFirm: { reason: "a probe" },
  createGroup: { name: "Probe" },
  updateGroup: { name: "Renamed" },
  declareRequirement: { ...duty, reference: "PROBE" },
  updateRequirement: { amount_paise: 1 },
  coverRequirement: { scheme: "RODTEP", limit_bps: 9_000 },
  withdrawMoney: { amount_paise: 1 },
  setApprovalRules: { bank_changes: false, withdrawals_from_paise: null },
  proposeAct: { kind: "bank_change", bank: bank("Probe", "50200099990001") },
  rejectAct: { reason: "a probe" },
  finishTask: { reference: "PROBE-1" },
  registerWebhook: { url: `${receiverUrl}/probe`, event: "*" },
  updateWebhook: { description: "a probe" },
  rotateSecret: {},
  replayDeliveries: {},
  declareCredits: {
    credits: [
      {
        scrip_no: "PROBE0001",
        scheme: "RODTEP",
        face_paise: 100,
        issued_on: "2026-10-01",
        expires_on: "2028-10-01",
      },
    ],
  },
  takeQuote: { side: "sell" },
  advanceClock: { advance_s: 1 },
  setScenario: { scenario: "transfer_timeout" },
  seedSandbox: { count: 1 },
  placeOrder: { side: "sell" },
  "placeOrder/quote_ref": {},
  "placeOrder/firm_id": { side: "sell", scheme: "RODTEP", face_paise: 100_000 },
  takeQuoteBatch: { quotes: [{ side: "sell", scheme: "RODTEP", face_paise: 100_000 }] },
  placeOrderBatch: { orders: [{ side: "sell", scrip_no: "PROBE0003" }] },
  importCredits: {
    csv: "Scrip Number,Scheme,Amount,Balance,Issue Date,Expiry Date\nPROBE0002,RODTEP,1.00,1.00,01/10/2026,01/10/2028\n",
  },
};

async function furnish(service: Service, environment: Environment) {
  const issued = await service.issue({ environment });
  const { api_key: key, firm_id: deskId } = issued;
  const ask = async (method: string, path: string, status: number, body?: unknown) =>
    (await service.send(method, path, { key, body, expect: status })).body;
  const firm = async (state: "registered" | "verified" | "authorized" = "authorized") =>
    await addFirm(service, { deskId, environment, state });
  const group = async (...members: string[]): Promise<string> => {
    const { group_id } = await ask("POST", "/v1/groups", 201, { name: newName("Group") });
    for (const id of members) await ask("PUT", `/v1/groups/${group_id}/members/${id}`, 200);
    return group_id;
  };
  const requirement = async (of: string): Promise<string> => {
    const body = { ...duty, reference: newName("BE") };
    return (await ask("POST", `/v1/firms/${of}/requirements`, 201, body)).requirement_id;
  };
  const credits = async (of: string, states: string[]) =>
    await addCredits(
      service,
      deskId,
      states.map((state) => ({
        firmId: of,
        scheme: "RODTEP",
        facePaise: 100_000,
        expiresOn: "2028-10-01",
        state,
      })),
    );
  const net = async (groupId: string): Promise<string> =>
    (await ask("GET", `/v1/groups/${groupId}/netting`, 200)).netting_ref;
  const [client, sibling] = [await firm(), await firm()];
  const named = newName("ERP");
  const { iec } = await ask("PATCH", `/v1/firms/${sibling}`, 200, { external_id: named });
  const clientNamed = newName("ERP");
  const renamed = await ask("PATCH", `/v1/firms/${client}`, 200, { external_id: clientNamed });
  for (const id of [client, sibling]) {
    await ask("POST", `/v1/firms/${id}/suspend`, 200, { reason: "a pause" });
    await ask("POST", `/v1/firms/${id}/resume`, 200, {});
  }
  const suspended = await firm();
  await ask("POST", `/v1/firms/${suspended}/suspend`, 200, { reason: "a pause" });
  const offboarded = await firm();
  await ask("POST", `/v1/firms/${offboarded}/offboard`, 200, {});
  const revoked = (await mintChild(service, key)).key_id;
  await ask("DELETE", `/v1/keys/${revoked}`, 200);
  const deletedGroup = await group();
  await ask("DELETE", `/v1/groups/${deletedGroup}`, 200);
  const deletedRequirement = await requirement(client);
  await ask("DELETE", `/v1/firms/${client}/requirements/${deletedRequirement}`, 200);
  const states = ["listed", "listed", "withdrawn", "listed", "listed"];
  const [scrip = "", , withdrawnScrip = "", ...forSale] = await credits(client, states);
  const [siblingScrip = "", , siblingWithdrawnScrip = "", ...siblingForSale] = await credits(
    sibling,
    states,
  );
  const rest = async (of: string | undefined, clientRef: string): Promise<string> => {
    const order = { side: "sell", scrip_no: of, limit_bps: 9_980, client_ref: clientRef };
    return (await ask("POST", "/v1/orders", 201, order)).order_id;
  };
  const orderNamed = newName("ORDER");
  const siblingOrderNamed = newName("ORDER");
  const cancelledOrder = await rest(forSale[0], newName("ORDER"));
  await ask("POST", `/v1/orders/${cancelledOrder}/cancel`, 200, {});
  const siblingCancelledOrder = await rest(siblingForSale[0], newName("ORDER"));
  await ask("POST", `/v1/orders/${siblingCancelledOrder}/cancel`, 200, {});
  const quote = async (of: string): Promise<string> =>
    (await ask("POST", "/v1/quote", 200, { side: "sell", scrip_no: of })).quote_ref;
  const subKey = (await mintChild(service, key, { kind: "sub_account", firm_id: client })).api_key;
  const webhook = await registerWebhook(service, key, receiverUrl);
  const clientWebhook = await registerWebhook(service, subKey, receiverUrl);
  const deletedWebhook = await registerWebhook(service, key, `${receiverUrl}/deleted`);
  await ask("DELETE", `/v1/webhooks/${deletedWebhook.webhook_id}`, 200);
  const clientIec = renamed.iec as string;
  const siblingIec = iec as string;
  const iecs = { clientIec, siblingIec };
  const proposed = async (of: string): Promise<string> => {
    const act = { kind: "bank_change", firm_id: of, bank: bank("Other", "50200099990002") };
    return (await ask("POST", "/v1/approvals", 201, act)).approval_id;
  };
  const crosses = await furnishCrosses(service, { environment, key, client, sibling, ...iecs });
  const [letter = ""] = await addDeadLetters(service, webhook.webhook_id);
  const [clientLetter = ""] = await addDeadLetters(service, clientWebhook.webhook_id);
  const [giver, taker] = [await firm(), await firm()];
  await credits(giver, ["listed"]);
  await requirement(taker);
  const groupToCross = await group(giver, taker);
  const crossedNetting = await net(groupToCross);
  const crossing = { netting_ref: crossedNetting };
  await ask("POST", `/v1/groups/${groupToCross}/netting/crosses`, 201, crossing);
  const groupOfBoth = await group(client, sibling);
  const lastEvent = async (of: string): Promise<string> =>
    (await ask("GET", `/v1/events?entity_id=${of}&order=desc&limit=1`, 200)).events[0].id;
  const otherGroup = await group(suspended, await firm());
  return {
    key,
    rootKeyId: issued.key_id,
    request: await callOnce(service, key),
    event: await lastEvent(revoked),
    clientEvent: await lastEvent(client),
    deskId,
    webhook: webhook.webhook_id as string,
    clientWebhook: clientWebhook.webhook_id as string,
    deletedWebhook: deletedWebhook.webhook_id as string,
    letter,
    clientLetter,
    client,
    clientNamed,
    environment,
    crosses,
    clientIec,
    sibling,
    siblingNamed: named,
    siblingIec,
    registered: await firm("registered"),
    verified: await firm("verified"),
    suspended,
    offboarded,
    child: (await mintChild(service, key)).key_id,
    revoked,
    group: groupOfBoth,
    emptyGroup: await group(),
    otherGroup,
    netting: await net(groupOfBoth),
    crossedNetting,
    otherNetting: await net(otherGroup),
    deletedGroup,
    requirement: await requirement(client),
    secondRequirement: await requirement(client),
    siblingRequirement: await requirement(sibling),
    secondSiblingRequirement: await requirement(sibling),
    approval: await proposed(client),
    secondApproval: await proposed(client),
    approvalToReject: await proposed(client),
    siblingApproval: await proposed(sibling),
    deletedRequirement,
    scrip,
    withdrawnScrip,
    siblingScrip,
    siblingWithdrawnScrip,
    order: await rest(forSale[1], orderNamed),
    orderNamed,
    cancelledOrder,
    siblingOrder: await rest(siblingForSale[1], siblingOrderNamed),
    siblingOrderNamed,
    siblingCancelledOrder,
    quote: await quote(scrip),
    siblingQuote: await quote(siblingScrip),
    deal: await furnishDeal(service, { environment, deskId, firmId: client }),
    secondDeal: await furnishDeal(service, { environment, deskId, firmId: client }),
    siblingDeal: await furnishDeal(service, { environment, deskId, firmId: sibling }),
  };
}

/** The id of a call that this key made. */
async function callOnce({ send }: Service, key: string): Promise<string> {
  const { headers } = await send("GET", "/v1/whoami", { key, expect: 200 });
  return headers.get("x-request-id") ?? "";
}

let named = 0;
function newName(what: string): string {
  return `${what} ${++named}`;
}

function randomIds({ clock }: Service) {
  const now = clock.now();
  return {
    key: newId("key", now),
    request: newId("req", now),
    event: newId("evt", now),
    firm: newId("frm", now),
    group: newId("grp", now),
    requirement: newId("rqm", now),
    approval: newId("dap", now),
    scrip: newId("crd", now).slice(6).toUpperCase(),
    quote: newId("qte", now),
    netting: newId("net", now),
    cross: newId("crs", now),
    crossQuote: newId("cqt", now),
    order: newId("ord", now),
    settlement: newId("stl", now),
    task: `tsk_${newId("stl", now).slice(4)}_pay`,
    payout: newId("pay", now),
    webhook: newId("whk", now),
    letter: newId("dlv", now),
  };
}

type Randoms = ReturnType<typeof randomIds>;
type Strangers = { readonly other: Desk; readonly live: Desk };

/** The same kinds of resource on the desks of others, each under what it is. */
function ofStrangers(
  { other, live }: Strangers,
  kinds: Readonly<Record<string, (desk: Desk) => string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, of]) => [
      [`another desk's ${kind}`, of(other)],
      [`the other environment's ${kind}`, of(live)],
    ]),
  );
}

function listForeign(strangers: Strangers) {
  return {
    keys: ofStrangers(strangers, {
      key: ({ child }) => child,
      "root key": ({ rootKeyId }) => rootKeyId,
      "revoked key": ({ revoked }) => revoked,
    }),
    requests: ofStrangers(strangers, { call: ({ request }) => request }),
    events: ofStrangers(strangers, {
      event: ({ event }) => event,
      "client's event": ({ clientEvent }) => clientEvent,
    }),
    firms: ofStrangers(strangers, {
      "own firm": ({ deskId }) => deskId,
      client: ({ client }) => client,
      "suspended client": ({ suspended }) => suspended,
      "offboarded client": ({ offboarded }) => offboarded,
    }),
    groups: ofStrangers(strangers, {
      group: ({ group }) => group,
      "empty group": ({ emptyGroup }) => emptyGroup,
      "deleted group": ({ deletedGroup }) => deletedGroup,
    }),
    requirements: ofStrangers(strangers, {
      requirement: ({ requirement }) => requirement,
      "deleted requirement": ({ deletedRequirement }) => deletedRequirement,
    }),
    approvals: ofStrangers(strangers, { approval: ({ approval }) => approval }),
    scrips: ofStrangers(strangers, {
      credit: ({ scrip }) => scrip,
      "withdrawn credit": ({ withdrawnScrip }) => withdrawnScrip,
    }),
    quotes: ofStrangers(strangers, { quote: ({ quote }) => quote }),
    nettings: ofStrangers(strangers, { netting: ({ netting }) => netting }),
    crossedNettings: ofStrangers(strangers, {
      "crossed netting": ({ crossedNetting }) => crossedNetting,
    }),
    crosses: ofStrangers(strangers, {
      proposal: ({ crosses }) => crosses.proposal,
      "proposal to answer": ({ crosses }) => crosses.answer,
    }),
    crossQuotes: ofStrangers(strangers, { "cross quote": ({ crosses }) => crosses.quote }),
    dealtOrders: ofStrangers(strangers, { order: ({ deal }) => deal.settlementOrder }),
    settlements: ofStrangers(strangers, { settlement: ({ deal }) => deal.settlement }),
    tasks: ofStrangers(strangers, { task: ({ deal }) => deal.task }),
    payouts: ofStrangers(strangers, { payout: ({ deal }) => deal.payout }),
    webhooks: ofStrangers(strangers, {
      webhook: ({ webhook }) => webhook,
      "client's webhook": ({ clientWebhook }) => clientWebhook,
      "deleted webhook": ({ deletedWebhook }) => deletedWebhook,
    }),
    letters: ofStrangers(strangers, {
      "dead letter": ({ letter }) => letter,
      "client's dead letter": ({ clientLetter }) => clientLetter,
    }),
    orders: ofStrangers(strangers, {
      order: ({ order }) => order,
      "cancelled order": ({ cancelledOrder }) => cancelledOrder,
    }),
    orderNames: ofStrangers(strangers, { "name for an order": ({ orderNamed }) => orderNamed }),
    names: ofStrangers(strangers, { "name for a client": ({ clientNamed }) => clientNamed }),
    iecs: ofStrangers(strangers, { "client's IEC": ({ clientIec }) => clientIec }),
  };
}

function idsOfRoot(own: Desk, strangers: Strangers, random: Randoms): Fixtures["ids"] {
  const foreign = listForeign(strangers);
  const firm: IdFixture = {
    own: own.client,
    ownEnded: own.offboarded,
    foreign: foreign.firms,
    random: random.firm,
  };
  const group: IdFixture = {
    own: own.group,
    foreign: { ...foreign.groups, "a deleted group": own.deletedGroup },
    random: random.group,
  };
  // It has nothing to move, which only its owner is told.
  const netting: IdFixture = {
    own: own.netting,
    foreign: { ...foreign.nettings, "another group's netting": own.otherNetting },
    random: random.netting,
  };
  const scrip: IdFixture = {
    own: own.scrip,
    ownEnded: own.withdrawnScrip,
    foreign: foreign.scrips,
    random: random.scrip,
  };
  const webhook: IdFixture = {
    own: own.webhook,
    foreign: { ...foreign.webhooks, "a deleted webhook": own.deletedWebhook },
    random: random.webhook,
  };
  const approval = {
    own: own.approval,
    foreign: foreign.approvals,
    random: random.approval,
  };
  return {
    approval_id: approval,
    "approveAct/approval_id": { ...approval, ownRefused: true },
    "rejectAct/approval_id": { ...approval, own: own.approvalToReject },
    webhook_id: webhook,
    // The one whose pages are asked for below.
    "listDeliveries/webhook_id": { ...webhook, own: own.clientWebhook },
    delivery_ids: {
      own: own.letter,
      foreign: foreign.letters,
      random: random.letter,
      absentIs: 200,
    },
    key_id: {
      own: own.child,
      ownEnded: own.revoked,
      foreign: foreign.keys,
      random: random.key,
    },
    request_id: { own: own.request, foreign: foreign.requests, random: random.request },
    "listRequests/key_id": { own: own.rootKeyId, foreign: foreign.keys, random: random.key },
    event_id: { own: own.event, foreign: foreign.events, random: random.event },
    firm_id: firm,
    entity_id: { own: own.group, foreign: foreign.groups, random: random.group },
    "listEvents/entity_id": firm,
    // The client has open settlements and payouts.
    "offboardFirm/firm_id": { ...firm, mayConflict: true },
    "withdrawMoney/firm_id": { ...firm, mayConflict: true },
    "readPositions/firm_id": { ...firm, absentIs: 404 },
    "listStatements/firm_id": { ...firm, absentIs: 404 },
    "readStatement/firm_id": { ...firm, absentIs: 404 },
    period,
    "verifyFirm/firm_id": { ...firm, own: own.registered },
    "authorizeFirm/firm_id": { ...firm, own: own.verified },
    "resumeFirm/firm_id": { ...firm, own: own.suspended },
    "readRequirement/firm_id": firmOfRequirement(firm, own),
    "updateRequirement/firm_id": firmOfRequirement(firm, own),
    "deleteRequirement/firm_id": firmOfRequirement(firm, own),
    "coverRequirement/firm_id": firmOfRequirement(firm, own),
    group_id: group,
    "deleteGroup/group_id": { ...group, own: own.emptyGroup },
    requirement_id: {
      own: own.requirement,
      foreign: {
        ...foreign.requirements,
        "a deleted requirement": own.deletedRequirement,
        "a sibling's requirement": own.siblingRequirement,
      },
      random: random.requirement,
    },
    scrip_no: scrip,
    ...idsOfCrosses(own, {
      firm,
      scrip,
      counterparty: own.sibling,
      foreign: foreign.crosses,
      foreignQuotes: foreign.crossQuotes,
      random,
    }),
    quote_ref: { own: own.quote, foreign: foreign.quotes, random: random.quote },
    netting_ref: { ...netting, mayConflict: true },
    "listCrosses/netting_ref": {
      own: own.crossedNetting,
      foreign: foreign.crossedNettings,
      random: random.netting,
    },
    "crossNetting/group_id": { ...group, mayConflict: true },
    ...idsOfDeals(own, {
      orders: foreign.dealtOrders,
      settlements: foreign.settlements,
      tasks: foreign.tasks,
      payouts: foreign.payouts,
      random,
    }),
    order_id: {
      own: own.order,
      ownEnded: own.cancelledOrder,
      foreign: foreign.orders,
      random: random.order,
    },
    client_ref: { own: own.orderNamed, foreign: foreign.orderNames, random: "ORDER nobody" },
    external_id: { own: own.clientNamed, foreign: foreign.names, random: "ERP nobody" },
    iec: { own: own.clientIec, foreign: foreign.iecs, random: "ZZZPZ0000Z" },
    scheme,
  };
}

/** What a desk dealt, its settlement and its payout, and those that are foreign to the caller. */
function idsOfDeals(
  { deal }: Desk,
  foreign: {
    readonly orders: Record<string, string>;
    readonly settlements: Record<string, string>;
    readonly tasks: Record<string, string>;
    readonly payouts: Record<string, string>;
    readonly random: Randoms;
  },
): Fixtures["ids"] {
  const { random } = foreign;
  const order = { own: deal.settlementOrder, foreign: foreign.orders, random: random.order };
  const settlement = {
    own: deal.settlement,
    foreign: foreign.settlements,
    random: random.settlement,
  };
  const task = { own: deal.task, foreign: foreign.tasks, random: random.task };
  return {
    settlement_id: settlement,
    task_id: task,
    "reportMissing/settlement_id": { ...settlement, mayConflict: true },
    "reportMissing/task_id": { ...task, mayConflict: true },
    payout_id: { own: deal.payout, foreign: foreign.payouts, random: random.payout },
    "listSettlements/order_id": order,
    "listPayouts/order_id": order,
  };
}

/** Under a firm that is not its own, a requirement is nobody's. */
function firmOfRequirement({ ownEnded = "", ...firm }: IdFixture, own: Desk): IdFixture {
  const others = { "a sibling": own.sibling, "an offboarded firm": ownEnded };
  return { ...firm, foreign: { ...firm.foreign, ...others } };
}

/** For a sub_account key there is its own firm and nothing else. */
function idsOfSub(
  own: Desk & { readonly caller: { readonly key_id: string; readonly request: string } },
  strangers: Strangers,
  random: Randoms,
): Fixtures["ids"] {
  const foreign = listForeign(strangers);
  const firm: IdFixture = {
    own: own.client,
    foreign: {
      ...foreign.firms,
      "the desk's own firm": own.deskId,
      "a sibling": own.sibling,
      "a suspended sibling": own.suspended,
      "an offboarded sibling": own.offboarded,
    },
    random: random.firm,
  };
  const group: IdFixture = {
    own: own.group,
    foreign: {
      ...foreign.groups,
      "a group it is not in": own.otherGroup,
      "an empty group of its desk": own.emptyGroup,
      "a deleted group": own.deletedGroup,
    },
    random: random.group,
  };
  const scrip: IdFixture = {
    own: own.scrip,
    ownEnded: own.withdrawnScrip,
    foreign: {
      ...foreign.scrips,
      "a sibling's credit": own.siblingScrip,
      "a sibling's withdrawn credit": own.siblingWithdrawnScrip,
    },
    random: random.scrip,
  };
  const key: IdFixture = {
    own: own.child,
    foreign: { ...foreign.keys, "its desk's root key": own.rootKeyId },
    random: random.key,
    refused: true,
  };
  const approval = {
    own: own.secondApproval,
    foreign: { ...foreign.approvals, "a sibling's approval": own.siblingApproval },
    random: random.approval,
  };
  return {
    approval_id: approval,
    "approveAct/approval_id": { ...approval, ownRefused: true },
    webhook_id: {
      own: own.clientWebhook,
      foreign: {
        ...foreign.webhooks,
        "its desk's webhook": own.webhook,
        "a deleted webhook": own.deletedWebhook,
      },
      random: random.webhook,
    },
    delivery_ids: {
      own: own.clientLetter,
      foreign: { ...foreign.letters, "its desk's dead letter": own.letter },
      random: random.letter,
      absentIs: 200,
    },
    key_id: key,
    request_id: {
      own: own.caller.request,
      foreign: { ...foreign.requests, "its desk's call": own.request },
      random: random.request,
    },
    "listRequests/key_id": { ...key, own: own.caller.key_id, refused: false },
    event_id: {
      own: own.clientEvent,
      foreign: { ...foreign.events, "its desk's event": own.event },
      random: random.event,
    },
    firm_id: { ...firm, mayConflict: true },
    entity_id: { ...firm, refused: true },
    "listEvents/entity_id": firm,
    "mintKey/firm_id": { ...firm, refused: true },
    "readPositions/firm_id": { ...firm, absentIs: 404 },
    "listStatements/firm_id": { ...firm, absentIs: 404 },
    "readStatement/firm_id": { ...firm, absentIs: 404 },
    period,
    "offboardFirm/firm_id": { ...firm, ownRefused: true },
    "withdrawMoney/firm_id": { ...firm, mayConflict: true },
    "addMember/firm_id": { ...firm, refused: true },
    "removeMember/firm_id": { ...firm, refused: true },
    group_id: { ...group, refused: true },
    "listFirms/group_id": group,
    requirement_id: {
      own: own.requirement,
      foreign: {
        ...foreign.requirements,
        "a deleted requirement": own.deletedRequirement,
        "a sibling's requirement": own.siblingRequirement,
      },
      random: random.requirement,
    },
    scheme,
    scrip_no: scrip,
    ...idsOfCrosses(own, {
      firm,
      scrip,
      counterparty: undefined,
      foreign: {
        ...foreign.crosses,
        "a sibling's proposal": own.crosses.siblingProposal,
        "a proposal to a sibling": own.crosses.siblingAnswer,
      },
      foreignQuotes: {
        ...foreign.crossQuotes,
        "a sibling's cross quote": own.crosses.siblingQuote,
      },
      random,
    }),
    netting_ref: {
      own: own.netting,
      foreign: foreign.nettings,
      random: random.netting,
      refused: true,
    },
    "listCrosses/netting_ref": {
      foreign: { ...foreign.crossedNettings, "a netting of its siblings": own.crossedNetting },
      random: random.netting,
    },
    quote_ref: {
      own: own.quote,
      foreign: { ...foreign.quotes, "a quote for a sibling's credit": own.siblingQuote },
      random: random.quote,
    },
    ...idsOfDeals(own, {
      orders: { ...foreign.dealtOrders, "a sibling's order": own.siblingDeal.settlementOrder },
      settlements: {
        ...foreign.settlements,
        "a sibling's settlement": own.siblingDeal.settlement,
      },
      tasks: { ...foreign.tasks, "a sibling's task": own.siblingDeal.task },
      payouts: { ...foreign.payouts, "a sibling's payout": own.siblingDeal.payout },
      random,
    }),
    order_id: {
      own: own.order,
      ownEnded: own.cancelledOrder,
      foreign: {
        ...foreign.orders,
        "a sibling's order": own.siblingOrder,
        "a sibling's cancelled order": own.siblingCancelledOrder,
      },
      random: random.order,
    },
    client_ref: {
      own: own.orderNamed,
      foreign: { ...foreign.orderNames, "a name for a sibling's order": own.siblingOrderNamed },
      random: "ORDER nobody",
    },
    external_id: {
      own: own.clientNamed,
      foreign: { ...foreign.names, "a name for a sibling": own.siblingNamed },
      random: "ERP nobody",
    },
    iec: {
      own: own.clientIec,
      foreign: { ...foreign.iecs, "a sibling's IEC": own.siblingIec },
      random: "ZZZPZ0000Z",
    },
  };
}

/** The lists there are, by their operation, as a desk asks for them. */
const lists: Readonly<Record<string, (desk: Desk) => string>> = {
  listKeys: () => "/v1/keys",
  listFirms: () => "/v1/firms",
  listGroups: () => "/v1/groups",
  listMembers: ({ group }) => `/v1/groups/${group}/members`,
  listRequirements: ({ client }) => `/v1/firms/${client}/requirements`,
  listCredits: ({ client }) => `/v1/firms/${client}/credits`,
  listOrders: () => "/v1/orders",
  listCrosses: () => "/v1/cross",
  listRequests: () => "/v1/requests",
  listEvents: () => "/v1/events",
  listAudit: () => "/v1/audit",
  listSettlements: () => "/v1/settlements",
  listTasks: () => "/v1/tasks",
  listPayouts: () => "/v1/payouts",
  listDeposits: () => "/v1/deposits",
  listDeskApprovals: () => "/v1/approvals",
  listWebhooks: () => "/v1/webhooks",
  listDeliveries: ({ clientWebhook }) => `/v1/webhooks/${clientWebhook}/deliveries`,
  listFailures: () => "/v1/webhooks/failures",
};

/** Lists of the same desk that look alike and are of something else. */
const listsOfSiblings: Readonly<Record<string, (desk: Desk) => string>> = {
  listMembers: ({ otherGroup }) => `/v1/groups/${otherGroup}/members`,
  listRequirements: ({ sibling }) => `/v1/firms/${sibling}/requirements`,
  listCredits: ({ sibling }) => `/v1/firms/${sibling}/credits`,
};

/** Where the second page begins; none when the list is not served. */
async function cursorAt({ send }: Service, key: string, path: string): Promise<string | undefined> {
  const { status, body } = await send("GET", `${path}?limit=1`, { key });
  return status === 200 ? (body.next_cursor ?? undefined) : undefined;
}

const randomCursor = Buffer.from(`${"?".repeat(16)}[0,"x",2]`).toString("base64url");

type CursorsWanted = { readonly key: string; readonly own: Desk; readonly strangers: Strangers };

async function readCursors(
  service: Service,
  { key, own, strangers }: CursorsWanted,
): Promise<Fixtures["ids"]> {
  const entries = Object.entries(lists).map(async ([operation, buildPath]) => {
    const mine = await cursorAt(service, key, buildPath(own));
    const siblings = listsOfSiblings[operation];
    const elsewhere = operation === "listKeys" ? "/v1/firms" : "/v1/keys";
    const foreign = {
      "another desk's page": await cursorAt(
        service,
        strangers.other.key,
        buildPath(strangers.other),
      ),
      "the other environment's page": await cursorAt(
        service,
        strangers.live.key,
        buildPath(strangers.live),
      ),
      "a page of another list": await cursorAt(service, key, elsewhere),
      "a page of a sibling's list": siblings && (await cursorAt(service, key, siblings(own))),
    };
    return [`${operation}/cursor`, cursorFixture(mine, foreign)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** What the desk's root key pages through and the client firm does not. */
const closedToSub = ["listKeys", "listGroups", "listMembers", "listAudit"];
const widerForRoot = [
  "listFirms",
  "listOrders",
  "listCrosses",
  "listEvents",
  "listRequests",
  "listSettlements",
  "listTasks",
  "listPayouts",
  "listDeposits",
  "listWebhooks",
  "listFailures",
];

async function readCursorsOfSub(
  service: Service,
  { key, own, strangers }: CursorsWanted,
): Promise<Fixtures["ids"]> {
  const entries = Object.entries(lists).map(async ([operation, buildPath]) => {
    const refused = closedToSub.includes(operation);
    const siblings = listsOfSiblings[operation];
    const ofRoot = await cursorAt(service, own.key, buildPath(own));
    const mine = refused ? ofRoot : await cursorAt(service, key, buildPath(own));
    const foreign = {
      "another desk's page": await cursorAt(
        service,
        strangers.other.key,
        buildPath(strangers.other),
      ),
      "its desk's page": widerForRoot.includes(operation) ? ofRoot : undefined,
      "a page of a sibling's list": siblings && (await cursorAt(service, own.key, siblings(own))),
    };
    return [`${operation}/cursor`, { ...cursorFixture(mine, foreign), refused }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function cursorFixture(
  own: string | undefined,
  foreign: Readonly<Record<string, string | undefined>>,
): IdFixture {
  const known = Object.entries(foreign).filter((entry): entry is [string, string] => !!entry[1]);
  return { ...(own && { own }), foreign: Object.fromEntries(known), random: randomCursor };
}
