/** Names what of a request could not be said to the upstream. */
export const droppedHeader = 'X-Tollgate-Dropped'

/** Clients take headers of some kilobytes, all of them together. */
const mostCharacters = 2000

/**
 * The names of what was left out, as one line of printable ASCII: callers choose the names of unknown fields freely, and
 * a header takes neither every sign nor every length. Other signs are percent-encoded.
 */
export function droppedNames(names: readonly string[]): string {
  let line = ''
  for (const [index, name] of names.entries()) {
    const next = (index === 0 ? '' : ', ') + encoded(name)
    if (line.length + next.length > mostCharacters)
      return `${line}${index === 0 ? '' : ', '}and ${names.length - index} more`
    line += next
  }
  return line
}

function encoded(name: string): string {
  return name.replace(/[^\x20-\x7e]|[%,]/gu, (sign) =>
    [...Buffer.from(sign)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}
