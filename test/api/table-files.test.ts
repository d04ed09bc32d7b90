import assert from "node:assert/strict";
import { test } from "node:test";

import { archiveMonth } from "../../src/reports/month-end.ts";
import { dealer } from "../support/orders.ts";
import { letterhead, type Service, startService } from "../support/service.ts";
import { readXlsx, showTime, type Xlsx } from "../support/xlsx.ts";
import { addCredit, letSettle, makeDeal, openTestDesk } from "../support/settlements.ts";

const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

type File = { readonly headers: Headers; readonly bytes: Buffer; readonly status: number };

async function fetchFile(
  { url }: Service,
  path: string,
  { key, accept = "*/*" }: { readonly key: string; readonly accept?: string },
): Promise<File> {
  const answer = await fetch(`${url}${path}`, { headers: { "x-service-key": key, accept } });
  const { headers, status } = answer;
  return { headers, status, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function fetchXlsx(service: Service, path: string, key: string): Promise<Xlsx> {
  const { headers, bytes } = await fetchFile(service, path, { key });
  assert.equal(headers.get("content-type"), xlsx);
  assert.match(headers.get("content-disposition") ?? "", /^attachment; filename="[\w-]+\.xlsx"$/);
  const book = readXlsx(bytes);
  assert.ok(book.frozen);
  return book;
}

/** The times of a row are dates, its amounts numbers of rupees, and everything else text. */
function assertKinds(book: Xlsx): void {
  assert.ok(book.rows.length > 0);
  for (const row of book.rows) {
    for (const [name, cell] of Object.entries(row)) {
      assert.ok(!cell.formula);
      const isTime = /_at$|^at$|_until$|^as_of$/.test(name);
      const isNumber = isTime || /_rupees$|_percent$|^count$|^line_no$/.test(name);
      assert.equal(cell.kind, isNumber ? "n" : "inlineStr", name);
      if (isTime) assert.match(showTime(cell), /^2026-1[12]-\d\dT/, name);
    }
  }
}

test("orders, settlements, payouts, positions and statements are files for spreadsheets", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer, legs: [{ seller, scripNo }] });
  await letSettle(service, 5);
  const { key } = seller;

  await t.test("settlements have a row for each credit", async () => {
    const { body } = await service.send("GET", "/v1/settlements", { key, expect: 200 });
    const [settlement] = body.settlements;
    const [leg] = settlement.sides[0].legs;
    const book = await fetchXlsx(service, "/v1/settlements?format=xlsx", key);
    assertKinds(book);
    assert.equal(book.rows.length, 1);
    const [row] = book.rows;
    assert.ok(row?.["created_at"]);
    assert.equal(row["settlement_id"]?.value, settlementId);
    assert.equal(row["scrip_no"]?.value, scripNo);
    assert.equal(row["face_rupees"]?.value, (leg.face_paise / 100).toFixed(2));
    assert.equal(row["price_percent"]?.value, (leg.price_bps / 100).toFixed(2));
    assert.equal(`${showTime(row["created_at"])}+05:30`, settlement.created_at);
    const csv = await fetchFile(service, "/v1/settlements?format=csv", { key });
    const [heading = "", line = ""] = csv.bytes.toString().split("\r\n");
    assert.match(heading, /^settlement_id,cross_id,scheme,side,/);
    assert.ok(line.includes(`,${settlement.created_at},`));
  });

  await t.test("payouts name their credits and the bank's reference", async () => {
    const book = await fetchXlsx(service, "/v1/payouts?format=xlsx", key);
    assertKinds(book);
    const { body } = await service.send("GET", "/v1/payouts", { key, expect: 200 });
    assert.equal(book.rows[0]?.["utr"]?.value, body.payouts[0].utr);
    assert.equal(book.rows[0]?.["scrip_nos"]?.value, scripNo);
    const rupees = (body.payouts[0].amount_paise / 100).toFixed(2);
    assert.equal(book.rows[0]?.["amount_rupees"]?.value, rupees);
  });

  await t.test("positions have a row for each scheme and one for cash", async () => {
    await addCredit(service, seller);
    const book = await fetchXlsx(service, "/v1/positions?format=xlsx", key);
    assertKinds(book);
    assert.deepEqual(
      book.rows.map((row) => row["what"]?.value),
      ["credits", "cash"],
    );
    const { body } = await service.send("GET", "/v1/positions", { key, expect: 200 });
    const held = (body.schemes[0].held_paise / 100).toFixed(2);
    assert.equal(book.rows[0]?.["held_rupees"]?.value, held);
  });

  await t.test("a statement runs from its opening to its closing balance", async () => {
    const path = `/v1/statements/2026-11?firm_id=${seller.firmId}`;
    const book = await fetchXlsx(service, `${path}&format=xlsx`, key);
    assertKinds(book);
    assert.match(book.title, /^Statement of account, .+, November 2026$/);
    const { body } = await service.send("GET", path, { key, expect: 200 });
    const kinds = book.rows.map((row) => row["kind"]?.value);
    const lines = body.lines.map((line: { kind: string }) => line.kind);
    assert.deepEqual(kinds, ["opening", ...lines, "closing"]);
    const part = await fetchXlsx(service, `${path}&format=xlsx&after_line=0&limit=1`, key);
    assert.deepEqual(
      part.rows.map((row) => row["kind"]?.value),
      ["opening", lines[0]],
    );
  });

  await t.test("the month's register and invoices are in the archive", async () => {
    service.clock.set(new Date("2026-12-01T03:00:00+05:30"));
    await service.work();
    const pieces: Buffer[] = [];
    const month = { environment: "sandbox", period: "2026-11", letterhead } as const;
    const formats = ["xlsx"] as const;
    for await (const piece of archiveMonth(service.ctx, { ...month, formats })) pieces.push(piece);
    const files = readTar(Buffer.concat(pieces));
    assert.ok(files.has("register.csv"));
    assert.ok(files.has("fee-invoices.xlsx"));
    const register = readXlsx(files.get("register.xlsx") ?? Buffer.alloc(0));
    assertKinds(register);
    assert.equal(register.title, "Register, November 2026");
    const own = register.rows.find((row) => row["firm_id"]?.value === seller.firmId);
    const file = own?.["files"]?.value ?? "";
    assert.match(file, /^statements\/2026-11-frm_\w+\.xlsx$/);
    assertKinds(readXlsx(files.get(file) ?? Buffer.alloc(0)));
  });
});

/** The files of an archive by their names. */
function readTar(bytes: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; bytes[at] !== 0 && at < bytes.length;) {
    const name = bytes.toString("latin1", at, at + 100).replace(/\0.*/s, "");
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    files.set(name, bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

test("a name that looks like a formula stays a name in CSV and in .xlsx", async (t) => {
  const service = await startService(t);
  const { key, post, scripNo } = await dealer(service);
  const client_ref = "=HYPERLINK(1+1)";
  await post("/v1/orders", { side: "sell", scrip_no: scripNo, client_ref }, 201);
  const book = await fetchXlsx(service, "/v1/orders?format=xlsx", key);
  assertKinds(book);
  assert.equal(book.rows[0]?.["client_ref"]?.value, client_ref);
  assert.ok(book.rows[0]?.["client_ref"]?.guarded);
  const csv = await fetchFile(service, "/v1/orders?format=csv", { key });
  assert.ok(csv.bytes.toString().includes(`,'${client_ref},`));
});

test("a formula behind a separator inside a name is harmless in CSV, and the name is whole in .xlsx", async (t) => {
  const service = await startService(t);
  const { key, post, scripNo } = await dealer(service);
  const client_ref = "Acme;=cmd|'/c calc'!A0";
  await post("/v1/orders", { side: "sell", scrip_no: scripNo, client_ref }, 201);
  const csv = await fetchFile(service, "/v1/orders?format=csv", { key });
  const cells = csv.bytes.toString().split(/[,;|\t\r\n]/);
  assert.ok(cells.includes("'=cmd"));
  assert.ok(!cells.some((cell) => cell.startsWith("=")));
  const book = await fetchXlsx(service, "/v1/orders?format=xlsx", key);
  assert.equal(book.rows[0]?.["client_ref"]?.value, client_ref);
});

test("pages of a list are files that say where they go on, and keep their filters", async (t) => {
  const service = await startService(t);
  const { key, post, scripNos } = await dealer(service, [{}, {}, {}]);
  for (const scrip_no of scripNos) await post("/v1/orders", { side: "sell", scrip_no }, 201);
  const { body } = await service.send("GET", "/v1/orders", { key, expect: 200 });
  const ids = body.orders.map((order: { order_id: string }) => order.order_id);
  const read = async (query: string) => {
    const { headers, bytes } = await fetchFile(service, `/v1/orders?format=csv${query}`, { key });
    const [, ...lines] = bytes.toString().trim().split("\r\n");
    const found = lines.map((line) => line.split(",")[0]);
    return {
      ids: found,
      truncated: headers.get("x-truncated"),
      next: headers.get("x-next-cursor"),
    };
  };
  const first = await read("&limit=2");
  assert.deepEqual([first.ids, first.truncated], [ids.slice(0, 2), "true"]);
  const second = await read(`&limit=2&cursor=${first.next}`);
  assert.deepEqual(second, { ids: ids.slice(2), truncated: null, next: null });
  assert.deepEqual(await read(""), { ids, truncated: null, next: null });
  // A cursor belongs to a list and its filters, not to a format.
  const path = `/v1/orders?limit=2&cursor=${first.next}`;
  await service.send("GET", path, { key, expect: 200 });
  await service.send("GET", `${path}&side=buy&format=xlsx`, { key, expect: 400 });
  const none = await fetchXlsx(service, "/v1/orders?format=xlsx&side=buy", key);
  assert.deepEqual(none.rows, []);
});

test("Accept chooses the format where the query does not, and Vary says so", async (t) => {
  const service = await startService(t);
  const { key } = await dealer(service);
  const month = "/v1/statements/2026-11";
  const asked = async (path: string, accept: string) => {
    const { headers, status } = await fetchFile(service, path, { key, accept });
    assert.equal(headers.get("vary"), "Accept");
    return [status, headers.get("content-type")?.split(";")[0]];
  };
  assert.deepEqual(await asked(month, "application/pdf"), [200, "application/pdf"]);
  assert.deepEqual(await asked(month, "text/csv"), [200, "text/csv"]);
  assert.deepEqual(await asked(month, `text/csv;q=0.3, ${xlsx};q=0.4`), [200, xlsx]);
  assert.deepEqual(await asked(month, "*/*"), [200, "application/json"]);
  assert.deepEqual(await asked(month, "image/png"), [200, "application/json"]);
  const explicit = `${month}?format=json`;
  assert.deepEqual(await asked(explicit, "application/pdf"), [200, "application/json"]);
  assert.deepEqual(await asked(`${month}?format=csv`, xlsx), [200, "text/csv"]);
  assert.deepEqual(await asked("/v1/orders", xlsx), [200, xlsx]);
  assert.deepEqual(await asked("/v1/settlements", "text/csv"), [200, "text/csv"]);
  assert.deepEqual(await asked("/v1/payouts", "text/csv"), [200, "text/csv"]);
  assert.deepEqual(await asked("/v1/positions", xlsx), [200, xlsx]);
  // A format that this answer does not have, and errors, are JSON.
  assert.deepEqual(await asked("/v1/orders", "application/pdf"), [200, "application/json"]);
  assert.deepEqual(await asked("/v1/statements/2020-01", "text/csv"), [404, "application/json"]);
  assert.deepEqual(await asked(`${month}?format=doc`, "text/csv"), [400, "application/json"]);
});
