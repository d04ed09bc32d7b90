// Verifies an export of the audit trail:  node verify-audit.mjs FILE [PUBLIC_KEY]
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream } from "node:fs";

const [file, expectedKey] = process.argv.slice(2);
const ending = /,"public_key":"([0-9a-f]{64})","signature":"([0-9a-f]{128})"\}$/;
let lines = 0;
let first, last, block, whole;

function must(holds, problem, line = lines) {
  if (holds) return;
  console.error(`line ${line}: ${problem}`);
  process.exit(1);
}

/**
 * A record of form 1 or 2, or the header of a block of form 3. The hash is over every byte before it,
 * and among these is the hash of the record or header before.
 */
function follow(line) {
  const part = line.slice(0, -75);
  const hash = createHash("sha256").update(part, "latin1").digest("hex");
  must(line === `${part},"hash":"${hash}"}`, "was changed");
  const { v, environment: env, desk_id: desk, prev_hash: prev, ...told } = JSON.parse(line);
  must(v === 1 || v === 2 || v === 3, "has a form that is not known here");
  const [from, to] = v === 3 ? [told.first_seq, told.last_seq] : [told.seq, told.seq];
  first ??= last = { env, desk, seq: from - 1, hash: prev };
  must(env === last.env && desk === last.desk, "is another desk's");
  must(from === last.seq + 1 && prev === last.hash, "does not follow what is before");
  last = { env, desk, seq: to, hash };
  if (v !== 3) return;
  must(told.count === to - from + 1 && told.count > 0, "is a block without records");
  const { count: left, content_hash: hashed } = told;
  block = { line: lines, left, hashed, content: createHash("sha256") };
}

/** The records of a block are the lines after its header, and their hash is in the header. */
function include(line) {
  block.content.update(`${line}\n`, "latin1");
  block.left -= 1;
  if (block.left > 0) return;
  const isWhole = block.content.digest("hex") === block.hashed;
  must(isWhole, "is of a block in which a record was changed", block.line);
  block = undefined;
}

/** The signature is over every byte before it, and these say what the lines before are. */
function close(line, [, key, signature]) {
  const der = Buffer.from(`302a300506032b6570032100${key}`, "hex");
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const part = Buffer.from(line.slice(0, -144), "latin1");
  must(verify(null, part, publicKey, Buffer.from(signature, "hex")), "is not what was signed");
  must(!expectedKey || key === expectedKey, `is signed by another key, ${key}`);
  const { environment: env, desk_id: desk, first_seq, ...told } = JSON.parse(line);
  first ??= last = { env, desk, seq: first_seq - 1, hash: told.prev_hash };
  const count = last.seq - first.seq;
  const found = [last.env, last.desk, count, first.seq + 1, last.seq, first.hash, last.hash];
  const signed = [env, desk, told.count, first_seq, told.last_seq, told.prev_hash, told.head_hash];
  must(told.v === 1 && found.join() === signed.join(), "is a checkpoint of other lines");
  must(first.seq > 0 || /^0+$/.test(first.hash), "begins after something");
  whole = `${told.count} records of ${desk} (${env}) from ${first_seq} on, signed by ${key}`;
}

let rest = "";
for await (const chunk of createReadStream(file, "latin1")) {
  const parts = (rest + chunk).split("\n");
  rest = parts.pop();
  for (const line of parts) {
    lines += 1;
    must(!whole, "follows the checkpoint");
    const end = ending.exec(line);
    if (block) include(line);
    else if (end) close(line, end);
    else follow(line);
  }
}
must(whole && rest === "", "breaks off: the checkpoint is missing");
console.log(`whole: ${whole}`);
