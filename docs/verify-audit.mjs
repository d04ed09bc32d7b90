// Verifies an export of the audit trail:  node verify-audit.mjs FILE [PUBLIC_KEY]
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream } from "node:fs";

const [file, expectedKey] = process.argv.slice(2);
const ending = /,"public_key":"([0-9a-f]{64})","signature":"([0-9a-f]{128})"\}$/;
let lines = 0;
let first, last, whole;

function must(holds, problem) {
  if (holds) return;
  console.error(`line ${lines}: ${problem}`);
  process.exit(1);
}

/** The hash is over every byte before it, and among these is the hash of the line before. */
function follow(line) {
  const part = line.slice(0, -75);
  const hash = createHash("sha256").update(part, "latin1").digest("hex");
  must(line === `${part},"hash":"${hash}"}`, "was changed");
  const { v, environment: env, desk_id: desk, seq, prev_hash: prev } = JSON.parse(line);
  must(v === 1 || v === 2, "has a form that is not known here");
  first ??= last = { env, desk, seq: seq - 1, hash: prev };
  must(env === last.env && desk === last.desk, "is another desk's");
  must(seq === last.seq + 1 && prev === last.hash, "does not follow the line before");
  last = { env, desk, seq, hash };
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
  const found = [last.env, last.desk, lines - 1, first.seq + 1, last.seq, first.hash, last.hash];
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
    if (end) close(line, end);
    else follow(line);
  }
}
must(whole && rest === "", "breaks off: the checkpoint is missing");
console.log(`whole: ${whole}`);
