// Most faces are whole rupees. Only the others, the odd faces, decide in which paise a sum can end.
// So the reachable endings are found first: for each, the smallest sum and the credits that make
// it.

import { rupee } from "./rules.ts";
import type { Shelf } from "./shelf.ts";

/** With more odd faces nearly every ending is reachable. */
const oddMax = 128;

/** Odd credits that a bundle starts from. */
export type Start = { readonly sum: number; readonly rows: readonly number[] };

export type Endings = {
  /** By paise, from 0 to 99. */
  readonly starts: readonly (Start | undefined)[];
  /** All usable odd credits; undefined when there are too many. */
  readonly odd: readonly number[] | undefined;
};

type Link = { readonly sum: number; readonly row: number; readonly rest: Link | undefined };

export function findEndings(shelf: Shelf, requirement: number): Endings {
  const { rows, isAll } = shelf.oddUpTo(requirement, oddMax);
  let links: readonly (Link | undefined)[] = [{ sum: 0, row: 0, rest: undefined }];
  for (const row of rows) links = addCredit(links, { row, face: shelf.face(row), requirement });
  const starts = Array.from({ length: rupee }, (_, ending) => toStart(links[ending]));
  return { starts, odd: isAll ? rows : undefined };
}

type OneMore = { readonly row: number; readonly face: number; readonly requirement: number };

function addCredit(
  links: readonly (Link | undefined)[],
  { row, face, requirement }: OneMore,
): readonly (Link | undefined)[] {
  const more = [...links];
  for (const rest of links) {
    if (!rest || rest.sum + face > requirement) continue;
    const sum = rest.sum + face;
    const known = more[sum % rupee];
    if (!known || sum < known.sum) more[sum % rupee] = { sum, row, rest };
  }
  return more;
}

function toStart(link: Link | undefined): Start | undefined {
  if (!link) return undefined;
  const rows: number[] = [];
  for (let at = link; at.rest; at = at.rest) rows.push(at.row);
  return { sum: link.sum, rows };
}
