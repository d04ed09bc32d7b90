import assert from "node:assert/strict";
import { test } from "node:test";

import { getDocumentProxy } from "unpdf";

import { addFirm } from "../support/holdings.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, letSettle, makeDeal, openTestDesk } from "../support/settlements.ts";

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
