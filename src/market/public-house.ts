// What an exporter's or importer's finance department asks before it deals: who the house is, what
// dealing costs, and when credits and money move. Every figure is the one that the service computes
// with: the live cards, the tax lines, the calendar and the deadlines of settlements.

import { feeBpsByKind } from "../crosses/rules.ts";
import { findHouse } from "../house/read-house.ts";
import type { HousePapers, Imprint } from "../platform/pages/house-page.ts";
import { scripHsn } from "../kernel/money.ts";
import { schemes } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import { addWorkingDays, type Calendar, closingTime, cutOff } from "../kernel/working-days.ts";
import { listCalendar, readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import type { Cacheable } from "../platform/http/caching.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import { computeDueAt, workingDaysFor } from "../settlement/rules.ts";
import { findRates, type TdsRate } from "../taxes/tax-rules.ts";
import { findRailLimits, listTaxRates } from "../taxes/taxes.ts";
import { cacheWhileRunning } from "./public-rates.ts";
import { simulateIndex } from "./public-rules.ts";
import type { House, HouseScheme, Preview, Timetable } from "./public-house-schema.ts";

/** Who the house is, and what it has published. */
export type PublicHouse = { readonly imprint: Imprint; readonly papers: HousePapers };

/** Addresses of what the house has published. */
const paperPaths = { terms: "/terms", privacy: "/privacy" } as const;

const holidaysAheadDays = 30;

type Reading = Pick<Context, "db" | "now">;

/** The imprint in the settings, with the address and the GSTIN of the live house once it is set. */
export async function findImprint(ctx: Reading, inSettings: Imprint) {
  const house = await findHouse(ctx.db, "live", istDay(ctx.now()));
  const { address, gstin } = house ?? inSettings;
  const { legal_name = null, cin = null } = house ?? {};
  return { ...inSettings, address, gstin, legal_name, cin };
}

export async function readHouse(
  ctx: Reading,
  { imprint, papers }: PublicHouse,
): Promise<Cacheable<House>> {
  const now = ctx.now();
  const today = istDay(now);
  const cards = await findCurrentCards(ctx.db, "live");
  const { name, legal_name, cin, address, gstin, email, phone } = await findImprint(ctx, imprint);
  const { tds, fee, scrip } = findRates(today, await listTaxRates(ctx, "live"));
  const answer = {
    name,
    legal_name,
    cin,
    address: [...address],
    gstin,
    email,
    phone,
    terms_href: papers.terms === null ? null : paperPaths.terms,
    privacy_href: papers.privacy === null ? null : paperPaths.privacy,
    schemes: schemes.map((scheme) => viewScheme(scheme, cards.get(scheme))),
    gst_bps: fee?.gst_bps ?? 0,
    scrip_hsn: scrip?.hsn ?? scripHsn,
    block_fee_bps: feeBpsByKind.block,
    withholding: tds ? viewWithholding(tds) : null,
    rtgs_from_paise: (await ctx.db.run(findRailLimits("live", now))).rtgs_from_paise,
    timetable: {
      ...viewDeadlines(now, await readCalendar(ctx.db)),
      holidays: await listHolidays(ctx, today),
    },
  };
  return { answer, cacheControl: cacheWhileRunning };
}

function viewScheme(scheme: RateCard["scheme"], card: RateCard | undefined): HouseScheme {
  return {
    scheme,
    market_state: card?.state ?? null,
    fee_bps: card?.fee_bps ?? null,
    default_bps: card?.default_bps ?? null,
    quote_window_s: card?.quote_window_s ?? null,
    face_max_paise: card?.face_max_paise ?? null,
    days_left_min: card?.validity_bands.at(-1)?.from_days ?? null,
  };
}

function viewWithholding({ section, rate_bps, threshold_paise }: TdsRate) {
  return { section, rate_bps, threshold_paise };
}

/** Deadlines of deals that are agreed now. A sale to the house is funded at once. */
function viewDeadlines(now: Date, calendar: Calendar): Omit<Timetable, "holidays"> {
  const transferDays = workingDaysFor.initiate.days + workingDaysFor.accept.days;
  return {
    as_of: istTimestamp(now),
    cut_off: cutOff,
    closes: closingTime,
    transfer_working_days: transferDays,
    transferred_by: istTimestamp(addWorkingDays(now, transferDays, "customs", calendar)),
    payment_working_days: workingDaysFor.pay.days,
    paid_by: istTimestamp(computeDueAt("pay", "live", now, calendar)),
  };
}

async function listHolidays(ctx: Reading, today: IstDay): Promise<Timetable["holidays"]> {
  const last = addDays(today, holidaysAheadDays);
  const years = new Set([today, last].map((day) => Number(day.slice(0, 4))));
  const lists = await Promise.all(
    [...years].map(async (year) => await listCalendar(ctx, { office: null, year })),
  );
  return lists
    .flat()
    .filter(({ day, works }) => !works && day >= today && day <= last)
    .map(({ office, day, name }) => ({ office, date: day, name }));
}

const previewNote =
  "These are simulated figures around the sandbox's rate cards: nobody has dealt at them, and nobody is bound by them.";

/** What the page shows until the desk has a live market. */
export async function readPreview(ctx: Reading): Promise<Cacheable<Preview>> {
  const environment = "sandbox";
  const today = istDay(ctx.now());
  const cards = await findCurrentCards(ctx.db, environment);
  const answer = {
    environment,
    note: previewNote,
    schemes: [...cards.values()]
      .toSorted((one, other) => schemes.indexOf(one.scheme) - schemes.indexOf(other.scheme))
      .map((card) => ({
        scheme: card.scheme,
        market_state: card.state,
        mid_bps: card.mid_bps,
        days: simulateIndex(card, today).map(({ day, index_bps }) => ({ date: day, index_bps })),
      })),
  };
  return { answer, cacheControl: cacheWhileRunning };
}
