// Whether the cover search is quick, stays quick as the book grows, and misses nothing: against a
// MILP solver on the same question, a large book against a small one, and known optima. What is
// compared takes turns, requirement by requirement, so that a busy machine slows both alike.

import highsModule from "highs";

import { chooseBundle, chooseOwnCredits } from "../src/cover/choose-bundle.ts";
import { OfferIndex } from "../src/cover/offer-index.ts";
import { type Bundle, type Offer, type BundleProof, stepsQuick } from "../src/cover/rules.ts";
import { searchColumns } from "../src/cover/search-cover.ts";
import { bpsOfPar } from "../src/kernel/money.ts";
import {
  drawFrom,
  marketOffers,
  marketRequirement,
  plantedRequirement,
} from "../test/support/market.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, type Row, spread } from "./support.ts";

const seed = 20_261_115;
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const requirementsPerRound = 200;
const solvedCases = chooseSize("BENCH_CASES", 8, 1);
const warmUps = 200;
const hostileWarmUps = 40;
const solverSeconds = 10;
const plantedCases = chooseSize("BENCH_PLANTED", 1_000, 10);
const plantedSizes = [50, 200, 2_000, 10_000, 100_000] as const;
// The types describe the CommonJS form; what is imported is the loader itself.
const loadHighs = highsModule as unknown as typeof highsModule.default;

const hugeBook = chooseSize("BENCH_OFFERS", 5_000_000, 100_000);
const changes = 20_000;

export async function cover(): Promise<void> {
  const proofs = new Tally();
  const rows = [
    ...(await againstSolver()),
    ...againstUsual(),
    ...againstSmaller({ large: 100_000, small: 10_000, goal: "≤ 1", proofs }),
    againstKnown(),
    ...againstSmaller({ large: hugeBook, small: 50_000, goal: "near 1", proofs }),
  ];
  printTable(rows);
  proofs.print();
}

/** Both are asked for the exact optimum; the solver is stopped when it takes too long. */
async function againstSolver(): Promise<Row[]> {
  const highs = await loadHighs();
  const draw = drawFrom(seed);
  const offers = [...marketOffers(draw, 2_000)];
  const index = buildIndex(offers);
  const options = { time_limit: solverSeconds, mip_rel_gap: 0, mip_abs_gap: 0.5 };
  highs.solve(writeMilp(offers.slice(0, 20), marketRequirement(draw)), options);
  for (let number = 0; number < warmUps; number++) {
    chooseBundle(index, { requirement_paise: marketRequirement(draw) });
    chooseOwnCredits(offers, marketRequirement(draw));
  }
  const cases: { ours: number; list: number; theirs: number; gap: number; stopped: boolean }[] = [];
  for (let number = 0; number < solvedCases; number++) {
    const requirement = marketRequirement(draw);
    const model = writeMilp(offers, requirement);
    const ours = timeShortest(() => chooseBundle(index, { requirement_paise: requirement }));
    const list = timeShortest(() => chooseOwnCredits(offers, requirement));
    const theirs = timed(() => highs.solve(model, options));
    const chosen = offers.filter((_, at) => isChosen(theirs.result.Columns[`x${at}`]));
    const residual = requirement - sumFaces(chosen);
    cases.push({
      ours: ours.ms,
      list: list.ms,
      theirs: theirs.ms,
      // A sum above the requirement is the solver's tolerance at work and no bundle.
      gap: residual < 0 ? 0 : ours.result.residual_paise - residual,
      stopped: theirs.result.Status !== "Optimal",
    });
  }
  const worse = cases.filter(({ gap }) => gap > 0).length;
  const stopped = cases.filter((solved) => solved.stopped).length;
  const row = (what: string, pick: (solved: (typeof cases)[number]) => number): Row => {
    const ratios = cases.map((solved) => solved.theirs / pick(solved));
    return {
      what: `${what}; residual larger in ${worse} of ${cases.length}`,
      ours: formatMs(median(cases.map(pick))),
      yardstick: `${formatMs(median(cases.map(({ theirs }) => theirs)))} HiGHS, ${stopped} stopped`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≥ 1,000, the worst too",
    };
  };
  return [
    row("cover, 2,000 credits", ({ ours }) => ours),
    { ...row("the same from a plain list", ({ list }) => list), goal: "≥ 100" },
  ];
}

/** Faces that no two sums of meet, and few faces that very many credits share. */
const hostileFaces = {
  "odd paise": (at: number) => 1_000_003 + 7_919 * at,
  "any paise": (at: number) => 1_000_003 + ((at * 48_271 * 16_807) % 99_999_989),
  "forty odd faces": (at: number) => 1_000_003 + 17_011 * (at % 40) ** 2,
  "five odd faces": (at: number) =>
    [1_000_003, 2_500_007, 7_300_019, 10_000_033, 33_300_051][at % 5],
  "five faces": (at: number) => [1_000_000, 2_500_000, 7_300_000, 10_000_000, 33_300_000][at % 5],
} as const;

/**
 * The slow searches on faces that were chosen to be hard, beside those on the market's: what is done
 * while others wait, and what a thread does after that.
 */
function againstUsual(): Row[] {
  const size = 2_000;
  const draw = drawFrom(seed);
  const market = [...marketOffers(draw, size)];
  const usual = buildIndex(market);
  const searches = {
    "on the event loop": (index: OfferIndex, requirement_paise: number) =>
      chooseBundle(index, { requirement_paise, steps: stepsQuick }).proof,
    "in a thread": searchAsThread,
  };
  return Object.entries(hostileFaces).flatMap(([name, faceAt]) => {
    const hostile = buildIndex(
      market.map((offer, at) => ({ ...offer, face_paise: faceAt(at) ?? offer.face_paise })),
    );
    return Object.entries(searches).map(([where, search]): Row => {
      const times = { usual: [] as number[], hostile: [] as number[] };
      let proven = 0;
      for (let number = 0; number < hostileWarmUps + requirementsPerRound; number++) {
        const asked = { requirement_paise: marketRequirement(draw) };
        const ofMarket = timeShortest(() => chooseBundle(usual, asked));
        const requirement_paise = 1_000_000 + Math.floor(draw() * 100_000_000);
        const ofHostile = timeShortest(() => search(hostile, requirement_paise));
        if (number < hostileWarmUps) continue;
        times.usual.push(ofMarket.ms);
        times.hostile.push(ofHostile.ms);
        if (ofHostile.result?.residual === "optimal") proven++;
      }
      return {
        what: `cover, ${name}, ${where}, p99; proven in ${proven} of ${requirementsPerRound}`,
        ours: formatMs(p99(times.hostile)),
        yardstick: `${formatMs(p99(times.usual))} with the market's faces`,
        ratio: p99(times.hostile) / p99(times.usual),
        spread: `median ${formatMs(median(times.hostile))}`,
        goal: "≤ 10",
      };
    });
  });
}

/** All that a search in a thread takes: the offers copied there, an index made of them, the search. */
function searchAsThread(index: OfferIndex, requirement_paise: number): BundleProof | undefined {
  const columns = index.columns(requirement_paise, index.size);
  if (!columns) return undefined;
  const { rows: _, ...sent } = columns;
  const tier = {
    least_paise: 1,
    most_paise: requirement_paise,
    price_max_bps: bpsOfPar,
    price_min_bps: 0,
    dealt_at: { price_bps: bpsOfPar },
  };
  const wanted = [{ requirement_paise, tiers: [tier] }];
  const asked = structuredClone({ columns: sent, wanted });
  return searchColumns(asked, { isAsked: () => false })[0]?.proof;
}

type Timed<T> = { readonly ms: number; readonly result: T };

/**
 * A search does the same work each time; what a run takes beyond the shortest is the collector's, the
 * compiler's or another process's.
 */
function timeShortest<T>(work: () => T): Timed<T> {
  const runs = Array.from({ length: 3 }, () => timed(work));
  return runs.reduce((least, other) => (other.ms < least.ms ? other : least));
}

function writeMilp(offers: readonly Offer[], requirement: number): string {
  const terms = offers.map(({ face_paise }, at) => `${face_paise / 100} x${at}`).join("\n + ");
  const names = offers.map((_, at) => `x${at}`).join("\n");
  const limit = Math.floor(requirement / 100);
  return `maximize\n o: ${terms}\nsubject to\n c: ${terms} <= ${limit}\nbinary\n${names}\nend\n`;
}

function isChosen(column: object | undefined): boolean {
  return column !== undefined && "Primal" in column && Number(column.Primal) > 0.5;
}

type Sizes = {
  readonly large: number;
  readonly small: number;
  readonly goal: string;
  readonly proofs: Tally;
};

function againstSmaller({ large, small, goal, proofs }: Sizes): Row[] {
  const few = new OfferIndex();
  few.load(marketOffers(drawFrom(seed), small), small);
  const many = new OfferIndex();
  const offers = [...marketOffers(drawFrom(seed), large)];
  const loading = timed(() => many.load(offers, large));
  const changing = timed(() => changeOften(many, offers));
  const draw = drawFrom(seed);
  const taken: { few: number[]; many: number[] }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const times = { few: [] as number[], many: [] as number[] };
    for (let number = 0; number < requirementsPerRound; number++) {
      const requirement_paise = marketRequirement(draw);
      const searches = [
        () => times.few.push(proofs.time(small, () => chooseBundle(few, { requirement_paise }))),
        () => times.many.push(proofs.time(large, () => chooseBundle(many, { requirement_paise }))),
      ];
      for (const search of number % 2 === 0 ? searches : searches.toReversed()) search();
    }
    if (round > 0) taken.push(times); // The first round warms up.
  }
  const row = (what: string, pick: (times: readonly number[]) => number): Row => {
    const ratios = taken.map((times) => pick(times.many) / pick(times.few));
    return {
      what: `cover, ${large} credits, ${what}`,
      ours: formatMs(pick(taken.flatMap((times) => times.many))),
      yardstick: `${formatMs(pick(taken.flatMap((times) => times.few)))} at ${small}`,
      ratio: pick(taken.flatMap(({ many }) => many)) / pick(taken.flatMap(({ few }) => few)),
      spread: spread(ratios),
      goal,
    };
  };
  printRemark(
    `index of ${large}: loaded in ${formatMs(loading.ms)}, ` +
      `${(many.bytes / large).toFixed(0)} bytes per credit, ` +
      `${((1_000 * changing.ms) / (2 * changes)).toFixed(1)} µs per put or remove`,
  );
  return [row("median", median), row("p99", p99)];
}

function changeOften(index: OfferIndex, offers: readonly Offer[]): void {
  const changed = offers.filter((_, at) => at % Math.ceil(offers.length / changes) === 0);
  for (const { scrip_no } of changed) index.remove(scrip_no);
  for (const offer of changed) index.put(offer);
}

/** Each requirement is the sum of some credits and less than a rupee more: that is its residual. */
function againstKnown(): Row {
  const draw = drawFrom(seed);
  const books = plantedSizes.map((size) => [...marketOffers(draw, size)]);
  const indexes = books.map(buildIndex);
  let gaps = 0;
  let covered = 0;
  let coverable = 0;
  for (let number = 0; number < plantedCases; number++) {
    const at = number % books.length;
    const book = books[at] ?? [];
    const { requirement_paise, residual_paise } = plantedRequirement(draw, book);
    const bundle = chooseBundle(indexes[at] ?? new OfferIndex(), { requirement_paise });
    if (bundle.residual_paise !== residual_paise) gaps++;
    covered += bundle.covered_paise;
    coverable += requirement_paise - residual_paise;
  }
  return {
    what: `cover, ${plantedCases} known optima`,
    ours: `${gaps} with a gap`,
    yardstick: "the optimum",
    ratio: covered / coverable,
    spread: `${plantedSizes[0]}–${plantedSizes.at(-1)} credits`,
    goal: "0 with a gap",
  };
}

/** How often what was proven, by the size of the book. */
class Tally {
  readonly #counts = new Map<
    number,
    { all: number; optimal: number; fewest: number; earliest: number }
  >();

  time(size: number, search: () => Bundle): number {
    const { ms, result } = timed(search);
    const counts = this.#counts.get(size) ?? { all: 0, optimal: 0, fewest: 0, earliest: 0 };
    this.#counts.set(size, counts);
    counts.all++;
    if (result.proof.residual === "optimal") counts.optimal++;
    if (result.proof.fewest === "proven") counts.fewest++;
    if (result.proof.earliest === "proven") counts.earliest++;
    return ms;
  }

  print(): void {
    for (const [size, { all, optimal, fewest, earliest }] of this.#counts) {
      const share = (count: number) => `${((100 * count) / all).toFixed(1)} %`;
      printRemark(
        `proven at ${size} credits: residual ${share(optimal)}, fewest ${share(fewest)}, ` +
          `earliest ${share(earliest)}`,
      );
    }
  }
}

function buildIndex(offers: readonly Offer[]): OfferIndex {
  const index = new OfferIndex();
  index.load(offers, offers.length);
  return index;
}

function sumFaces(offers: readonly Offer[]): number {
  return offers.reduce((sum, { face_paise }) => sum + face_paise, 0);
}

function timed<T>(work: () => T): Timed<T> {
  const startedAt = performance.now();
  const result = work();
  return { ms: performance.now() - startedAt, result };
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(3)} ms` : `${ms.toFixed(0)} ms`;
}
