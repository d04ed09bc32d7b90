// What is missing before the first live day, and where or by which command it is mended. A step that is
// needed stops the first deal; the others are what a desk should have looked at.

import { listFirmsOfHouse } from "../firms/find-firms.ts";
import { showHouse } from "../house/read-house.ts";
import { schemes } from "../kernel/scheme.ts";
import { dayMs, istDay } from "../kernel/time.ts";
import { findImprint } from "../market/public-house.ts";
import { listOperators } from "../operators/manage-operators.ts";
import { listCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { type HousePapers, type Imprint, listMissing } from "../platform/pages/house-page.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import { currentAct, findRates } from "../taxes/tax-rules.ts";
import { listTaxRates } from "../taxes/taxes.ts";
import { findLiveFacts } from "./store.ts";
import type { liveStepNames } from "./rules.ts";

type LiveStep = {
  readonly step: (typeof liveStepNames)[number];
  readonly done: boolean;
  readonly needed: boolean;
  readonly found: string;
  /** The page of the console that mends it; null where only the machine can. */
  readonly page: string | null;
  readonly command: string;
};

/** What the settings say of the service that operators cannot change. */
export type InSettings = {
  readonly imprint: Imprint;
  readonly papers: HousePapers;
  readonly sendsNotices: boolean;
};

type ReadContext = Pick<Context, "db" | "now">;

export async function listLiveSteps(ctx: ReadContext, settings: InSettings): Promise<LiveStep[]> {
  const facts = await findLiveFacts(ctx.db);
  return [
    await checkPeople(ctx),
    await checkHouse(ctx),
    await checkCards(ctx),
    {
      step: "key",
      done: facts.has_key,
      needed: !facts.has_key,
      found: facts.has_key ? "a desk has a live key" : "no desk has a live key",
      page: "/keys",
      command: "keys issue --firm NAME --env live",
    },
    await checkTaxLines(ctx),
    await checkCalendar(ctx),
    {
      step: "bank_statement",
      done: facts.has_statement,
      needed: false,
      found: facts.has_statement
        ? "a statement of the bank was imported"
        : "no statement of the bank was imported: try its form before money waits for it",
      page: "/bank",
      command: "bank import FILE",
    },
    checkNotices(facts.has_mail_of_people, settings),
    await checkPage(ctx, settings),
  ];
}

async function checkPeople({ db }: ReadContext): Promise<LiveStep> {
  const people = (await listOperators({ db })).filter(({ status }) => status === "enrolled");
  const admins = people.filter(({ role }) => role === "admin");
  const found = `${people.length} enrolled, ${admins.length} of them admins`;
  return {
    step: "people",
    done: admins.length >= 2,
    needed: admins.length === 0,
    found: admins.length === 1 ? `${found}: a second admin lets the first in again` : found,
    page: "/people",
    command: "operators add --name NAME --role admin",
  };
}

/** Particulars whose name is no word. */
const particulars: Readonly<Record<string, string>> = {
  legal_name: "legal name",
  iec: "IEC",
  pan: "PAN",
  state_code: "state",
  bank: "bank account",
};

async function checkHouse(ctx: ReadContext): Promise<LiveStep> {
  const { house, missing } = await showHouse(ctx, "live");
  const firms = house ? await listFirmsOfHouse(ctx.db, house) : [];
  const found = [
    missing.length === 0
      ? "complete"
      : `lacks ${missing.map((name) => particulars[name] ?? name).join(", ")}`,
    ...(firms.length === 0
      ? []
      : [
          `its PAN is that of ${firms.map(({ firm_id }) => firm_id).join(", ")}, which should leave`,
        ]),
  ];
  return {
    step: "house",
    done: missing.length === 0 && firms.length === 0,
    needed: missing.length > 0,
    found: found.join("; "),
    page: "/house-in-law",
    command: "house set --env live",
  };
}

/** A desk may deal in one scheme alone. */
async function checkCards({ db }: ReadContext): Promise<LiveStep> {
  const cards = await findCurrentCards(db, "live");
  const without = schemes.filter((scheme) => !cards.has(scheme));
  const scheme = without[0] ?? schemes[0];
  const isMissing = without.length === schemes.length;
  return {
    step: "rate_card",
    done: !isMissing,
    needed: isMissing,
    found: without.length === 0 ? "every scheme has a price" : `no price for ${without.join(", ")}`,
    page: `/publish/${scheme}`,
    command: `rates publish --env live --scheme ${scheme} --preview`,
  };
}

async function checkTaxLines(ctx: ReadContext): Promise<LiveStep> {
  const rows = await listTaxRates(ctx, "live");
  const { tds } = findRates(istDay(ctx.now()), rows);
  const found = rows
    .filter(({ confirmed_by }) => confirmed_by === null)
    .map(({ line, effective_from: day, section }) => {
      if (line !== "tds") return `${line} of ${day} is to be checked`;
      const by = `${section ?? ""} from ${day} is proposed`;
      return tds && tds.act !== currentAct ? `section ${tds.section} was replaced: ${by}` : by;
    });
  return {
    step: "tax_lines",
    done: found.length === 0,
    needed: false,
    found: found.length === 0 ? "confirmed" : found.join("; "),
    page: "/taxes",
    command: "tax confirm LINE --env live --from DAY",
  };
}

const calendarAheadMs = 30 * dayMs;

async function checkCalendar(ctx: ReadContext): Promise<LiveStep> {
  const year = Number(istDay(new Date(ctx.now().getTime() + calendarAheadMs)).slice(0, 4));
  const days = await listCalendar(ctx, { office: null, year });
  const unchecked = days.filter(({ status }) => status === "check").length;
  return {
    step: "calendar",
    done: days.length > 0 && unchecked === 0,
    needed: false,
    found: `${year}: ${days.length} days, ${unchecked} to check`,
    page: `/calendar?year=${year}`,
    command: "calendar import FILE.csv",
  };
}

function checkNotices(hasAddress: boolean, { sendsNotices }: InSettings): LiveStep {
  return {
    step: "notices",
    done: sendsNotices && hasAddress,
    needed: false,
    found: [
      sendsNotices ? "a mail server is set" : "no mail server is set: SMTP_URL",
      hasAddress ? "a person is told by mail" : "no person is told by mail",
    ].join("; "),
    page: "/people",
    command: "notices add EMAIL --person NAME",
  };
}

async function checkPage(ctx: ReadContext, { imprint, papers }: InSettings): Promise<LiveStep> {
  const missing = listMissing(await findImprint(ctx, imprint), papers);
  return {
    step: "public_page",
    done: missing.length === 0,
    needed: false,
    found: missing.length === 0 ? "complete" : `lacks ${missing.join(", ")}`,
    page: null,
    command: "serve --help",
  };
}
