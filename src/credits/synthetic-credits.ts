// Synthetic exporters and their credits, modelled on the market; the same seed gives the same data:
//
//   faces      lognormal, whole rupees, ₹100 to ₹15 crore
//   exporters  most have a few credits a year, some have sixty
//   ages       most are young; two in a hundred expire within sixty days
//   balances   one in twenty is partly used, one in two hundred is suspended

import { createHash } from "node:crypto";

import type { Scheme } from "../kernel/scheme.ts";
import { addDays, type IstDay } from "../kernel/time.ts";
import { type CreditFacts, validDays, shelfPrefix } from "./rules.ts";

export type SyntheticExporter = {
  readonly number: number;
  /** The seed of its identifiers. */
  readonly seed: string;
  readonly credits: readonly SyntheticCredit[];
};

export type SyntheticCredit = CreditFacts & { readonly suspended: boolean };

const faceSigma = 1.5;
const faceMinRupees = 100;
const faceMaxRupees = 150_000_000;
const exporterSigma = 1.9;
const creditsPerExporterMax = 60;

const shapes: Record<Scheme, { readonly faceMedian: number; readonly creditsMedian: number }> = {
  RODTEP: { faceMedian: 140_000, creditsMedian: 2 },
  ROSCTL: { faceMedian: 360_000, creditsMedian: 4 },
};

/** Ports with their share in percent. */
const ports: readonly (readonly [string, number])[] = [
  ["INNSA1", 30],
  ["INMUN1", 15],
  ["INMAA1", 8],
  ["INBOM4", 7],
  ["INDEL4", 6],
  ["INTUT1", 6],
  ["INTKD6", 6],
  ["INMAA4", 4],
  ["INCCU1", 4],
  ["INCOK1", 4],
  ["INBLR4", 4],
  ["INHZA1", 3],
  ["INLDH6", 3],
];

/** As many exporters as it takes for `count` credits; the last one gets the rest. */
export function* makeExporters(
  seed: string,
  total: number,
  today: IstDay,
): Generator<SyntheticExporter> {
  const random = openRandom(seed);
  const tag = createHash("sha256").update(seed).digest("hex").slice(0, 5).toUpperCase();
  const scripNo = (count: number) => `S${tag}-${String(count).padStart(8, "0")}1`;
  const days = dayTable(today);
  let made = 0;
  for (let number = 1; made < total; number++) {
    const scheme: Scheme = random() < 0.8 ? "RODTEP" : "ROSCTL";
    const wanted = Math.round(drawLognormal(random, shapes[scheme].creditsMedian, exporterSigma));
    const count = Math.min(Math.max(1, wanted), creditsPerExporterMax, total - made);
    const first = made;
    made += count;
    yield {
      number,
      seed: `${seed} ${number}`,
      credits: Array.from({ length: count }, (_, index) =>
        makeCredit(random, { scheme, days, scripNo: scripNo(first + index + 1) }),
      ),
    };
  }
}

const inventoryMinRupees = 1_000;
const inventoryMaxRupees = 10_000_000;
const shortDaysMin = 60;
const longDaysMin = 365;

/**
 * The stock of the house: faces spread evenly over every order of magnitude, so that a small
 * requirement finds small credits and a large one needs no hundreds. One in twenty has less than a
 * year left. Those after the first `from` of a scheme follow from their number.
 */
export function makeInventory(
  {
    scheme,
    count,
    from = 0,
  }: { readonly scheme: Scheme; readonly count: number; readonly from?: number },
  today: IstDay,
): SyntheticCredit[] {
  const random = openRandom(`inventory ${scheme}${from === 0 ? "" : ` ${from}`}`);
  const sizes = Math.log(inventoryMaxRupees / inventoryMinRupees);
  return Array.from({ length: count }, (_, index) => {
    const paise = Math.round(inventoryMinRupees * Math.exp(sizes * random())) * 100;
    const isShort = index % 20 === 19;
    const [min, max] = isShort ? [shortDaysMin, longDaysMin] : [longDaysMin, validDays];
    const left = min + Math.floor((max - min) * random());
    return {
      scrip_no: toInventoryNo(scheme, from + index + 1),
      scheme,
      issued_paise: paise,
      face_paise: paise,
      port_code: pickPort(random),
      issued_on: addDays(today, left - validDays),
      expires_on: addDays(today, left),
      suspended: false,
    };
  });
}

/** A number form that no other seed uses; it ends in 1 like all synthetic numbers. */
export function toInventoryNo(scheme: Scheme, count: number): string {
  return `${shelfPrefix}${scheme}/${String(count).padStart(5, "0")}1`;
}

/** Ends in 1, because the simulated registry gives endings such as 0404 a meaning. */
function makeCredit(
  random: () => number,
  { scheme, days, scripNo }: { scheme: Scheme; days: (offset: number) => IstDay; scripNo: string },
): SyntheticCredit {
  const drawn = Math.round(drawLognormal(random, shapes[scheme].faceMedian, faceSigma));
  const rupees = Math.min(Math.max(faceMinRupees, drawn), faceMaxRupees);
  const partlyUsed = random() < 0.05;
  const balance = partlyUsed ? Math.max(1, Math.floor(rupees * (0.1 + 0.8 * random()))) : rupees;
  const age = ageDays(random);
  return {
    scrip_no: scripNo,
    scheme,
    issued_paise: rupees * 100,
    face_paise: balance * 100,
    port_code: pickPort(random),
    issued_on: days(-age),
    expires_on: days(validDays - age),
    suspended: random() < 0.005,
  };
}

/** The texts of the days around today, formatted once. */
function dayTable(today: IstDay): (offset: number) => IstDay {
  const written = new Map<number, IstDay>();
  return (offset) => {
    const day = written.get(offset) ?? addDays(today, offset);
    written.set(offset, day);
    return day;
  };
}

function ageDays(random: () => number): number {
  const draw = random();
  if (draw < 0.7) return Math.floor(random() * 180);
  if (draw < 0.72) return validDays - Math.floor(random() * 60);
  return 180 + Math.floor(random() * (validDays - 60 - 180));
}

function pickPort(random: () => number): string {
  let left = random() * 100;
  const found = ports.find(([, share]) => (left -= share) < 0);
  return found?.[0] ?? "INNSA1";
}

function drawLognormal(random: () => number, median: number, sigma: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * random()));
}

/** sfc32, a generator with 128 bits of state: the same numbers on every machine. */
function openRandom(seed: string): () => number {
  const bytes = createHash("sha256").update(seed).digest();
  let a = bytes.readInt32LE(0);
  let b = bytes.readInt32LE(4);
  let c = bytes.readInt32LE(8);
  let d = bytes.readInt32LE(12);
  return () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  };
}

const monthsShown = 6;
const simulatedPorts = ["INNSA1", "INMUN1", "INMAA1", "INBOM4", "INDEL4"] as const;

/**
 * The simulated registry's list for an IEC: one credit per month, always the same. Each new month
 * adds one.
 */
export function simulateCredits(iec: string, today: IstDay): CreditFacts[] {
  return Array.from({ length: monthsShown }, (_, back) =>
    simulateCreditOfMonth(iec, today, back + 1),
  );
}

function simulateCreditOfMonth(iec: string, today: IstDay, monthsBack: number): CreditFacts {
  const first = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() - monthsBack);
  const month = first.toISOString().slice(0, 7);
  const bytes = createHash("sha256").update(`${iec} ${month}`).digest();
  const issuedOn = addDays(`${month}-01`, (bytes[0] ?? 0) % 28);
  const rupees = 50_000 + (bytes.readUInt32BE(4) % 1_950_000);
  return {
    // Ends in 1, because the simulated registry gives endings such as 0404 a meaning.
    scrip_no: `SIM${month.replace("-", "")}${bytes.toString("hex", 8, 12).toUpperCase()}1`,
    scheme: (bytes[1] ?? 0) % 3 === 0 ? "ROSCTL" : "RODTEP",
    issued_paise: rupees * 100,
    face_paise: rupees * 100,
    port_code: simulatedPorts[(bytes[2] ?? 0) % simulatedPorts.length] ?? null,
    issued_on: issuedOn,
    expires_on: addDays(issuedOn, validDays),
  };
}
