/**
 * The numbers of the first and the last page, the current page, and one page on each side of it. 0 stands for a gap.
 */
export function pageNumbers(page: number, pages: number): number[] {
  const shown = [1, page - 1, page, page + 1, pages].filter((each) => each >= 1 && each <= pages)
  const numbers = [...new Set(shown)].sort((a, b) => a - b)
  return numbers.flatMap((each, index) => {
    const before = numbers[index - 1]
    if (before === undefined || each - before === 1) return [each]
    return each - before === 2 ? [each - 1, each] : [0, each]
  })
}
