import { secretSettings, settings } from "../src/config.ts";
import type { Command } from "./command.ts";

const serve: Command = {
  name: ["serve"],
  summary: "run the service until a signal",
  help() {
    const widest = Math.max(...Object.keys(settings).map((name) => name.length));
    const lines = Object.entries(settings).map(
      ([name, text]) => `  ${name.padEnd(widest)}  ${text}`,
    );
    return [
      "usage: npx scripdesk serve",
      "",
      "Runs the service until SIGTERM or SIGINT. Settings come from the environment:",
      "",
      ...lines,
      "",
      `A setting with a secret may come from a file that only the service can read, as ${secretSettings[0]}_FILE:`,
      `${secretSettings.join(", ")}.`,
      "",
    ].join("\n");
  },
  async run() {
    // Loaded only here, so that every other command starts without the whole service.
    const { serve: run } = await import("../src/main.ts");
    await run(process.env);
    return 0;
  },
};

export const commands = [serve];
