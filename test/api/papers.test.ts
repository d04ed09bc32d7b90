import assert from "node:assert/strict";
import { test } from "node:test";

import { getDocumentProxy } from "unpdf";

import { addFirm } from "../support/holdings.ts";
import { payIn } from "../support/ledger.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { addPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
} from "../support/settlements.ts";

type Node = { readonly role?: string; readonly children?: readonly Node[] };

async function readPaper({ url }: Service, path: string, key: string) {
  const answer = await fetch(`${url}${path}`, { headers: { "x-service-key": key } });
  assert.equal(answer.headers.get("content-type"), "application/pdf");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const fonts = [
    ...Buffer.from(bytes)
      .toString("latin1")
      .matchAll(/\/BaseFont \/\w+\+([\w-]+)/g),
  ];
  const pdf = await getDocumentProxy(bytes);
  const { info } = await pdf.getMetadata();
  const page = await pdf.getPage(1);
  const roles = new Set<string>();
  const visit = ({ role, children = [] }: Node): void => {
    if (role !== undefined) roles.add(role);
    children.forEach(visit);
  };
  visit((await page.getStructTree()) as Node);
  const preferences = await pdf.getViewerPreferences();
  return {
    title: (info as Readonly<Record<string, unknown>>)["Title"],
    language: (info as Readonly<Record<string, unknown>>)["Language"],
    showsTitle: (preferences as Readonly<Record<string, unknown>> | null)?.["DisplayDocTitle"],
    fonts: new Set(fonts.map(([, name = ""]) => name)),
    roles,
  };
}

test("papers are titled by their subject, tagged, and set in the script of a name", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const name = "श्री कृष्ण निर्यात Pvt Ltd";
  const { deskId } = desk;
  const seller = { ...desk, firmId: await addFirm(service, { deskId, legalName: name }) };
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer, legs: [{ seller, scripNo }] });
  await letSettle(service, 5);

  const month = `/v1/statements/2026-11?firm_id=${seller.firmId}&format=pdf`;
  const statement = await readPaper(service, month, seller.key);
  assert.equal(statement.title, `Statement of account, ${name}, November 2026`);
  const path = `/v1/settlements/${settlementId}/contract-note?format=pdf`;
  const note = await readPaper(service, path, seller.key);
  assert.match(String(note.title), new RegExp(`^Contract note, ${name}, CN-\\w+-S1$`));
  for (const { language, showsTitle, fonts, roles } of [statement, note]) {
    assert.equal(language, "en-IN");
    assert.equal(showsTitle, true);
    assert.ok(fonts.has("NotoSansDevanagari-SemiBold"), [...fonts].join());
    for (const role of ["Document", "Sect", "H1", "P", "Table", "TR", "TH", "TD"]) {
      assert.ok(roles.has(role), `${role} is not among ${[...roles].join()}`);
    }
  }
  const other = await readPaper(service, `/v1/statements/2026-11?format=pdf`, buyer.key);
  assert.deepEqual(
    [...other.fonts].filter((font) => font.startsWith("Noto")),
    [],
    "a paper without such names carries no such font",
  );
});

test("an operator reads the papers of a firm by its deals, and nothing of another firm in them", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await asha.signIn()).token);
  const read = async (path: string, expect = 200) =>
    (await send("GET", path, { headers, expect })).body;
  const desk = await openTestDesk(service);
  const { deskId } = desk;
  const buyer = await openTestDesk(service);
  await payIn(service, buyer.firmId, 10 * buyerPaise);
  const one = { ...desk, firmId: await addFirm(service, { deskId, legalName: "Konkan Exports" }) };
  const other = {
    ...desk,
    firmId: await addFirm(service, { deskId, legalName: "Malabar Spices" }),
  };
  const legs = [];
  for (const seller of [one, other]) {
    legs.push({ seller, scripNo: await addCredit(service, seller) });
  }
  const between = await makeDeal(service, { buyer, legs });
  await letSettle(service, 5);
  service.clock.advance({ seconds: 1 });
  const stock = [{ seller: house(), scripNo: await addCredit(service, house()) }];
  const fromHouse = await makeDeal(service, { buyer, legs: stock });
  const [early] = (await read(`/ops/firms/${buyer.firmId}/papers`)).papers;
  assert.deepEqual([early.settlement_id, early.bills], [fromHouse, []]);
  await letSettle(service, 5);

  const ofDesk = async (paper: string, of: string, { key }: { readonly key: string }) =>
    (await service.send("GET", `/v1/settlements/${of}/${paper}`, { key, expect: 200 })).body;
  const [note, otherNote] = (await ofDesk("contract-note", between, desk)).notes;
  const [bill] = (await ofDesk("bill-of-supply", between, desk)).bills;
  const [row, ...none] = (await read(`/ops/firms/${note.firm_id}/papers`)).papers;
  assert.deepEqual(none, []);
  assert.deepEqual(
    [row.settlement_id, row.side, row.status, row.note_no, row.all_in_paise, row.face_paise],
    [between, "sell", "settled", note.note_no, note.all_in_paise, note.face_paise],
  );
  const draft = { kind: "bill_of_supply", number: null, date: bill.date };
  assert.deepEqual(row.bills, [{ ...draft, total_paise: bill.total_paise }]);
  const ofBuyer = await read(`/ops/firms/${buyer.firmId}/papers?limit=1`);
  assert.deepEqual(
    [ofBuyer.papers[0].settlement_id, ofBuyer.papers[0].bills[0].number],
    [fromHouse, "B/2026-27/000001"],
  );
  const next = await read(
    `/ops/firms/${buyer.firmId}/papers?limit=1&cursor=${ofBuyer.next_cursor}`,
  );
  assert.deepEqual([next.papers[0].bills.length, next.next_cursor], [2, null]);
  for (const [span, deals] of [
    ["from=2026-11-01&to=2026-11-30", 2],
    ["from=2025-04-01&to=2026-03-31", 0],
  ] as const) {
    const { papers } = await read(`/ops/firms/${buyer.firmId}/papers?${span}`);
    assert.equal(papers.length, deals, span);
  }

  const readText = async (paper: string, settlementId: string, firmId: string) => {
    const path = `/ops/firms/${firmId}/papers/${settlementId}/file?paper=${paper}`;
    const { name, content } = await read(path);
    const pages = await parsePdfPages(new Uint8Array(Buffer.from(content, "base64")));
    return `${name} ${pages.map(({ text }) => text).join(" ")}`;
  };
  const noteText = await readText("contract_note", between, note.firm_id);
  assert.match(noteText, new RegExp(`^contract-note-${between}\\.pdf.*${note.note_no}`));
  assert.ok(!noteText.includes(otherNote.note_no), "the desk's other firm has a note of its own");
  assert.match(await readText("bill_of_supply", fromHouse, buyer.firmId), /B\/2026-27\/000001/);
  const ofNobody = `/ops/firms/${one.firmId}/papers/${fromHouse}/file?paper=contract_note`;
  await read(ofNobody, 404);
  await read("/ops/firms/frm_none/papers", 404);
});
