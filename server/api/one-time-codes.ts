import { tooManyRequests } from '../http/api-failure.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { type MailRule, takeMailTurn } from '../store/accounts/mail-limits.ts'
import { isCode, saveCode, useCode } from '../store/accounts/one-time-codes.ts'
import type { Db, Store, Trx } from '../store/store.ts'

/** How many minutes a code or a link in an email is valid. */
export const codeMinutes = 10
const maxAttempts = 5

/** The limit on emails of all kinds that this server sends to one address. */
const mailRule: MailRule = { pauseSeconds: 30, limit: 10, windowSeconds: 86_400 }

/** Codes that are sent to people. Each has one purpose: the verification of an address, or the reset of a password. */
export interface OneTimeCodes {
  /** Saves `code`, and invalidates earlier codes for this purpose and subject. */
  save(trx: Trx, purpose: 'verification' | 'reset', subject: string, code: string): Promise<void>
  /**
   * Returns true once for the right code, unless it has expired. The transaction must be committed even if this returns
   * false, because wrong attempts are counted.
   */
  use(trx: Trx, purpose: 'verification' | 'reset', subject: string, code: string): Promise<boolean>
  /** True if `use` would return true now. Nothing is counted or used up. */
  fits(db: Db, purpose: 'verification' | 'reset', subject: string, code: string): Promise<boolean>
}

export function createOneTimeCodes({ secrets, clock }: { secrets: Secrets; clock: Clock }): OneTimeCodes {
  // The subject is part of the hash, so that a code is worthless for another subject.
  const row = (purpose: string, subject: string, code: string) => {
    const lower = subject.toLowerCase()
    return { purpose, subject: lower, code_hash: secrets.fingerprint(`${lower}\0${code}`, `code ${purpose}`) }
  }
  return {
    save(trx, purpose, subject, code) {
      const now = epochSeconds(clock)
      return saveCode(trx, { ...row(purpose, subject, code), created_time: now, expires_time: now + codeMinutes * 60 })
    },
    use: (trx, purpose, subject, code) => useCode(trx, row(purpose, subject, code), epochSeconds(clock), maxAttempts),
    fits: (db, purpose, subject, code) => isCode(db, row(purpose, subject, code), epochSeconds(clock), maxAttempts),
  }
}

/**
 * Counts an email to an address, and refuses it if there have been too many. Call this before the address is looked up.
 */
export async function countMail({ store, clock }: { store: Store; clock: Clock }, email: string): Promise<void> {
  const wait = await store.write((trx) => takeMailTurn(trx, email.toLowerCase(), mailRule, epochSeconds(clock)))
  if (wait > 0) throw tooManyRequests(wait)
}
