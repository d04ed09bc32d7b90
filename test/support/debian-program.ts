// Programs of the Debian distribution that some tests need beside Node. A root user in a container
// gets a missing one installed; everybody else is told how to.

import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export type Program = { readonly path: string } | { readonly missing: string };

// Test files run at the same time, and apt-get refuses to run twice at once.
const aptLock = join(tmpdir(), "scripdesk-apt.lock");
const aptGet = "apt-get -o DPkg::Lock::Timeout=240 -q";

/** Where a program is, or why it is not here. */
export async function debianProgram(name: string, fromPackage = name): Promise<Program> {
  return await debianFile(join("/usr/bin", name), fromPackage);
}

/** The same for a program that is not among those of everybody. */
export async function debianFile(path: string, fromPackage: string): Promise<Program> {
  if (await isExecutable(path)) return { path };
  const missing = `${path} is missing; install it with: apt-get install ${fromPackage}`;
  if (process.getuid?.() !== 0 || !(await isExecutable("/usr/bin/apt-get"))) return { missing };
  const install = `test -x ${path} || { ${aptGet} update && ${aptGet} install -y --no-install-recommends ${fromPackage}; }`;
  try {
    // At run level 1 no package starts the daemon that it brings.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    await execute("flock", [aptLock, "sh", "-c", install], { env, maxBuffer: 16 * 1_048_576 });
  } catch (error) {
    return { missing: `${missing} (apt-get failed: ${(error as Error).message})` };
  }
  return (await isExecutable(path)) ? { path } : { missing };
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
