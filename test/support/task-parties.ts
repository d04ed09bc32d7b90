// Two desks that carry out a deal: what they are told to do, and what they and customs say.

import { operator } from "../../src/kernel/actor.ts";
import { attestSubjects } from "../../src/outside/attest.ts";
import type { transferOutcomes } from "../../src/outside/question-rules.ts";
import { appliers } from "../../src/workers.ts";
import { payIn } from "./ledger.ts";
import type { Answer, Service } from "./service.ts";
import {
  addCredit,
  buyerPaise,
  makeDeal,
  openTestDesk,
  readSettlement,
  type TestDesk,
} from "./settlements.ts";

/** What a side that is late pays by the sandbox's card. */
export const defaultPaise = 125_000;

type Body = Answer["body"];
export type Parties = { readonly seller: TestDesk; readonly buyer: TestDesk };
export type Made = Parties & { readonly scripNo: string; readonly settlementId: string };

/** The holder initiates itself, as its mandate says, or the house does. */
export async function openParties(
  service: Service,
  environment: "live" | "sandbox" = "live",
  transfers: "firm" | "house" = "firm",
): Promise<Parties> {
  const seller = await openTestDesk(service, environment);
  const buyer = await openTestDesk(service, environment);
  await service.ctx.db.pool.query(
    `update firms
    set mandate = ('{"signatory_name": "A", "reference": "M-1", "valid_until": "2030-01-01T00:00:00+05:30", "transfers": "' || $2 || '"}')::jsonb
    where firm_id = $1`,
    [seller.firmId, transfers],
  );
  return { seller, buyer };
}

export async function dealBetween(
  service: Service,
  { seller, buyer }: Parties,
  isPaid = true,
): Promise<Made> {
  const { environment } = seller;
  if (isPaid) await payIn(service, buyer.firmId, buyerPaise, environment);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo }];
  const settlementId = await makeDeal(service, { environment, buyer, legs });
  return { seller, buyer, scripNo, settlementId };
}

export async function listEvents(service: Service, { key }: TestDesk): Promise<Body[]> {
  return (await service.send("GET", "/v1/events", { key, expect: 200 })).body.events;
}

export async function findTask(
  service: Service,
  desk: TestDesk,
  made: Made,
  kind: string,
): Promise<Body> {
  const { tasks } = await readSettlement(service, desk, made.settlementId);
  return tasks.find((task: { kind: string }) => task.kind === kind);
}

export async function say(
  service: Service,
  desk: TestDesk,
  made: Made,
  {
    kind,
    word = "done",
    body = { reference: "ICEGATE-1" },
    expect = 200,
  }: { kind: string; word?: "done" | "missing"; body?: object; expect?: number },
): Promise<Body> {
  const { task_id } = await findTask(service, desk, made, kind);
  const path = `/v1/settlements/${made.settlementId}/tasks/${task_id}/${word}`;
  return (await service.send("POST", path, { key: desk.key, body, expect })).body;
}

export async function saysCustoms(
  { ctx }: Service,
  { settlementId }: Made,
  outcome: (typeof transferOutcomes)[number],
): Promise<void> {
  const seen = [{ subjectId: settlementId, answer: { outcome }, reference: "ICEGATE-9" }];
  await attestSubjects(ctx, operator, { kind: "credit_transfer", seen, appliers });
}

/** What a scenario of the buyer's desk leads to, watched second by second. */
export async function playScenario(service: Service, scenario: string): Promise<Made> {
  const parties = await openParties(service, "sandbox");
  const { key } = parties.buyer;
  await service.send("POST", "/v1/sandbox/scenarios", { key, body: { scenario }, expect: 200 });
  return await dealBetween(service, parties);
}

export async function pass(service: Service, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    service.clock.advance({ seconds: 5 });
    await service.workOn(["simulation", "settlement", "tasks", "deadlines"]);
  }
}
