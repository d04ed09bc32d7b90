import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type Occasion, occasions } from "./rules.ts";
import { parseTemplate, type Template } from "./template-rules.ts";

export type Templates = {
  readonly byOccasion: ReadonlyMap<Occasion, Template>;
  /** Below every notice. */
  readonly footer: string;
  /** Above a notice of the sandbox. */
  readonly sandbox: string;
};

const folder = join(import.meta.dirname, "../../templates");

/** The files as they are when the service starts. */
export async function loadTemplates(): Promise<Templates> {
  const read = async (name: string) => await readFile(join(folder, "notices", name), "utf8");
  const byOccasion = await Promise.all(
    occasions.map(async (occasion): Promise<[Occasion, Template]> => {
      const name = `${occasion}.txt`;
      return [occasion, parseTemplate(name, await read(name))];
    }),
  );
  return {
    byOccasion: new Map(byOccasion),
    footer: await read("footer.txt"),
    sandbox: await read("sandbox.txt"),
  };
}

/** The page that asks whether to stop notices, and says that they are stopped. */
export async function loadOptOutPage(): Promise<string> {
  return await readFile(join(folder, "opt-out.html"), "utf8");
}
