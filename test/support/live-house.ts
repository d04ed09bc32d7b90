// A complete house in live, as two people would have set it.

import type { Service } from "./service.ts";

export const liveHouse = {
  legal_name: "Mint House LLP",
  iec: "AAPFU0939F",
  pan: "AAPFU0939F",
  tan: "MUMM01234C",
  gstin: "27AAPFU0939F1ZV",
  address: ["12 Mint Road", "Mumbai 400001"],
  state_code: "27",
  signatory: "Asha Rao, Partner",
  bank: {
    beneficiary: "Mint House LLP",
    account_no: "50200012345678",
    ifsc: "HDFC0000001",
    bank: "HDFC Bank",
  },
} as const;

/** In force since long ago; the first live card takes it. */
export async function addLiveHouse({ ctx }: Pick<Service, "ctx">): Promise<void> {
  const { bank, ...house } = liveHouse;
  await ctx.db.pool.query(
    `insert into houses (
      environment, version, effective_from, legal_name, iec, pan, tan, gstin, address,
      state_code, signatory, bank_beneficiary, bank_account_no, bank_ifsc, bank_name, set_at, set_by
    )
    values (
      'live', 1, '2026-04-01', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now(), 'asha'
    )
    on conflict do nothing`,
    [...Object.values(house), ...Object.values(bank)],
  );
}
