import assert from "node:assert/strict";
import { test } from "node:test";

import { pagesOf } from "../../test/support/pdf.ts";
import { NobodyWaits } from "./heavy/kinds.ts";
import { drawPapers, type Paper } from "./pdf.ts";

const dated = new Date("2026-11-15T09:15:00Z");
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
  const once = await drawPapers([paper(3)], dated);
  assert.deepEqual(await drawPapers([paper(3)], dated), once);
  assert.notDeepEqual(await drawPapers([paper(3)], new Date(dated.getTime() + 1_000)), once);
});

test("a long table continues over numbered pages that repeat its head", async () => {
  const pages = await pagesOf(await drawPapers([paper(100)], dated));
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
  await assert.rejects(drawPapers([paper(1_000)], dated, stop), NobodyWaits);
  assert.equal(looks, 4);
});

test("text of a complex script is shaped", async () => {
  const [page] = await pagesOf(await drawPapers([paper(1, "Ünal Ş. e\u0301lan")], dated));
  assert.ok(page?.text.includes("Ünal"));
});

test("each document begins on a new page", async () => {
  const pages = await pagesOf(await drawPapers([paper(1), paper(1, "Another House")], dated));
  assert.equal(pages.length, 2);
  assert.ok(pages[1]?.text.includes("Another House"));
});

test("no text is drawn past the edge of the page, at any length", async () => {
  const [page] = await pagesOf(await drawPapers([paper(2, "W".repeat(200))], dated));
  assert.ok(page);
  for (const { str, transform, width } of page.drawn) {
    const left = transform[4] ?? 0;
    assert.ok(left >= 39 && left + width <= page.width - 39, `${str} at ${left}, ${width} wide`);
  }
  const shown = page.drawn.map(({ str }) => str).join("");
  // In the letterhead, in the facts and in the footer; the head of the table has one more.
  assert.equal(shown.split("W").length - 1, 3 * 200 + 1);
});
