/** The class of an amount that is a loss if it is negative. The minus sign says the same without a colour. */
export function lossClass(amount: number | undefined): string {
  return amount !== undefined && amount < 0 ? 'text-bad' : ''
}
