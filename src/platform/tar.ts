// An archive in the ustar format, which every system opens. Only plain files, named by short ASCII.

const blockBytes = 512;
const nameBytesMax = 100;

/** The bytes of one file of an archive. */
export function tarFile(name: string, content: Uint8Array, at: Date): Buffer {
  if (name.length > nameBytesMax || /[^ -~]/.test(name)) throw new Error(`${name} is no file name`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(Math.floor(at.getTime() / 1_000), 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const rest = (blockBytes - (content.length % blockBytes)) % blockBytes;
  return Buffer.concat([header, content, Buffer.alloc(rest)]);
}

/** What an archive ends with. */
export const tarEnd = Buffer.alloc(2 * blockBytes);
