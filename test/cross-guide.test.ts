// docs/CROSS.md is run as it stands: its commands are sent, its answers compared.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { type Answer, type Service, startService } from "./support/service.ts";
import { letSettle } from "./support/settlements.ts";

type Step = { readonly commands: readonly string[]; readonly answers: readonly string[] };

/** Indented lines are commands; the fence after them holds what they print. */
function parseSteps(guide: string): Step[] {
  const parts = guide.split(/^```json\n/m);
  return parts.map((part, at) => {
    const prose = at === 0 ? part : (part.split(/^```\n/m)[1] ?? "");
    const code = prose.matchAll(/(?:^ {4}.*\n)+/gm);
    const text = [...code].map(([block]) => block.replace(/^ {4}/gm, "")).join("");
    const fence = parts[at + 1]?.split(/^```/m)[0] ?? "";
    return { commands: parseCommands(text), answers: fence.split("\n").filter(Boolean) };
  });
}

/** A command ends with its line, unless a mark or an open quote carries it on. */
function parseCommands(text: string): string[] {
  const commands: string[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const last = commands.at(-1);
    const isOpen =
      last !== undefined &&
      (/[\\|]$/.test(last) || countMarks(last, "'") % 2 === 1 || isOpenText(last));
    if (isOpen) commands[commands.length - 1] = `${last.replace(/\\$/, "")}\n${line}`;
    else commands.push(line);
  }
  return commands;
}

function isOpenText(command: string): boolean {
  return countMarks(command.replaceAll('\\"', ""), '"') % 2 === 1;
}

function countMarks(text: string, mark: string): number {
  return text.split(mark).length - 1;
}

/** What a filter of the guide takes from an answer: a path, or some fields by name. */
function filtered(answer: Answer["body"], filter: string): unknown {
  const fields = /^\{(.*)\}$/.exec(filter)?.[1]?.split(", ");
  if (fields) return Object.fromEntries(fields.map((name) => [name, answer[name]]));
  const path = filter.matchAll(/\.(\w+)|\[(\d+)\]/g);
  return [...path].reduce((value, [, name, index]) => value?.[name ?? Number(index)], answer);
}

async function send({ send: ask }: Service, command: string, variables: Map<string, string>) {
  const filled = command.replaceAll(/\$([A-Z_]+)/g, (_, name) => variables.get(name) ?? "");
  const [, path = ""] = /[ "](\/v1\/[^\s"]+)/.exec(filled) ?? [];
  const [, key = ""] = /X-Service-Key: (\w+)/.exec(filled) ?? [];
  const [, single, double] = /-d (?:'([^']*)'|"((?:\\"|[^"])*)")/.exec(filled) ?? [];
  const text = single ?? double?.replaceAll('\\"', '"');
  const method = text !== undefined || filled.includes("-X POST") ? "POST" : "GET";
  const headers = { "content-type": "application/json" };
  const { body } = await ask(method, path, {
    key,
    ...(text !== undefined && { body: text, headers }),
  });
  const [, filter = ""] = /jq -[cr] '?([^')]*)/.exec(filled) ?? [];
  return filtered(body, filter.trim());
}

test("every block of the guide to crosses runs and answers what it shows", async (t) => {
  const guide = await readFile(join(import.meta.dirname, "../docs/CROSS.md"), "utf8");
  const service = await startService(t);
  const seller = await service.issue({ firmName: "Acme Exports", buySide: false });
  const buyer = await service.issue({ firmName: "Bharat Imports" });
  const variables = new Map([
    ["URL", ""],
    ["SELLER", seller.api_key],
    ["SELLER_FIRM", seller.firm_id],
    ["BUYER", buyer.api_key],
    ["BUYER_FIRM", buyer.firm_id],
  ]);
  let compared = 0;
  for (const { commands, answers } of parseSteps(guide)) {
    const printed: string[] = [];
    for (const command of commands) {
      if (!command.includes("curl")) continue; // The keys are issued above.
      const [, name] = /^([A-Z]+)=\$\(/.exec(command) ?? [];
      const value = await send(service, command, variables);
      if (name) variables.set(name, String(value));
      else printed.push(JSON.stringify(value));
    }
    assert.deepEqual(printed, answers);
    compared += printed.length;
    await letSettle(service);
  }
  assert.ok(compared >= 10, "the guide was read");
});
