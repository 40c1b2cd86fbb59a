/** The unit of an upstream's balance: a currency, ten-thousandths of a yuan, or a plain number. */
export type BalanceUnit = 'dollar' | 'yuan' | 'yuan/10000' | 'number'

/** The channel types whose upstream can report its balance, each with the unit of that balance. */
export const balanceUnits: Readonly<Record<number, BalanceUnit>> = {
  1: 'dollar',
  4: 'yuan',
  5: 'yuan/10000',
  8: 'dollar',
  10: 'number',
  12: 'yuan',
  13: 'number',
  20: 'dollar',
  25: 'yuan',
  36: 'yuan',
  44: 'yuan',
}
