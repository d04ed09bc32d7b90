import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { parsePdfPages } from "../../test/support/pdf.ts";
import { NobodyWaits } from "./heavy/kinds.ts";
import { findScripts, loadFonts } from "./pdf-fonts.ts";
import { openTypefaces } from "./pdf-text.ts";
import { drawPapers, type Paper } from "./pdf.ts";

const dated = new Date("2026-11-15T09:15:00Z");
const later = new Date("2026-11-15T09:15:01Z");
const facts = { title: "A paper, The House", dated };
const columns = [
  { head: "What", width: 315.28 },
  { head: "How much ₹", width: 200, align: "right" },
] as const;

function paper(rows: number, name = "The House"): Paper {
  return {
    title: "A paper",
    subtitle: "No. 1",
    letterhead: { name, lines: ["12 Mint Road"] },
    sections: [
      { kind: "facts", columns: [[{ label: "Of", value: name }]] },
      {
        kind: "table",
        columns,
        rows: Array.from({ length: rows }, (_, at) => ({
          cells: [`Row ${at + 1}\nsmall ${at + 1}`, "9,00,71,99,25,47,409.91"],
        })),
      },
      { kind: "note", text: "The end." },
    ],
  };
}

test("the same document gives the same bytes, and another date gives others", async () => {
  const once = await drawPapers({ ...facts, papers: [paper(3)] });
  assert.deepEqual(await drawPapers({ ...facts, papers: [paper(3)] }), once);
  assert.notDeepEqual(await drawPapers({ ...facts, papers: [paper(3)], dated: later }), once);
});

test("a long table continues over numbered pages that repeat its head", async () => {
  const pages = await parsePdfPages(await drawPapers({ ...facts, papers: [paper(100)] }));
  assert.ok(pages.length > 2);
  pages.forEach(({ text }, at) => {
    assert.ok(text.includes(`Page ${at + 1} of ${pages.length}`), `page ${at + 1}`);
    assert.ok(text.includes("How much ₹"), `the head is missing on page ${at + 1}`);
  });
  const all = pages.map(({ text }) => text).join(" ");
  for (let row = 1; row <= 100; row++) assert.ok(all.includes(`small ${row} `), `row ${row}`);
  assert.ok(all.includes("The end."));
});

test("drawing stops when its caller is gone", async () => {
  let looks = 0;
  const stop = { isAsked: () => ++looks > 3 };
  await assert.rejects(drawPapers({ ...facts, papers: [paper(1_000)] }, stop), NobodyWaits);
  assert.equal(looks, 4);
});

test("text of a complex script is shaped", async () => {
  const [page] = await parsePdfPages(
    await drawPapers({ ...facts, papers: [paper(1, "Ünal Ş. e\u0301lan")] }),
  );
  assert.ok(page?.text.includes("Ünal"));
});

test("each document begins on a new page", async () => {
  const pages = await parsePdfPages(
    await drawPapers({ ...facts, papers: [paper(1), paper(1, "Another House")] }),
  );
  assert.equal(pages.length, 2);
  assert.ok(pages[1]?.text.includes("Another House"));
});

test("no text is drawn past the edge of the page, at any length", async () => {
  const [page] = await parsePdfPages(
    await drawPapers({ ...facts, papers: [paper(2, "W".repeat(200))] }),
  );
  assert.ok(page);
  for (const { str, transform, width } of page.drawn) {
    const left = transform[4] ?? 0;
    assert.ok(left >= 39 && left + width <= page.width - 39, `${str} at ${left}, ${width} wide`);
  }
  const shown = page.drawn.map(({ str }) => str).join("");
  // In the letterhead, in the facts and in the footer; the head of the table has one more.
  assert.equal(shown.split("W").length - 1, 3 * 200 + 1);
});

const names = {
  Devanagari: "श्री कृष्ण निर्यात प्राइवेट लिमिटेड",
  Bengali: "শ্রী কৃষ্ণ রপ্তানি প্রাইভেট লিমিটেড",
  Gujarati: "શ્રી કૃષ્ણ નિકાસ પ્રાઇવેટ લિમિટેડ",
  Gurmukhi: "ਸ਼੍ਰੀ ਕ੍ਰਿਸ਼ਨ ਨਿਰਯਾਤ ਪ੍ਰਾਈਵੇਟ ਲਿਮਿਟੇਡ",
  Kannada: "ಶ್ರೀ ಕೃಷ್ಣ ರಫ್ತು ಪ್ರೈವೇಟ್ ಲಿಮಿಟೆಡ್",
  Malayalam: "ശ്രീ കൃഷ്ണ കയറ്റുമതി പ്രൈവറ്റ് ലിമിറ്റഡ്",
  Oriya: "ଶ୍ରୀ କୃଷ୍ଣ ରପ୍ତାନି ପ୍ରାଇଭେଟ ଲିମିଟେଡ",
  Tamil: "ஸ்ரீ கிருஷ்ணா ஏற்றுமதி பிரைவேட் லிமிடெட்",
  Telugu: "శ్రీ కృష్ణ ఎగుమతి ప్రైవేట్ లిమిటెడ్",
};

test("names in nine Indian scripts are set in fonts of their own, beside Latin text", async () => {
  // One document for all of them: opening a font costs more than all else here.
  const papers = Object.values(names).map((name) => paper(1, `${name} Pvt Ltd`));
  const bytes = await drawPapers({ ...facts, papers });
  const file = bytes.toString("latin1");
  assert.match(file, /\/BaseFont \/\w+\+IBMPlexSans/);
  const pages = await parsePdfPages(bytes);
  for (const [at, script] of Object.keys(names).entries()) {
    assert.match(file, new RegExp(`/BaseFont /\\w+\\+NotoSans${script}-`), script);
    const page = pages[at];
    assert.ok(page);
    assert.ok(page.text.includes("Pvt Ltd"), script);
    for (const { transform, width } of page.drawn) {
      assert.ok((transform[4] ?? 0) + width <= page.width - 39, `${script} runs off the page`);
    }
  }
});

test("letters of Indian scripts are joined, and their marks placed", async () => {
  const { default: Writer } = await import("pdfkit");
  const fonts = await loadFonts(findScripts(Object.values(names)));
  const { regular } = openTypefaces(new Writer(), fonts);
  const joined = ["क्ष", "শ্র", "ક્ષ", "ಕ್ಷ", "ക്ഷ", "କ୍ଷ", "క్ష", "ਸ਼੍ਰ", "ஸ்ரீ"];
  for (const text of joined) {
    const letters = Array.from(text, (letter) => regular.width(letter));
    const apart = letters.reduce((sum, width) => sum + width, 0);
    assert.ok(regular.width(text) < apart, `${text} is set letter by letter`);
  }
  assert.ok(regular.lineHeight("क") > regular.lineHeight("k"));
});

test("no text in an Indian script costs the document", async () => {
  const letter = fc
    .integer({ min: 0x08_f0, max: 0x0d_90 })
    .map((code) => String.fromCodePoint(code));
  const joiner = fc.constantFrom("\u200c", "\u200d", "\u0964", " ", "a", "\u0301");
  const text = fc.string({
    unit: fc.oneof({ weight: 5, arbitrary: letter }, joiner),
    maxLength: 60,
  });
  // The names of a run share one document: opening its fonts costs more than all else here.
  const some = fc.array(text, { minLength: 30, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(some, async (written) => {
      const papers = written.map((name) => paper(1, name));
      await drawPapers({ ...facts, papers });
    }),
    { numRuns: 2 },
  );
});

test("a document is tagged: its tables have heads and cells, and decoration is none of it", async () => {
  const bytes = await drawPapers({ ...facts, papers: [paper(100)] });
  const roles = bytes.toString("latin1").matchAll(/\/S \/(\w+)/g);
  const counts = Object.groupBy(roles, ([, role = ""]) => role);
  assert.equal(counts["H1"]?.length, 1);
  assert.equal(counts["TH"]?.length, 2, "the head of a table is not read again on every page");
  assert.equal(counts["TD"]?.length, 200);
});
