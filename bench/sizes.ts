// How large measurements are. With `--quick` each is small: that shows that it runs, and is no figure.

export const isQuick = process.argv.includes("--quick");

/** What the environment says; otherwise the usual size, or the quick one. */
export function chooseSize(name: `BENCH_${string}`, usual: number, quick: number): number {
  return Number(process.env[name] ?? (isQuick ? quick : usual));
}
