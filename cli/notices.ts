// Who gets notices by mail, and what became of them.

import {
  addNoticeAddress,
  listNoticeAddresses,
  removeNoticeAddress,
  setNoticeOptOuts,
} from "../src/notices/manage-addresses.ts";
import { listNotices, sendNoticeAgain } from "../src/notices/read-notices.ts";
import { noticeStates, occasions } from "../src/notices/rules.ts";
import { findNames, resolveSearch } from "../src/overview/desks.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { inIst, operatorOption, withOperator } from "./operators.ts";
import { parseNarrowing, parsePage, readOptionalWord, searchOptions, toReading } from "./search.ts";

const { firm: _firm, ...narrowing } = searchOptions;
const permission = "notices.write";

const list = command({
  name: "notices list",
  summary: "list notices by mail: what waits, what was sent, and what was given up",
  options: {
    status: { help: noticeStates.join(", ") },
    occasion: { help: `only of this occasion: ${occasions.join(", ")}` },
    ...narrowing,
  },
  async run(options) {
    const state = readOptionalWord("status", options.status, noticeStates) ?? null;
    const occasion = readOptionalWord("occasion", options.occasion, occasions) ?? null;
    const { limit = 100, cursor = null } = parsePage(options);
    const found = await withOperator(options, toReading(options), async ({ ctx }) => {
      const { firmId: _none, ...search } = await resolveSearch(ctx, parseNarrowing(options));
      const rows = await listNotices(ctx, { ...search, state, occasion, before: cursor, limit });
      return {
        rows,
        names: await findNames(
          ctx.db,
          rows.map(({ desk_id }) => desk_id),
        ),
      };
    });
    print(
      found.rows.map(({ state: status, answer: _answer, ...row }) => inIst({ ...row, status })),
      { json: options.json, names: found.names },
    );
  },
});

const sendAgain = command({
  name: "notices send-again",
  summary: "try a dead notice anew",
  operand: "NOTICE_ID",
  options: operatorOption,
  async run(options, noticeId) {
    const sent = await withOperator(options, { permission, about: [noticeId] }, ({ ctx, actor }) =>
      sendNoticeAgain(ctx, actor, noticeId),
    );
    printOne({ notice_id: sent.notice_id, status: sent.state }, options);
  },
});

const addresses = command({
  name: "notices addresses",
  summary: "list who gets notices by mail",
  options: {
    of: { help: "only of desks, or only of people" },
    env: searchOptions.env,
    desk: searchOptions.desk,
    limit: searchOptions.limit,
    cursor: searchOptions.cursor,
  },
  async run(options) {
    const of = readOptionalWord("of", options.of, ["desks", "people"]) ?? null;
    const { limit = 100, cursor = null } = parsePage(options);
    const found = await withOperator(options, toReading(options), async ({ ctx }) => {
      const { environment, deskId } = await resolveSearch(ctx, parseNarrowing(options));
      const rows = await listNoticeAddresses(ctx, {
        environment,
        deskId,
        of,
        before: cursor,
        limit,
      });
      return {
        rows,
        names: await findNames(
          ctx.db,
          rows.map(({ desk_id }) => desk_id),
        ),
      };
    });
    print(
      found.rows.map(({ removed_at: _removed, ...row }) => inIst(row)),
      { json: options.json, names: found.names },
    );
  },
});

const add = command({
  name: "notices add",
  summary: "let an address of a desk or of a person get notices by mail",
  operand: "EMAIL",
  options: {
    desk: { help: "of this desk, by its id" },
    person: { help: "or of this person who runs the service" },
    ...operatorOption,
  },
  example: "npx scripdesk notices add accounts@acme.example --desk frm_01jd2m7q4x8r5v6w9y0abcdefg",
  async run(options, email) {
    const { desk, person } = options;
    if ((desk === undefined) === (person === undefined)) {
      throw new UsageError("say whose it is: --desk or --person");
    }
    const act = { permission, ...(desk !== undefined && { about: [desk] }) } as const;
    const added = await withOperator(options, act, ({ ctx, actor }) =>
      addNoticeAddress(ctx, actor, { email, deskId: desk, person }),
    );
    printOne(inIst(added), options);
  },
});

const remove = command({
  name: "notices remove",
  summary: "send nothing more to an address",
  operand: "ADDRESS_ID",
  options: operatorOption,
  async run(options, addressId) {
    const act = { permission, about: [addressId] } as const;
    const removed = await withOperator(options, act, ({ ctx, actor }) =>
      removeNoticeAddress(ctx, actor, addressId),
    );
    printOne(inIst(removed), options);
  },
});

const optOut = command({
  name: "notices opt-out",
  summary: "set what an address is not told of",
  operand: "ADDRESS_ID",
  options: {
    of: {
      default: "",
      help: `occasions, separated by commas; none tells it of all: ${occasions.join(", ")}`,
    },
    ...operatorOption,
  },
  example: "npx scripdesk notices opt-out nad_01jd2m7q4x8r5v6w9y0abcdefg --of payout.paid",
  async run(options, addressId) {
    const optedOut = options.of
      .split(",")
      .filter((word) => word.trim() !== "")
      .map((word) => parseChoice("of", word.trim(), occasions));
    const act = { permission, about: [addressId] } as const;
    const set = await withOperator(options, act, ({ ctx, actor }) =>
      setNoticeOptOuts(ctx, actor, { addressId, optedOut }),
    );
    printOne(inIst(set), options);
  },
});

export const noticeCommands = [list, sendAgain, addresses, add, remove, optOut];
