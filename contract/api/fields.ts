import * as z from 'zod/mini'

/** Largest quota that a person may enter; far below what a JavaScript number holds exactly. */
export const maxQuota = 1e15

/** Text of at most `max` characters, counted as people (and JSON Schema) count them. */
export function text(max: number) {
  return z.string().check(
    z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }),
    z.meta({ maxLength: max }),
  )
}

/** As `text`, without blanks around it. */
export function trimmedText(max: number) {
  return z.string().check(
    z.trim(),
    z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }),
    z.meta({ description: `At most ${max} characters without the blanks around.` }),
  )
}

/** A quota as entered. Balances of imported or overdrawn accounts may stand below zero and come back unchanged. */
export const quotaField = z.int().check(z.gte(-maxQuota), z.lte(maxQuota))

/** The positive number of a row. */
export const idField = z.int().check(z.positive())

const mailPattern =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** True for an e-mail address of the everyday form, in ASCII: it can be put into a mail's head as it is. */
export function isMailAddress(value: string): boolean {
  return value.length <= 254 && mailPattern.test(value)
}

/** An e-mail address. A blank inside can only be a + that a client put into an address line unencoded. */
export const mailField = z.string().check(
  z.trim(),
  z.overwrite((value) => value.replaceAll(' ', '+')),
  z.refine(isMailAddress, { error: 'must be an e-mail address' }),
  z.describe('An e-mail address.'),
)
