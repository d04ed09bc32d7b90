// `desks …`, `keys …`, `plans …`, `firms …`, and looking for anything: `find`, `today`.

import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { looksLikeId } from "../src/kernel/ids.ts";
import { istDay } from "../src/kernel/time.ts";
import type { Firm } from "../src/firms/schema.ts";
import { bankOperations } from "../src/ops/bank.ts";
import { deskOperations } from "../src/ops/desks.ts";
import { lookupOperations } from "../src/ops/lookups.ts";
import { payoutOperations } from "../src/ops/payouts.ts";
import { installNextLocalKey, makeNextLocalKey } from "../src/platform/master-key.ts";
import { rotateMasterKey } from "../src/rotate-master-key.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { callOne, deriveFrom, echo, type Fields, findOperation, pick } from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";

const operations = [...lookupOperations, ...deskOperations, ...bankOperations, ...payoutOperations];
const derive = deriveFrom(operations);

const find = command({
  name: "find",
  summary: "find a thing by its id, an IEC, a PAN, a name, a scrip number, a UTR or a ticket",
  operand: "ANYTHING",
  options: {},
  example: "npx scripdesk find 'shree exports'",
  async run(options, q) {
    // A sandbox thing by its id is found by anybody; anything else may be of live.
    const asked = { options, about: "q" };
    const { found } = await callOne(findOperation(operations, "findAnything"), { q }, asked);
    const rows = (found as readonly Fields[]).map(({ environment: env, ...row }) => ({
      ...row,
      env,
    }));
    if (options.json) return print(rows, options);
    const names = Object.fromEntries(
      (found as readonly Readonly<Record<string, string>>[]).flatMap((row) => [
        [row["desk_id"] ?? "", row["desk_name"] ?? "-"],
        [row["firm_id"] ?? "", row["firm_name"] ?? "-"],
      ]),
    );
    print(
      rows.map(({ desk_name: _desk, firm_name: _firm, id, ...row }: Fields) => ({ ...row, id })),
      { json: false, names },
    );
    return rows.length === 0 ? 1 : 0;
  },
});

const showDesk = command({
  name: "desks show",
  summary: "show a desk with its own firm, its keys and what it earns",
  operand: "DESK_ID",
  options: {},
  async run(options, desk_id) {
    const asked = { desk_id };
    const desk = await callOne(findOperation(operations, "showDesk"), asked, { options });
    const { firm, keys, ...facts } = desk;
    if (options.json) return printOne({ ...facts, firm, keys }, options);
    printOne({ ...facts, ...pick(firm as Fields, "pan gstin email") }, options);
    process.stdout.write("\nkeys\n");
    print(
      (keys as readonly Fields[]).map((key) => pick(key, "key_id kind name plan status")),
      options,
    );
    return undefined;
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

const account = command({
  name: "firms account",
  summary: "show where a firm is paid to; the whole number with --reveal, which is on record",
  operand: "FIRM_ID",
  options: {
    reveal: { type: "boolean", help: "show the whole account number" },
    reason: { default: "", help: "why; required with --reveal" },
    ...operatorOption,
  },
  async run(options, firm_id) {
    const { reveal, reason } = options;
    if (reveal) {
      const asked = { options, act: { named: true } } as const;
      const revealing = findOperation(operations, "revealAccount");
      return printOne(await callOne(revealing, { firm_id, reason }, asked), options);
    }
    const { bank } = await callOne(
      findOperation(operations, "readAnyFirm"),
      { firm_id },
      { options },
    );
    printOne({ firm_id, bank }, options);
    return undefined;
  },
});

/** Lists of objects as lines that a person can read. */
function viewFirm(fields: Fields, { json }: { readonly json: boolean }): Fields {
  if (json) return fields;
  const firm = fields as unknown as Firm; // By the operation's schema.
  return {
    ...firm,
    checks: firm.checks.map(({ check, outcome, cure }) =>
      cure === null ? `${check} ${outcome}` : `${check} ${outcome} (${cure})`,
    ),
    holds: firm.holds.map(({ reason, until }) => `${reason} until ${until ?? "answered"}`),
  };
}

const changedFirm = { columns: "firm_id legal_name connection_state version allowed_actions" };
const payingAccount = { view: echo("firm_id"), act: { named: true } } as const;

const today = command({
  name: "today",
  summary: "show what waits for somebody, and how the day stands",
  options: { env: { default: "live", help: "live or sandbox" } },
  async run(options) {
    const asked = { environment: parseChoice("env", options.env, environments) };
    const shown = await callOne(findOperation(operations, "showToday"), asked, { options });
    const { waiting, schemes, as_of, ...rest } = shown;
    if (options.json) return printOne({ ...rest, as_of, waiting, schemes }, options);
    printOne({ ...rest, as_of }, options);
    process.stdout.write("\nwaiting\n");
    const rows = Object.entries(waiting as Readonly<Record<string, number>>);
    print(
      rows
        .filter(([, count]) => count > 0)
        .map(([what, count]) => ({ what: what.replaceAll("_", " "), count })),
      options,
    );
    process.stdout.write("\n");
    print(schemes as readonly Fields[], options);
    return undefined;
  },
});

export const commands = [
  today,
  find,
  derive("listDesks", "desks list", {
    columns:
      "desk=legal_name env iec state=connection_state plans client_firms created_at id=desk_id",
  }),
  showDesk,
  derive("setCommission", "desks set-commission", {
    word: false,
    example: "npx scripdesk desks set-commission --firm frm_… --bps 5",
  }),
  derive("payCommission", "desks pay-commission", {
    word: false,
    columns: "outcome approval_id firm_id paise=amount_paise utr",
    example:
      "npx scripdesk desks pay-commission --firm frm_… --paise 1250000 --utr HDFCN52026120100012345",
  }),
  derive("issueKey", "keys issue", {
    as: { buy_side: "buy" },
    defaults: { scopes: "*", plan: "starter", name: "root" },
    complete(input) {
      const { firm, desk_id } = input;
      if ((firm === undefined) === (desk_id === undefined)) {
        throw new UsageError("give --firm NAME, or --desk ID");
      }
      if (typeof firm !== "string" || !looksLikeId(firm)) return input;
      throw new UsageError(`--firm is a name; say --desk ${firm} for the desk of that id`);
    },
    act: { create: true },
    example: `npx scripdesk keys issue --firm "Acme Exports" --env sandbox --scopes '*' --plan growth --buy --json`,
  }),
  derive("listAllKeys", "keys list", {
    columns:
      "key_id=key.key_id firm=legal_name env=key.environment kind=key.kind name=key.name plan=key.plan scopes=key.scopes status=key.status created_at=key.created_at",
  }),
  derive("revokeAnyKey", "keys revoke", { columns: "key_id status revoked_at" }),
  derive("moveChildKeys", "keys move-children", {
    as: { to_key_id: "to" },
    columns: "key_id name parent_key_id scopes status",
    example: "npx scripdesk keys move-children key_… --to key_…",
  }),
  rotateMaster,
  derive("listAllRequests", "requests list", {
    columns:
      "at desk=desk_id env=environment method route status code reason ms=duration_ms key_id made request_id",
    example: "npx scripdesk requests list --env live --route 'POST /v1/orders' --status 409",
  }),
  derive("listPlans", "plans list"),
  derive("setPlan", "plans set", {
    word: false,
    as: { monthly_quota: "monthly", child_keys_max: "child-keys" },
    example: "npx scripdesk plans set --name tiny --per-minute 5 --monthly 100",
  }),
  derive("listAllFirms", "firms list", {
    as: { connection_state: "state" },
    columns:
      "firm_id=firm.firm_id desk=desk_name env=firm.environment legal_name=firm.legal_name iec=firm.iec role=firm.role state=firm.connection_state holds=firm.holds.reason updated_at=firm.updated_at",
    withIds: true,
    example: "npx scripdesk firms list --env live --state action_required",
  }),
  derive("readAnyFirm", "firms show", { view: viewFirm }),
  account,
  derive("verifyAnyFirm", "firms verify", changedFirm),
  derive("authorizeAnyFirm", "firms authorize", {
    as: { signatory_name: "signatory", valid_until: "until" },
    defaults: { transfers: "house" },
    ...changedFirm,
  }),
  derive("suspendAnyFirm", "firms suspend", changedFirm),
  derive("resumeAnyFirm", "firms resume", changedFirm),
  derive("showPayingAccount", "firms paying-account show"),
  derive("addPayingAccount", "firms paying-account add", payingAccount),
  derive("removePayingAccount", "firms paying-account remove", payingAccount),
];
