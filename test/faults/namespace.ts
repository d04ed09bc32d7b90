// Network, process and mount namespaces of the programme's own: its addresses, ports and mounts are
// nobody else's, a partition cuts off nobody else, and when it ends, whatever it started and mounted
// ends with it.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { type Outcome, runTold } from "./outcome.ts";

const insideVariable = "SCRIPDESK_FAULTS_NAMESPACE";

export const isInside = process.env[insideVariable] === "yes";

/** Rules are asked in the order of their numbers; what cuts off comes before what delivers. */
const rules = { cut: 10, deliver: 100 } as const;

const setUp = [
  "ip link set lo up",
  `ip rule add pref ${rules.deliver} lookup local`,
  "ip rule del pref 0",
  // The shell stays: as the first process it takes leave of those that nobody else waits for.
  '{ "$@"; exit $?; }',
].join(" && ");

/** Why there can be none, or undefined. */
export async function namespaceMissing(): Promise<string | undefined> {
  const probe = ["--net", "--pid", "--fork", "--mount-proc", "sh", "-c", setUp, "sh", "true"];
  try {
    await promisify(execFile)("unshare", probe);
    return undefined;
  } catch (error) {
    return `no namespace can be made here (unshare and ip, from util-linux and iproute2, as root with CAP_SYS_ADMIN): ${(error as Error).message.split("\n")[0]}`;
  }
}

/** Runs this program once more inside, with the same words and these. */
export async function runInside(
  more: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const words = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1), ...more];
  const inside = { ...env, [insideVariable]: "yes" };
  return await runTold("unshare", [...words, "sh", "-c", setUp, "sh", ...program], { env: inside });
}

/** Drops whatever goes to these addresses or comes from them. */
export async function cutOff(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    await ip("rule", "add", "pref", String(rules.cut), "to", address, "blackhole");
    await ip("rule", "add", "pref", String(rules.cut), "from", address, "blackhole");
  }
}

export async function reconnect(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    await ip("rule", "del", "pref", String(rules.cut), "to", address, "blackhole");
    await ip("rule", "del", "pref", String(rules.cut), "from", address, "blackhole");
  }
}

async function ip(...words: readonly string[]): Promise<void> {
  await promisify(execFile)("ip", words);
}
