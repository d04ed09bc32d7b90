import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { assertLedgerSound } from "../support/ledger.ts";
import { startService } from "../support/service.ts";
import { addCredit, house, letSettle, makeDeal, openTestDesk } from "../support/settlements.ts";

test("smoke", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  let id = "";
  for (let n = 0; n < 14; n++) {
    const scripNo = await addCredit(service, seller);
    const two = await addCredit(service, seller);
    id = await makeDeal(service, {
      buyer: n % 2 ? buyer : house(),
      legs: [
        { seller, scripNo },
        { seller, scripNo: two },
      ],
    });
    await letSettle(service, 3);
  }
  await assertLedgerSound(service);
  const get = async (path: string, key = seller.key) => {
    const r = await fetch(service.url + path, { headers: { "x-service-key": key } });
    return r;
  };
  console.log(await (await get(`/v1/statements?firm_id=${seller.firmId}`)).text());
  console.log(
    (await (await get(`/v1/statements/2026-11?firm_id=${seller.firmId}`)).text()).slice(0, 3000),
  );
  console.log(
    (await (await get(`/v1/statements/2026-11?firm_id=${seller.firmId}&format=csv`)).text()).slice(
      0,
      800,
    ),
  );
  console.log(await (await get(`/v1/statements/2026-11`)).text());
  console.log(await (await get(`/v1/earnings?by=firm`)).text());
  console.log(await (await get(`/v1/earnings`)).text());
  console.log(await (await get(`/v1/settlements/${id}/contract-note`)).text());
  for (const [name, path, key] of [
    ["st", `/v1/statements/2026-11?firm_id=${seller.firmId}&format=pdf`, seller.key],
    ["stb", `/v1/statements/2026-11?firm_id=${buyer.firmId}&format=pdf`, buyer.key],
    ["cn", `/v1/settlements/${id}/contract-note?format=pdf`, seller.key],
    ["cnb", `/v1/settlements/${id}/contract-note?format=pdf`, buyer.key],
  ]) {
    const r = await get(path ?? "", key);
    console.log(
      name,
      r.status,
      r.headers.get("content-type"),
      r.headers.get("content-disposition"),
    );
    writeFileSync(`/tmp/st-out-${name}.pdf`, Buffer.from(await r.arrayBuffer()));
  }
});
