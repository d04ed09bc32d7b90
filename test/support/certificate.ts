import { execFile } from "node:child_process";
import { promisify } from "node:util";

const options = "req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";

/** A certificate nobody trusts, made by the machine's openssl; undefined where there is none. */
export async function selfSignedCertificate(
  name = "localhost",
): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  const named = ["-subj", `/CN=${name}`, "-keyout", "-", "-out", "-"];
  try {
    const { stdout } = await promisify(execFile)("openssl", [...options.split(" "), ...named]);
    const [key = "", cert = ""] = stdout.split(/(?=-----BEGIN CERTIFICATE)/);
    return { cert: Buffer.from(cert), key: Buffer.from(key) };
  } catch {
    return undefined;
  }
}
