// Groups whose netting takes nothing, and one whose netting takes seconds.

import { addCredits, addFirm } from "./holdings.ts";
import type { Service } from "./service.ts";

export async function openGroup(service: Service, environment: "live" | "sandbox") {
  const { api_key: key, firm_id: deskId } = await service.issue({ environment });
  const made = await service.send("POST", "/v1/groups", { key, body: { name: "G" }, expect: 201 });
  return { key, deskId, path: `/v1/groups/${made.body.group_id}` };
}

/** Faces without a common unit, and many duties that none of them meets: seconds of searching. */
export async function openLargeGroup(service: Service) {
  const group = await openGroup(service, "sandbox");
  const { key, deskId } = group;
  const firmId = await addFirm(service, { deskId });
  await service.send("PUT", `${group.path}/members/${firmId}`, { key, expect: 200 });
  const credits = Array.from({ length: 600 }, (_, at) => ({
    firmId,
    scheme: "RODTEP" as const,
    facePaise: 1_000_003 + 7_919 * at,
    expiresOn: "2028-09-30",
    state: "listed",
  }));
  await addCredits(service, deskId, credits);
  for (let duty = 0; duty < 60; duty++) {
    const body = {
      scheme: "RODTEP",
      amount_paise: 20_000_011 + 977 * duty,
      due_on: "2027-01-31",
      reference: `BE-${duty}`,
    };
    await service.send("POST", `/v1/firms/${firmId}/requirements`, { key, body, expect: 201 });
  }
  return group;
}
