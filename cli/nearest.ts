/** A mistyped word has at most a third of its letters wrong. */
const wrongShare = 3;

/** The word that was most likely meant; undefined when none is near. */
export function findNearest(typed: string, words: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / wrongShare));
  const near = words
    .map((word) => ({ word, distance: countEdits(typed.toLowerCase(), word) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((one, other) => one.distance - other.distance);
  return near[0]?.word;
}

/** How many letters must be added, removed, changed or swapped to make one text of the other. */
function countEdits(one: string, other: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      const changed = (above[at - 1] ?? 0) + (isSame ? 0 : 1);
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      const swapped = row > 1 && at > 1 && isSwapped ? (twoAbove[at - 2] ?? 0) + 1 : Infinity;
      line.push(Math.min(changed, swapped, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    [twoAbove, above] = [above, line];
  }
  return above[other.length] ?? 0;
}
