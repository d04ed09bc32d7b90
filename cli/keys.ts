import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { issueKey } from "../src/access/issue-keys.ts";
import { listAllKeys } from "../src/access/read-keys.ts";
import { revokeKeyAsOperator } from "../src/access/revoke-keys.ts";
import { looksLikeId } from "../src/kernel/ids.ts";
import { istDay } from "../src/kernel/time.ts";
import { installNextLocalKey, makeNextLocalKey } from "../src/platform/master-key.ts";
import { rotateMasterKey } from "../src/rotate-master-key.ts";
import { command, parseChoice, printOne, UsageError } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { printSearch, searchOptions } from "./search.ts";

const issue = command({
  name: "keys issue",
  summary: "issue a desk's root key; it is shown this once",
  options: {
    firm: { help: "name of the desk; made when there is none of that name" },
    desk: { help: "id of a desk that there is, instead of --firm" },
    env: { required: true, help: "live or sandbox" },
    scopes: { default: "*", help: "comma-separated scopes" },
    plan: { default: "starter", help: "plan of a live key; sandbox keys are unmetered" },
    buy: { type: "boolean", help: "enable the buy side" },
    name: { default: "root", help: "what the key is for" },
    iec: { help: "importer-exporter code of a new live desk" },
    pan: { help: "PAN of a new live desk" },
    ...operatorOption,
  },
  example: `npx scripdesk keys issue --firm "Acme Exports" --env sandbox --scopes '*' --plan growth --buy --json`,
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    if ((options.firm === undefined) === (options.desk === undefined)) {
      throw new UsageError("give --firm NAME, or --desk ID");
    }
    if (options.firm !== undefined && looksLikeId(options.firm)) {
      throw new UsageError(`--firm is a name; say --desk ${options.firm} for the desk of that id`);
    }
    const issued = await withOperator(
      options,
      { permission: "keys.write", environment, create: true },
      async ({ ctx, actor }) =>
        await issueKey(
          ctx,
          {
            firmName: options.firm,
            deskId: options.desk,
            environment,
            scopes: options.scopes.split(",").map((scope) => scope.trim()),
            plan: options.plan,
            buySide: options.buy,
            name: options.name,
            iec: options.iec,
            pan: options.pan,
          },
          actor,
        ),
    );
    printOne(issued, options);
  },
});

const list = command({
  name: "keys list",
  summary: "list the keys of every desk, newest first, without their secrets",
  options: searchOptions,
  async run(options) {
    await printSearch(options, {
      list: (ctx, search) => listAllKeys(ctx, search),
      listFirmIds: () => [],
      toRow: ({ legal_name, key }) => ({
        key_id: key.key_id,
        firm: legal_name,
        env: key.environment,
        kind: key.kind,
        name: key.name,
        plan: key.plan,
        scopes: key.scopes,
        status: key.status,
        created_at: key.created_at,
      }),
    });
  },
});

const revoke = command({
  name: "keys revoke",
  summary: "revoke a key and its children from the next request on",
  operand: "KEY_ID",
  options: operatorOption,
  async run(options, keyId) {
    const key = await withOperator(
      options,
      { permission: "keys.write", about: [keyId] },
      async ({ ctx, actor }) => await revokeKeyAsOperator(ctx, keyId, actor),
    );
    printOne({ key_id: key.key_id, status: key.status, revoked_at: key.revoked_at }, options);
  },
});

const rotateMaster = command({
  name: "keys rotate-master",
  summary: "seal everything anew with a new master key; goes on where it was interrupted",
  options: {
    "leave-unreadable": { type: "boolean", help: "leave what neither key opens as it is" },
    ...operatorOption,
  },
  example: "MASTER_KEY=$NEW MASTER_KEY_OTHER=$OLD npx scripdesk keys rotate-master",
  async run(options) {
    const { masterKey, databaseUrl, dataDir } = readConfig(process.env);
    const isLocal = masterKey === undefined && databaseUrl === undefined;
    // A service that runs on this folder has the old key only.
    const alone = isLocal ? { as: "service" as const } : {};
    const act = { permission: "keys.write", ...alone } as const;
    if (isLocal) {
      await withOperator(options, act, async () => {}); // Refuses before a key is made.
      await makeNextLocalKey(dataDir);
    }
    const done = await withOperator(options, act, async ({ ctx, actor, keys }) => {
      const rotated = await rotateMasterKey(ctx, actor, {
        keys,
        leaveUnreadable: options["leave-unreadable"],
        onProgress: ({ place, looked, resealed }) =>
          process.stderr.write(`${place}: ${looked} looked at, ${resealed} sealed anew\n`),
      });
      if (isLocal) await installNextLocalKey(dataDir, istDay(ctx.now()));
      return rotated;
    });
    printOne({ ...done, unreadable: done.unreadable.length }, options);
  },
});

export const keyCommands = [issue, list, revoke, rotateMaster];
