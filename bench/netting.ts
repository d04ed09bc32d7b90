// Whether a group is netted quickly and well: against a MILP solver on the same model, and by how
// often the least duty uncovered is proven. What is compared takes turns, group by group.

import highsModule from "highs";

import { assignCredits } from "../src/netting/assign-credits.ts";
import { none, type Assignment, type NettingBoard, buildBoard } from "../src/netting/rules.ts";
import { type GroupSize, marketGroup } from "../test/support/market-group.ts";
import { drawFrom } from "../test/support/market.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, type Row, spread } from "./support.ts";

const seed = 20_261_115;
const solverSeconds = chooseSize("BENCH_SECONDS", 30, 1);
/** Of each size. */
const casesMax = chooseSize("BENCH_CASES", 100, 1);
const warmUps = 2;
// The types describe the CommonJS form; what is imported is the loader itself.
const loadHighs = highsModule as unknown as typeof highsModule.default;

type Sized = { readonly size: GroupSize; readonly cases: number };

/** The last is what the service must stand; the solver is given the same time for each. */
const solved: readonly Sized[] = [
  { size: { firms: 3, credits: 14, requirements: 4 }, cases: 5 },
  { size: { firms: 5, credits: 80, requirements: 8 }, cases: 3 },
  { size: { firms: 20, credits: 10_000, requirements: 20 }, cases: 3 },
];

const proven: readonly Sized[] = [
  { size: { firms: 3, credits: 14, requirements: 4 }, cases: 100 },
  { size: { firms: 5, credits: 80, requirements: 8 }, cases: 20 },
  { size: { firms: 10, credits: 1_000, requirements: 30 }, cases: 20 },
  { size: { firms: 20, credits: 10_000, requirements: 100 }, cases: 5 },
];

const atMost = ({ size, cases }: Sized): Sized => ({ size, cases: Math.min(cases, casesMax) });

export async function netting(): Promise<void> {
  const rows: Row[] = [];
  for (const sized of solved) rows.push(await againstSolver(atMost(sized)));
  printTable(rows);
  for (const sized of proven) printRemark(provenLine(atMost(sized)));
}

async function againstSolver({ size, cases }: Sized): Promise<Row> {
  const draw = drawFrom(seed);
  for (let number = 0; number < warmUps; number++)
    runAssignment(buildBoard(marketGroup(draw, size)));
  const results: { ours: number; theirs: number; gap: number; stopped: boolean }[] = [];
  for (let number = 0; number < cases; number++) {
    // A solver that ran out of memory cannot be asked again.
    const highs = await loadHighs();
    const board = buildBoard(marketGroup(draw, size));
    const ours = timed(() => runAssignment(board));
    const model = writeMilp(board);
    const options = { time_limit: solverSeconds, mip_rel_gap: 0, mip_abs_gap: 0.5 };
    const theirs = timed(() => attempt(() => highs.solve(model, options)));
    const solution = theirs.result;
    const covered = solution ? coveredBy(board, solution.Columns) : 0;
    results.push({
      ours: ours.ms,
      theirs: theirs.ms,
      gap: covered - sumCovered(board, ours.result),
      stopped: solution?.Status !== "Optimal",
    });
  }
  const ratios = results.map(({ ours, theirs }) => theirs / ours);
  const worse = results.filter(({ gap }) => gap > 0).length;
  const stopped = results.filter((result) => result.stopped).length;
  return {
    what: `${formatTitle(size)}; uncovered larger in ${worse} of ${cases}`,
    ours: formatMs(median(results.map(({ ours }) => ours))),
    yardstick: `${formatMs(median(results.map(({ theirs }) => theirs)))} HiGHS, ${stopped} stopped`,
    ratio: median(ratios),
    spread: spread(ratios),
    goal: "≥ 1, never larger",
  };
}

function provenLine({ size, cases }: Sized): string {
  const draw = drawFrom(seed);
  const assignments = Array.from({ length: cases }, () => {
    const board = buildBoard(marketGroup(draw, size));
    return timed(() => runAssignment(board));
  });
  const count = assignments.filter(({ result }) => result.isProven).length;
  const slowest = Math.max(...assignments.map(({ result }) => result.sliceMs));
  return (
    `${formatTitle(size)}: proven ${count} of ${cases}, ` +
    `median ${formatMs(median(assignments.map(({ ms }) => ms)))}, longest slice ${formatMs(slowest)}`
  );
}

function runAssignment(board: NettingBoard): Assignment & { readonly sliceMs: number } {
  const slices = assignCredits(board);
  let sliceMs = 0;
  for (;;) {
    const { ms, result } = timed(() => slices.next());
    sliceMs = Math.max(sliceMs, ms);
    if (result.done) return { ...result.value, sliceMs };
  }
}

/** One binary for each credit and requirement that it may pay, in whole rupees. */
function writeMilp({
  credits,
  requirements,
  creditKinds,
  requirementsByKind,
}: NettingBoard): string {
  const names: string[] = [];
  const terms: string[] = [];
  const once: string[] = [];
  const within = requirements.map((): string[] => []);
  credits.forEach(({ face_paise }, credit) => {
    const places = requirementsByKind[creditKinds[credit] ?? 0] ?? [];
    const own = places
      .filter((place) => face_paise <= (requirements[place]?.amount_paise ?? 0))
      .map((place) => {
        const name = `x${credit}_${place}`;
        const term = `${face_paise / 100} ${name}`;
        terms.push(term);
        within[place]?.push(term);
        return name;
      });
    names.push(...own);
    if (own.length > 0) once.push(` c${credit}: ${own.join(" + ")} <= 1`);
  });
  const amounts = within.flatMap((paying, place) => {
    const rupees = Math.floor((requirements[place]?.amount_paise ?? 0) / 100);
    return paying.length > 0 ? [` r${place}: ${paying.join("\n + ")} <= ${rupees}`] : [];
  });
  return [
    `maximize\n o: ${terms.join("\n + ")}`,
    `subject to\n${[...once, ...amounts].join("\n")}`,
    `binary\n${names.join("\n")}\nend\n`,
  ].join("\n");
}

type Columns = Readonly<Record<string, object>>;

/** What the solver covers; to pay more than is owed, within its tolerance, is to cover nothing. */
function coveredBy({ credits, requirements }: NettingBoard, columns: Columns): number {
  const covered = requirements.map(() => 0);
  for (const [name, column] of Object.entries(columns)) {
    if (!("Primal" in column) || Number(column.Primal) < 0.5) continue;
    const [credit = 0, place = 0] = name.slice(1).split("_").map(Number);
    covered[place] = (covered[place] ?? 0) + (credits[credit]?.face_paise ?? 0);
  }
  const isPlan = covered.every((paise, place) => paise <= (requirements[place]?.amount_paise ?? 0));
  return isPlan ? covered.reduce((sum, paise) => sum + paise, 0) : 0;
}

function sumCovered({ credits }: NettingBoard, { paid }: Assignment): number {
  return credits.reduce(
    (sum, { face_paise }, credit) => sum + (paid[credit] === none ? 0 : face_paise),
    0,
  );
}

/** Undefined when the solver gave up by throwing. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function timed<T>(work: () => T): { readonly ms: number; readonly result: T } {
  const startedAt = performance.now();
  const result = work();
  return { ms: performance.now() - startedAt, result };
}

function formatTitle({ firms, credits, requirements }: GroupSize): string {
  return `netting, ${credits} credits, ${firms} firms, ${requirements} requirements`;
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${ms.toFixed(0)} ms`;
}
