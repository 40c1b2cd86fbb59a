import type { CommandConfig } from '../../config.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Store } from '../../store/store.ts'

/** The result of a check. `advice` says what to do, if anything. */
export interface Finding {
  state: 'ok' | 'warn' | 'fail'
  text: string
  advice?: string
}

/** The installation that checks examine. */
export interface Patient {
  config: CommandConfig
  store: Store
  secrets: Secrets
  settings: Settings
  /** Aborted when the time for the check is over. */
  signal: AbortSignal
}

export interface Check {
  name: string
  run(patient: Patient): Promise<Finding[]>
}

export const ok = (text: string): Finding => ({ state: 'ok', text })
export const warn = (text: string, advice: string): Finding => ({ state: 'warn', text, advice })
export const fail = (text: string, advice: string): Finding => ({ state: 'fail', text, advice })

const limitMs = 20_000

/** Runs a check. If the check itself fails or takes too long, this is a finding, too. */
export async function checked(check: Check, patient: Omit<Patient, 'signal'>): Promise<Finding[]> {
  const signal = AbortSignal.timeout(limitMs)
  const late = new Promise<Finding[]>((resolve) =>
    signal.addEventListener('abort', () =>
      resolve([
        warn(`The check did not end within ${limitMs / 1000} seconds.`, 'Run it again when the machine is idle.'),
      ]),
    ),
  )
  const run = check
    .run({ ...patient, signal })
    .catch((error: unknown) => [fail(`The check failed: ${messageOf(error)}.`, 'See the message.')])
  return Promise.race([run, late])
}

/** Joins names for a sentence. Only the first five are listed. */
export function someOf(names: readonly string[]): string {
  const more = names.length - 5
  return more > 0 ? `${names.slice(0, 5).join(', ')} and ${more} more` : names.join(', ')
}
