import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeQR } from "qr/decode.js";

import { drawCode, printCode } from "./draw-code.ts";

const uri = "otpauth://totp/Scripdesk%3AAsha%20Rao?secret=GEZDGNBVGY3TQOJQ&issuer=Scripdesk";

/** What a camera sees of the path: four dots for the side of a module. */
function paint({ size, path }: ReturnType<typeof drawCode>) {
  const scale = 4;
  const side = size * scale;
  const data = new Uint8Array(side * side * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
      const from = (row * side + Number(x) * scale) * 4;
      for (let dot = 0; dot < Number(length) * scale; dot++)
        data.fill(0, from + dot * 4, from + dot * 4 + 3);
    }
  }
  return { width: side, height: side, data };
}

test("what is drawn reads as what was meant, with a quiet edge around it", () => {
  const drawn = drawCode(uri);
  assert.equal(decodeQR(paint(drawn)), uri);
  const xs = [...drawn.path.matchAll(/M(\d+) (\d+)/g)].flatMap(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  assert.equal(Math.min(...xs), 4);
});

test("a terminal shows two rows of modules in a line", () => {
  const lines = printCode(uri).split("\n");
  assert.ok(lines.length > 18 && lines.length < 30, `${lines.length} lines`);
  assert.match(lines[5] ?? "", /^[ ▀▄█]+$/);
});
