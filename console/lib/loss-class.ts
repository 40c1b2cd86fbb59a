/** The class for an amount that is a loss if negative. The minus sign conveys the same without colour. */
export function lossClass(amount: number | undefined): string {
  return amount !== undefined && amount < 0 ? 'text-bad' : ''
}
