// The fonts of documents: IBM Plex Sans for Latin letters, figures and signs, and for each Indian script
// a subset of Noto Sans, which is loaded only for documents with text of that script.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export type Weight = "regular" | "strong";

/** The blocks of Unicode; their first and last characters. */
const blocks = {
  devanagari: [0x0900, 0x097f],
  bengali: [0x0980, 0x09ff],
  gurmukhi: [0x0a00, 0x0a7f],
  gujarati: [0x0a80, 0x0aff],
  oriya: [0x0b00, 0x0b7f],
  tamil: [0x0b80, 0x0bff],
  telugu: [0x0c00, 0x0c7f],
  kannada: [0x0c80, 0x0cff],
  malayalam: [0x0d00, 0x0d7f],
} as const satisfies Record<string, readonly [number, number]>;

type Script = keyof typeof blocks;
export type FaceName = "latin" | Script;

export type Fonts = ReadonlyMap<FaceName, Readonly<Record<Weight, Buffer>>>;

/** A part of a line that is set in one font. */
export type TextRun = { readonly face: FaceName; readonly text: string };

const indian = /[\u0900-\u0d7f]/;
/** Characters that join or part letters, and the full stops of several scripts: they stay in their run. */
const joining = /\u200c|\u200d|\u0964|\u0965/;

export function hasIndianText(text: string): boolean {
  return indian.test(text);
}

export function splitRuns(text: string): TextRun[] {
  if (!hasIndianText(text)) return [{ face: "latin", text }];
  const runs: { face: FaceName; text: string }[] = [];
  for (const character of text) {
    const last = runs.at(-1);
    const isJoined = last !== undefined && last.face !== "latin" && joining.test(character);
    const face = isJoined ? last.face : findFace(character.codePointAt(0) ?? 0);
    if (last?.face === face) last.text += character;
    else runs.push({ face, text: character });
  }
  return runs;
}

function findFace(code: number): FaceName {
  for (const [script, [first, last]] of Object.entries(blocks)) {
    if (code >= first && code <= last) return script as Script;
  }
  return "latin";
}

/** The scripts that occur anywhere in a value. */
export function findScripts(value: unknown): Set<Script> {
  const found = new Set<Script>();
  const visit = (part: unknown): void => {
    if (typeof part === "string") {
      for (const { face } of splitRuns(part)) if (face !== "latin") found.add(face);
    } else if (typeof part === "object" && part !== null) Object.values(part).forEach(visit);
  };
  visit(value);
  return found;
}

const loaded = new Map<FaceName, Promise<Readonly<Record<Weight, Buffer>>>>();

export async function loadFonts(scripts: ReadonlySet<Script>): Promise<Fonts> {
  const names: FaceName[] = ["latin", ...scripts];
  const fonts = names.map(async (name) => {
    const files = loaded.get(name) ?? readFace(name);
    loaded.set(name, files);
    return [name, await files] as const;
  });
  return new Map(await Promise.all(fonts));
}

async function readFace(name: FaceName): Promise<Readonly<Record<Weight, Buffer>>> {
  const [regular, strong] = await Promise.all([
    readFile(findFile(name, "regular")),
    readFile(findFile(name, "strong")),
  ]);
  return { regular, strong };
}

const plexWeights = { regular: "400Regular", strong: "600SemiBold" } as const;
const notoWeights = { regular: 400, strong: 600 } as const;

function findFile(name: FaceName, weight: Weight): string {
  if (name !== "latin") {
    const file = `fonts/noto-sans-${name}-${notoWeights[weight]}.woff`;
    return fileURLToPath(new URL(file, import.meta.url));
  }
  const plex = plexWeights[weight];
  const path = `@expo-google-fonts/ibm-plex-sans/${plex}/IBMPlexSans_${plex}.ttf`;
  return fileURLToPath(import.meta.resolve(path));
}
