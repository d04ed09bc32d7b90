// The group of docs/NETTING.md goes on from where the page ends, until its credits have moved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addCredits, addFirm } from "./support/holdings.ts";
import { type Service, startService } from "./support/service.ts";

const rupees = (amount: number) => amount * 100;

const held = [
  { scripNo: "SAH-250001", firm: "frm_mill", facePaise: rupees(2_500_000) },
  { scripNo: "SAH-150002", firm: "frm_mill", facePaise: rupees(1_500_000) },
  { scripNo: "SAH-080003", firm: "frm_mill", facePaise: rupees(800_000) },
  { scripNo: "SAH-020004", firm: "frm_trader", facePaise: rupees(200_000) },
] as const;

const duty = {
  scheme: "RODTEP",
  amount_paise: rupees(4_205_000),
  due_on: "2027-01-31",
  reference: "BE-1",
};

async function furnish(service: Service) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const group = (
    await service.send("POST", "/v1/groups", { key, body: { name: "Sahyadri" }, expect: 201 })
  ).body.group_id;
  const firms = new Map<string, string>();
  for (const name of ["frm_mill", "frm_trader"]) {
    const firm = await addFirm(service, { deskId });
    firms.set(name, firm);
    const path = `/v1/groups/${group}/members/${firm}`;
    await service.send("PUT", path, { key, expect: 200 });
    service.clock.advance({ ms: 1 });
  }
  for (const { scripNo, firm, facePaise } of held) {
    const credit = { scheme: "RODTEP", expiresOn: "2028-09-30", state: "listed" } as const;
    const firmId = firms.get(firm) ?? "";
    const [made] = await addCredits(service, deskId, [{ ...credit, firmId, facePaise }]);
    const rename = "update credits set scrip_no = $1 where scrip_no = $2";
    await service.ctx.db.pool.query(rename, [scripNo, made]);
  }
  const path = `/v1/firms/${firms.get("frm_trader")}/requirements`;
  await service.send("POST", path, { key, body: duty, expect: 201 });
  return { key, group, firms };
}

test("a netting is funded, released and settled, and the duty is covered", async (t) => {
  const service = await startService(t);
  const { key, group } = await furnish(service);
  const path = `/v1/groups/${group}/netting`;
  const { netting_ref } = (await service.send("GET", path, { key, expect: 200 })).body;
  const { crosses } = (
    await service.send("POST", `${path}/crosses`, { key, body: { netting_ref }, expect: 201 })
  ).body;
  const cross = `/v1/cross/${crosses[0].cross_id}`;
  const read = await service.send("GET", cross, { key, expect: 200 });
  assert.equal(read.body.netting_ref, netting_ref);
  const fund = { payment_ref: "UTR-NETTING-1" };
  await service.send("POST", `${cross}/fund`, { key, body: fund, expect: 200 });
  for (let turns = 0; turns < 20; turns++) {
    service.clock.advance({ seconds: 2 });
    await service.work();
    const { body } = await service.send("GET", cross, { key, expect: 200 });
    if (body.status === "funded") await service.send("POST", `${cross}/release`, { key, body: {} });
    if (body.status === "settled") break;
    const { schemes, proposals } = (await service.send("GET", path, { key, expect: 200 })).body;
    assert.equal(schemes[0].internal_match_paise, rupees(4_200_000), `while ${body.status}`);
    assert.deepEqual(proposals, []);
  }
  const { body } = await service.send("GET", cross, { key, expect: 200 });
  assert.equal(body.status, "settled");
  const after = (await service.send("GET", path, { key, expect: 200 })).body;
  assert.equal(after.schemes[0].internal_match_paise, rupees(4_200_000));
  assert.deepEqual(after.proposals, []);
});
