import * as z from 'zod/mini'

/** The largest quota that a person may enter. It is far below the largest exact integer in JavaScript. */
export const maxQuota = 1e15

/** Text of at most `max` characters, counted in code points as JSON Schema does. */
export function text(max: number) {
  return z.string().check(
    z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }),
    z.meta({ maxLength: max }),
  )
}

/** Like `text`, with surrounding white space removed. */
export function trimmedText(max: number) {
  return z.string().check(
    z.trim(),
    z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }),
    z.meta({ description: `At most ${max} characters, without white space at the beginning and end.` }),
  )
}

/** A quota as entered. Balances of imported or overdrawn accounts may be negative and are accepted back unchanged. */
export const quotaField = z.int().check(z.gte(-maxQuota), z.lte(maxQuota))

/** The id of a row, a positive number. */
export const idField = z.int().check(z.positive())

const mailPattern =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** True for an ordinary email address in ASCII, which can be used in an email header unchanged. */
export function isMailAddress(value: string): boolean {
  return value.length <= 254 && mailPattern.test(value)
}

/** An email address. A space inside it can only be a `+` that a client wrote into a URL without encoding it. */
export const mailField = z.string().check(
  z.trim(),
  z.overwrite((value) => value.replaceAll(' ', '+')),
  z.refine(isMailAddress, { error: 'must be an email address' }),
  z.describe('An email address.'),
)
