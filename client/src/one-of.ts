type NamesOf<Kinds> = Kinds extends unknown ? keyof Kinds : never;

/**
 * One of several kinds. What only other kinds have is absent, so it can be asked for before the kind is
 * known, and a field that tells the kinds apart narrows.
 */
export type OneOf<Kinds, Names extends PropertyKey = NamesOf<Kinds>> = Kinds extends unknown
  ? Kinds & { [Name in Exclude<Names, keyof Kinds>]?: undefined }
  : never;
