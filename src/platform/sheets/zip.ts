// Writes an archive, file by file and piece by piece. The container is fflate's; compression is zlib's, which
// takes a tenth of the time that it takes in JavaScript. The same files give the same bytes.

import { once } from "node:events";
import { crc32, createDeflateRaw } from "node:zlib";

import { Zip, type ZipInputFile } from "fflate";

export type ZippedFile = {
  readonly name: string;
  readonly pieces: Iterable<string | Uint8Array>;
};

/** Texts are collected up to this length before they are compressed. */
const pieceLength = 65_536;
const deflated = 8;

export async function writeZip(files: Iterable<ZippedFile>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  for (const file of files) await addFile(zip, file);
  zip.end();
  return Buffer.concat(chunks);
}

async function addFile(zip: Zip, { name, pieces }: ZippedFile): Promise<void> {
  // Written in local time, whatever the zone is.
  const mtime = new Date(2000, 0, 1);
  const file: ZipInputFile = { filename: name, size: 0, crc: 0, compression: deflated, mtime };
  zip.add(file);
  const deflate = createDeflateRaw();
  deflate.on("data", (chunk: Buffer<ArrayBuffer>) => file.ondata?.(null, chunk, false));
  const ended = once(deflate, "end");
  for (const piece of collect(pieces)) {
    file.size += piece.length;
    file.crc = crc32(piece, file.crc);
    if (!deflate.write(piece)) await once(deflate, "drain");
  }
  deflate.end();
  await ended;
  file.ondata?.(null, new Uint8Array(), true);
}

function* collect(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  let collected = "";
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      yield piece;
      continue;
    }
    collected += piece;
    if (collected.length < pieceLength) continue;
    yield Buffer.from(collected);
    collected = "";
  }
  if (collected !== "") yield Buffer.from(collected);
}
