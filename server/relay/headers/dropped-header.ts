/** The response header that lists the request's fields that were dropped or renamed for the upstream. */
export const droppedHeader = 'X-Tollgate-Dropped'

/** Clients accept only a few kilobytes of headers in total. */
const mostCharacters = 2000

/**
 * The names of dropped fields, as one line of printable ASCII. Callers choose the names of unknown fields freely, but a
 * header cannot contain every character, and its length is limited. All characters except printable ASCII, and also `%`
 * and `,`, are percent-encoded.
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
