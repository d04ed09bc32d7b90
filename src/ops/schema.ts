// Building blocks of answer schemas. Names are wire names; `serialization.ts` maps the names of use
// cases to them.

import { type TArray, type TObject, type TProperties, Type } from "typebox";

import { environments } from "../kernel/caller.ts";
import { schemes } from "../kernel/scheme.ts";
import { count, maybeCount, maybeText, openEnum, paiseSum, text } from "../platform/http/wire.ts";

export { count, flag, maybeCount, maybeText, maybeTime, text } from "../platform/http/wire.ts";

export const sum = (description: string) => paiseSum(description);
export const day = (description: string) =>
  Type.String({ description: `${description} YYYY-MM-DD, IST.`, examples: ["2026-11-15"] });

/** JSON whose fields depend on the kind. */
export const anyObject = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });

/** A list under its name. */
export function wrapList<Name extends string, Item extends TObject>(
  name: Name,
  item: Item,
  description: string,
) {
  const list = { [name]: Type.Array(item, { description }) };
  return Type.Object(list as Record<Name, TArray<Item>>); // It has the one name.
}

/** A page of a list under its name, and where the next page begins. */
export function pageList<Name extends string, Item extends TObject>(
  name: Name,
  item: Item,
  description: string,
) {
  const next_cursor = maybeText("Ask for the next page with this; null on the last page.");
  return Type.Object({ ...wrapList(name, item, description).properties, next_cursor });
}

export const firmNames = Type.Record(Type.String(), Type.String(), {
  description: "The names of firms, by their ids.",
});

/** A page of a list over all desks. */
export function wrapPage<Name extends string, Item extends TObject>(
  name: Name,
  item: Item,
  description: string,
) {
  return Type.Object({ ...pageList(name, item, description).properties, names: firmNames });
}

/** A schema with more fields, under a name of its own. */
export function extend<Own extends TProperties, More extends TProperties>(
  { properties }: TObject<Own>,
  more: More,
  options: { readonly title: string; readonly description: string },
) {
  return Type.Object({ ...properties, ...more }, options);
}

/** An answer with one word, the outcome. */
export function outcome<const Words extends readonly string[]>(
  words: Words,
  description = "What came of it; proposed waits for a second person.",
) {
  return openEnum(words, description);
}

/** What there is by a number of days, band by band. */
export const DayBands = wrapList(
  "bands",
  Type.Object(
    {
      from_days: count("From this number of days."),
      before_days: maybeCount("Up to below this number; null in the last band."),
      count: count("How many there are."),
      face_paise: sum("What their faces add up to, in paise."),
    },
    { title: "DayBand", description: "What is within a number of days." },
  ),
  "By rising days, the empty ones too.",
);

export const environment = openEnum(environments, "live or sandbox.");
export const scheme = openEnum(schemes, "The scheme of the credits.");
/** What operators can do with a thing as it is. */
export const allowed = (acts: readonly string[]) =>
  Type.Array(openEnum(acts, "Something that can be done with it."), {
    description: "What operators can do with it now, each by the operation of that name.",
  });
export const version = count("The number of the version, raised by every change.");

export const Proposed = Type.Object(
  {
    outcome: Type.Literal("proposed", { description: "It waits for a second person." }),
    approval_id: text("The proposal, in `/ops/approvals`."),
  },
  { title: "Proposed", description: "It takes two people: nothing has happened yet." },
);

/** What became of an act that may take two people: its own words, or the proposal. */
export function doneOrProposed<const Words extends readonly string[]>(
  title: string,
  words: Words,
  description = "What came of it.",
) {
  // The words are an open set and would match a proposal, so that comes first.
  return Type.Union([Proposed, Type.Object({ outcome: openEnum(words, description) })], {
    title,
    description: "What came of it, or the proposal where it takes two people.",
  });
}
