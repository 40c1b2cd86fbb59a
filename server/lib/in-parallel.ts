/**
 * Does the work for all items, for at most `width` of them at a time. The work starts in the order of the items.
 * Rejects with the first failure.
 */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
}
