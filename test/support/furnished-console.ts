// A service with something on every page of the console.

import type { TestContext } from "node:test";

import { crores, crossThatIs } from "./crosses.ts";
import { payIn } from "./ledger.ts";
import { addNotice } from "./mail.ts";
import { asBearer, type OpsService } from "./ops.ts";
import { dealer } from "./orders.ts";
import { settleLiveSale, type TestPerson } from "./people.ts";
import { openLiveMarket } from "./public.ts";
import { addDeadLetters, registerWebhook, startReceiver } from "./receivers.ts";
import type { Service } from "./service.ts";
import { addCredit, buyerPaise, makeDeal, openTestDesk } from "./settlements.ts";

/** Returns the addresses of pages about one thing. */
export async function furnishConsole(
  t: Pick<TestContext, "after">,
  service: Service,
  { send }: OpsService,
  person: TestPerson,
): Promise<string[]> {
  const headers = asBearer((await person.signIn()).token);
  const post = async (path: string, body: object) =>
    (await send("POST", path, { headers, body, expect: 200 })).body;
  const environment = "live";
  await openLiveMarket(service);
  const filed = await settleLiveSale(service, 24_300_000);
  const file = (await post("/ops/payout-files", { environment })).payout_files[0];
  const due = await settleLiveSale(service, 24_400_000);
  await settleLiveSale(service, 26_500_000);
  const seller = await openTestDesk(service, environment);
  const buyer = await openTestDesk(service, environment);
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  await payIn(service, buyer.firmId, buyerPaise, environment);
  const settlementId = await makeDeal(service, { environment, buyer, legs });
  const parties = {
    seller: await dealer(service, crores(1), { environment }),
    buyer: await dealer(service, [], { environment }),
  };
  const client = await dealer(service, [{}, {}], { environment });
  const [first = "", second = ""] = client.scripNos;
  const used = await addCredit(service, seller);
  const bill = { bill_of_entry: "7781234", used_on: "2026-11-14", port: "INNSA1" };
  const usePath = `/v1/credits/${encodeURIComponent(used)}/use`;
  const part = { key: seller.key, body: { ...bill, amount_paise: 2_500_000 }, expect: 200 };
  const { credit_id } = (await service.send("POST", usePath, part)).body;
  const quote = await client.post("/v1/quote", { side: "sell", scrip_no: first }, 200);
  await client.post("/v1/orders", { quote_ref: quote.body.quote_ref }, 201);
  const resting = { side: "sell", scrip_no: second, limit_bps: 9_840 };
  await client.post("/v1/orders", resting, 201);
  const { cross_id } = await crossThatIs(parties, "agreed");
  await post("/ops/rates", { environment, scheme: "RODTEP", terms: { mid_bps: 9_500 } });
  const bankLines = [
    "date,reference,description,debit,credit,balance,remitter_name,remitter_account",
    "15/11/2026,HDFCR52026111500071,NEFT FROM A STRANGER,,100.00,100.00,A Stranger,99",
    "15/11/2026,HDFCR52026111500072,RTGS ADVANCE FOR NOVEMBER,,200000.00,200100.00,Bharat Imports Limited,50200011110002",
  ];
  const content_base64 = Buffer.from(`${bankLines.join("\n")}\n`).toString("base64");
  const { statement_id, results } = await post("/ops/bank/statements", { content_base64 });
  const csv =
    "Scrip No,Scrip Amount,Transferor IEC,Transferee IEC,Status,Initiated On,Accepted On\n" +
    "STRANGE/1,1000.00,AAPFU0939F,AAACB1234C,Pending,15/11/2026,\n";
  await post("/ops/ledger-reports", { csv, as_of: service.ctx.now().toISOString() });
  await post(`/ops/firms/${due.seller.firmId}/verify`, {}).catch(() => undefined);
  const enquiry = await service.send("POST", "/public/enquiry/contact", {
    body: {
      name: "Asha Rao",
      email: "asha@acme.example",
      message: "What would ₹25 lakh of RoDTEP bring next week?",
      consent: true,
    },
    expect: 201,
  });
  const subscriber = await service.issue();
  const receiver = await startReceiver(t);
  const webhook = await registerWebhook(service, subscriber.api_key, receiver.url);
  await addDeadLetters(service, webhook.webhook_id);
  // Reading its own calls has them written.
  await service.send("GET", "/v1/orders/ord_none", { key: seller.key, expect: 404 });
  await service.send("GET", "/v1/requests", { key: seller.key, expect: 200 });
  const form = { prefix: "SCRP", length: 16, alphabet: "digits", ifsc: "HDFC0000001" };
  await post("/ops/house/virtual-accounts", { environment, ...form });
  const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
  await post("/ops/taxes/gst", { environment, from: "2027-04-01", ...gst });
  const address = { email: "accounts@acme.example", desk_id: due.seller.deskId };
  const { address_id } = await post("/ops/notice-addresses", address);
  await post("/ops/notice-addresses", { email: "asha@house.example", person: person.name });
  await addNotice(service, address_id);
  await service.work();
  const { approvals } = (await send("GET", "/ops/approvals", { headers, expect: 200 })).body;
  const { orders } = (await send("GET", "/ops/orders", { headers, expect: 200 })).body;
  return [
    `/settlements/${settlementId}`,
    `/payouts/${filed.payoutId}`,
    `/files/${file.file_id}`,
    `/bank-statements/${statement_id}`,
    `/bank-lines/${results[1].line_id}`,
    `/crosses/${cross_id}`,
    `/approvals/${approvals[0].approval_id}`,
    `/firms/${seller.firmId}`,
    `/firms/${due.seller.deskId}`,
    `/enquiries/${enquiry.body.enquiry_ref}`,
    `/orders/${orders[0].order_id}`,
    `/credits/${credit_id}`,
  ];
}
