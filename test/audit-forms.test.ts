// One file with records of all three forms, which follow each other in every order, against both
// verifiers: whole, and after everything that somebody might do to it.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

import {
  blockForm,
  buildSigningKey,
  formerForm,
  genesisHash,
  hashPart,
  headerPart,
  linkAfter,
  recordForm,
  startOfChain,
  writeCheckpoint,
  writeLine,
  writeRecord,
} from "../src/journal/audit-rules.ts";
import { verifyExport } from "../src/journal/verify-export.ts";
import { standAloneVerifier } from "./support/audit.ts";

const key = buildSigningKey(randomBytes(32));
const at_text = "2026-11-15T14:45:00.000000+05:30";
const [here, elsewhere] = ["frm_0000000000000000000000000a", "frm_0000000000000000000000000b"];
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Records of form 1 or 2, or the size of a block of form 3. */
type Form = "former" | "record" | { readonly records: number };

/** The parts of a desk's export in their order: a line, or the lines of a block. */
function writeChain(desk_id: string, forms: readonly Form[]): string[][] {
  const desk = { environment: "live", desk_id } as const;
  let last = startOfChain;
  let events = 0;
  const parts = forms.map((form) => {
    if (form === "former" || form === "record") {
      const text = writeRecord({ ...nobody, record_id: `aud_${last.seq}`, at_text });
      const told =
        form === "former"
          ? { form: formerForm, event_hash: null }
          : { form: recordForm, event_hash: sha256("told") };
      const link = { ...desk, ...told, text };
      const before = last;
      last = linkAfter(last, link);
      return [writeLine(link, before, last.hash)];
    }
    const content = Array.from({ length: form.records }, (_, place) => {
      const digest = place % 2 === 0 ? "event_hash" : "after_hash";
      return `{"record_id":"aud_${last.seq + place}","actor_id":"आशा","${digest}":"${sha256(`${desk_id} ${last.seq + place}`)}"}\n`;
    });
    const told = Math.ceil(form.records / 2);
    const header = {
      ...desk,
      first_seq: last.seq + 1,
      last_seq: last.seq + form.records,
      first_sequence: events + 1,
      last_sequence: events + told,
      at_text,
      content_hash: sha256(content.join("")),
    };
    const part = headerPart(header, last.hash);
    last = { seq: header.last_seq, hash: hashPart(part) };
    events += told;
    return [`${part},"hash":"${last.hash}"}\n`, ...content];
  });
  const whole = { count: last.seq, first_seq: 1, last_seq: last.seq, prev_hash: genesisHash };
  const checkpoint = { ...desk, ...whole, head_hash: last.hash, at: "2026-11-15T14:45:00+05:30" };
  return [...parts, [writeCheckpoint(checkpoint, key)]];
}

const nobody = {
  actor_kind: "operator",
  actor_id: "आशा",
  request_id: null,
  action: "test.change",
  entity_type: "thing",
  entity_id: "thing",
  entity_version: 1,
  before_hash: null,
  after_hash: null,
} as const;

const three = { records: 3 };
const forms: readonly Form[] = [
  ...(["former", "former", "record", "record"] as const),
  three,
  three,
  { records: 1 },
  "record",
  three,
];
const join = (parts: readonly (readonly string[])[]) => parts.flat().join("");

test("both verifiers read the three forms in one file, and find what was done to it", async (t) => {
  const alone = await standAloneVerifier();
  async function judge(text: string | Buffer): Promise<[string | undefined, string | undefined]> {
    const bytes = Buffer.from(text);
    const { first_break: found } = await verifyExport(
      (async function* () {
        yield bytes;
      })(),
    );
    return [found?.problem, await alone(bytes)];
  }
  async function assertFound(text: string | Buffer, what: string): Promise<void> {
    const [command, published] = await judge(text);
    assert.ok(command, `the command line misses ${what}`);
    assert.ok(published, `the published verifier misses ${what}`);
  }

  const parts = writeChain(here, forms);
  const [, , , , block = [], next = [], single = []] = parts;
  const others = writeChain(elsewhere, forms);
  /** The export with one of its parts changed. */
  const having = (at: number, part: readonly string[]) => join(parts.with(at, [...part]));

  await t.test("the control is whole", async () => {
    assert.deepEqual(await judge(join(parts)), [undefined, undefined]);
    assert.deepEqual(await judge(join(writeChain(here, []))), [undefined, undefined]);
    assert.deepEqual(await judge(join(writeChain(here, [three]))), [undefined, undefined]);
  });

  const header = block[0] ?? "";
  const swapped = (text: string, from: string | RegExp, to: string) => {
    const changed = text.replace(from, to);
    assert.notEqual(changed, text);
    return changed;
  };
  const thefts: Readonly<Record<string, string>> = {
    "a record edited": having(4, [
      header,
      swapped(block[1] ?? "", "aud_4", "aud_9"),
      ...block.slice(2),
    ]),
    "a record deleted": having(4, block.toSpliced(2, 1)),
    "the last record of a block deleted": having(4, block.slice(0, -1)),
    "two records swapped": having(4, [header, block[2] ?? "", block[1] ?? "", block[3] ?? ""]),
    "a record told twice": having(4, [...block, block[3] ?? ""]),
    "a record moved to the next block": join(
      parts.with(4, block.slice(0, -1)).with(5, [next[0] ?? "", block[3] ?? "", ...next.slice(1)]),
    ),
    "records of two blocks exchanged": join(
      parts.with(4, block.with(3, next[3] ?? "")).with(5, next.with(3, block[3] ?? "")),
    ),
    "a block deleted": join(parts.toSpliced(4, 1)),
    "blocks reordered": join(parts.with(4, next).with(5, block)),
    "a block and a record of form 2 reordered": join(parts.with(6, parts[7] ?? []).with(7, single)),
    "a block without its header": having(4, block.slice(1)),
    "a header without its block": having(4, [header]),
    "a block of another desk in its place": having(4, others[4] ?? []),
    "the second half of another desk's chain": join([...parts.slice(0, 5), ...others.slice(5)]),
    "the events numbered otherwise": having(4, [
      swapped(
        header,
        '"first_sequence":1,"last_sequence":2',
        '"first_sequence":2,"last_sequence":3',
      ),
      ...block.slice(1),
    ]),
    "the end cut off with its last block": join(parts.toSpliced(8, 1)),
    "the checkpoint within the last block": join([
      ...parts.slice(0, 8),
      (parts[8] ?? []).slice(0, -1),
      parts[9] ?? [],
    ]),
    "a form that is not known": having(4, [swapped(header, '"v":3', '"v":4'), ...block.slice(1)]),
  };
  for (const [what, text] of Object.entries(thefts)) {
    await t.test(`${what} is found`, async () => await assertFound(text, what));
  }

  await t.test("each member of a header is bound", async () => {
    for (const [name, value] of Object.entries(
      JSON.parse(header) as Record<string, string | number>,
    )) {
      const from = `"${name}":${JSON.stringify(value)}`;
      const to = typeof value === "number" ? `"${name}":${value + 1}` : `"${name}":"${value}0"`;
      await assertFound(having(4, [swapped(header, from, to), ...block.slice(1)]), name);
    }
  });

  await t.test("every byte and every line is bound", async () => {
    const short = writeChain(here, ["former", "record", { records: 2 }]);
    const whole = Buffer.from(join(short));
    for (let at = 0; at < whole.length; at++) {
      const edited = Buffer.from(whole);
      edited[at] = (edited[at] ?? 0) ^ 0x01;
      await assertFound(edited, `byte ${at}`);
      await assertFound(whole.subarray(0, at), `the end at ${at}`);
    }
    const lines = short.flat();
    for (const [at, line] of lines.entries()) {
      const without = lines.toSpliced(at, 1);
      await assertFound(without.join(""), `line ${at} deleted`);
      for (let to = 0; to < lines.length; to++) {
        const moved = without.toSpliced(to, 0, line);
        if (to !== at) await assertFound(moved.join(""), `line ${at} moved to ${to}`);
      }
    }
  });

  await t.test("a chain that was hashed anew has another end than was signed", async () => {
    const forged = writeChain(here, [...forms.slice(0, -1), { records: 2 }]);
    assert.deepEqual(await judge(join(forged)), [undefined, undefined], "by its own signature");
    await assertFound(join([...forged.slice(0, -1), ...parts.slice(-1)]), "a chain hashed anew");
  });

  await t.test("the line at which a block begins is named", async () => {
    const text = thefts["a record edited"] ?? "";
    const { first_break: found } = await verifyExport(
      (async function* () {
        yield Buffer.from(text);
      })(),
    );
    assert.deepEqual([found?.line, JSON.parse(header).v], [5, blockForm]);
  });
});
