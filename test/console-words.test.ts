// The console speaks as the trade does: what people misread is not said again.

import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "../web/console");

/** What is said, and what it was misread as. */
const plain = {
  "All done": ["Nothing waits for anybody"],
  Invite: ["Let a person in"],
  Disable: ["Shut out"],
  "Answer saved": ["Your answer counts"],
  "Mandate reference": ["Where the mandate is found"],
  "Minimum resting order": ["Least that rests"],
  "Maximum quote size": ["Largest amount", "That is priced"],
  "Due now": ["What the files of this moment would hold"],
  "Paid together with": ["Leaves with"],
  "Mark as paid": ["Money came"],
  "Cancel, unpaid": ["Money will not come"],
  Holidays: ["Days that differ from the week"],
  Opening: ["Began with"],
  Closing: ["Ended with"],
  Dues: ["Owes"],
  Outcome: ["What came of it"],
  Actions: ['head: "Acts"'],
  "Notified of": ["Is told when"],
  "Scheduled jobs": ["By itself"],
  "Portal reference": ["What the portal gave for it"],
  "Possible duplicate of": ["Perhaps the same as"],
  "Mark as duplicate": ["Same as before"],
  "To review": ["For a person"],
  "Not checked yet": ["were not asked yet"],
  "No orders found": ["There are no orders like that"],
};

test("the console says what the trade says", async () => {
  const pages = await Array.fromAsync(glob("*.js", { cwd: folder }));
  const said = (
    await Promise.all(pages.map((page) => readFile(join(folder, page), "utf8")))
  ).join();
  for (const [words, former] of Object.entries(plain)) {
    assert.ok(said.includes(words), `${words} is said`);
    assert.deepEqual(
      former.filter((misread) => said.includes(misread)),
      [],
      words,
    );
  }
});
