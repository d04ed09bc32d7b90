// Client firms for tests: bodies that pass every rule, and firms brought as far as a test needs.

import { makeSyntheticPan } from "../../src/kernel/identifiers.ts";
import type { Answer, Service } from "./service.ts";

let made = 0;

/** A registration that nothing is wrong with; each one is another company. */
export function firmBody(changes: Readonly<Record<string, unknown>> = {}) {
  const pan = makeSyntheticPan(`client firm ${++made}`);
  return {
    legal_name: `Client Firm ${made}`,
    iec: pan,
    pan,
    email: `accounts@client${made}.example`,
    role: "exporter",
    ...changes,
  };
}

export const bank = (name: string, accountNo = "50200012345678") => ({
  account_no: accountNo,
  ifsc: "HDFC0000001",
  name,
});

export const mandate = {
  signatory_name: "R. Mehta",
  reference: "MND-2026-0042",
  valid_until: "2027-03-31T23:59:59+05:30",
};

type Stage = "registered" | "verifying" | "verified" | "authorized";

/** A sandbox firm of this key's desk, brought to a state through the front door. */
export async function firmThatIs(
  service: Service,
  key: string,
  stage: Stage,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<Answer["body"]> {
  const { send, clock } = service;
  const { body: firm } = await send("POST", "/v1/firms", {
    key,
    body: firmBody(changes),
    expect: 201,
  });
  const path = `/v1/firms/${firm.firm_id}`;
  if (stage === "registered") return firm;
  const verifying = await send("POST", `${path}/verify`, { key, body: {}, expect: 200 });
  if (stage === "verifying") return verifying.body;
  clock.advance({ seconds: 1 });
  await service.work();
  if (stage === "authorized") {
    await send("POST", `${path}/authorize`, { key, body: { mandate }, expect: 200 });
  }
  return (await send("GET", path, { key, expect: 200 })).body;
}
