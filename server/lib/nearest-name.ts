/** The maximum length of a name for which a similar name is looked up. */
const longest = 60

/** The known name that is most similar to a misspelled name. Undefined if no name is similar enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > longest) return undefined
  const wanted = name.toLowerCase()
  const most = Math.max(1, Math.floor(name.length / 3))
  let best: { name: string; distance: number } | undefined
  for (const each of known) {
    const distance = editDistance(wanted, each.toLowerCase())
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name: each, distance }
  }
  return best?.name
}

/**
 * The number of letters that must be inserted, removed, replaced or swapped with their neighbour to get from one name
 * to the other.
 */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    const above = rows[i - 1] ?? []
    for (let j = 1; j <= to.length; j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1
      let least = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, (rows[i - 2]?.[j - 2] ?? 0) + 1)
      row.push(least)
    }
    rows.push(row)
  }
  return rows[from.length]?.[to.length] ?? 0
}
