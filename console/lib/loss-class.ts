/** The class that shows a negative amount, which is a loss, in red. The minus sign shows the loss without colour. */
export function lossClass(amount: number | undefined): string {
  return amount !== undefined && amount < 0 ? 'text-bad' : ''
}
