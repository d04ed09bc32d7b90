// `npx scripdesk mcp`: the service as tools for an agent, over standard input and output. It is a client
// of the API like any other: what it may see is what its key may, and it places no order.

import { once } from "node:events";

import { Scripdesk } from "../client/src/index.ts";
import { contractVersion } from "../src/platform/http/openapi.ts";
import { command, UsageError } from "./command.ts";
import { openToolbox, toolSets } from "./mcp-tools.ts";

const instructions =
  "Scripdesk trades duty credit scrips. Money is integer paise (100 paise = 1 rupee), prices are basis " +
  "points of face. Reads show the desk of the key; takeQuote and quoteCross give binding prices; tools " +
  "that begin with dryRun say what a write would do and change nothing: their answers have dry_run true, " +
  "and what they name does not exist. No tool places an order: show " +
  "the person the quote_ref, and let them order.";

const mcp = command({
  name: "mcp",
  summary: "offer reads, quotes and dry runs to an agent as tools (Model Context Protocol, stdio)",
  options: {
    key: { help: "API key; its scopes decide on the tools (or SCRIPDESK_KEY in the environment)" },
    tools: { help: `only those of some tasks: ${Object.keys(toolSets).join(", ")}` },
    "base-url": { default: "http://127.0.0.1:8080", help: "where the service is" },
  },
  example: "SCRIPDESK_KEY=service_test_… npx scripdesk mcp --tools sell,cover",
  async run(options) {
    const key = options.key ?? process.env["SCRIPDESK_KEY"];
    if (!key) throw new UsageError("--key is required, or SCRIPDESK_KEY in the environment");
    const client = new Scripdesk({ base_url: options["base-url"], api_key: key });
    const sets = options.tools?.split(",") ?? [];
    const unknown = sets.filter((name) => !Object.hasOwn(toolSets, name));
    if (unknown.length > 0) {
      throw new UsageError(
        `--tools ${unknown.join(",")}: there are ${Object.keys(toolSets).join(", ")}`,
      );
    }
    const toolbox = await openToolbox(client, sets);
    // Loaded here, because no other command needs them.
    const { Server } = await import("@modelcontextprotocol/sdk/server/index.js");
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const { CallToolRequestSchema, ListToolsRequestSchema } =
      await import("@modelcontextprotocol/sdk/types.js");
    const server = new Server(
      { name: "scripdesk", version: contractVersion },
      { capabilities: { tools: {} }, instructions },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: toolbox.tools.map(({ name, description, inputSchema, annotations }) => ({
        name,
        description,
        inputSchema,
        annotations,
      })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const { content, isError } = await toolbox.call(params.name, params.arguments ?? {});
      return { content, ...(isError && { isError }) };
    });
    await server.connect(new StdioServerTransport());
    await once(process.stdin, "end");
    await server.close();
  },
});

export const commands = [mcp];
