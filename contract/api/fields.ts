import * as z from 'zod/mini'

/** Largest quota that a person may enter; far below what a JavaScript number holds exactly. */
export const maxQuota = 1e15

/** Text of at most `max` characters, counted as people count them. */
export function text(max: number) {
  return z
    .string()
    .check(z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }))
}

/** As `text`, without blanks around it. */
export function trimmedText(max: number) {
  return z.string().check(
    z.trim(),
    z.refine((value) => [...value].length <= max, { error: `may have at most ${max} characters` }),
  )
}

/** A quota as entered. Balances of imported or overdrawn accounts may stand below zero and come back unchanged. */
export const quotaField = z.int().check(z.gte(-maxQuota), z.lte(maxQuota))

/** The positive number of a row. */
export const idField = z.int().check(z.positive())
