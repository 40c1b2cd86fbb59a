import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { storedOption } from '../../settings/secret-options.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { saveOption } from '../../store/installation/options.ts'
import { countOpenCalls } from '../../store/ledger/limits.ts'
import type { Trx } from '../../store/store.ts'
import { type Actor, auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { checkOption } from './check-option.ts'

/**
 * Writes an option and its audit row. `value` and `before` are the new and the old text, in the form that `optionText`
 * returns. `after` returns the text of any option after the change; it is used to check that the options are
 * compatible. Throws ApiFailure if `value` is invalid.
 */
export async function writeOption(
  trx: Trx,
  { secrets, clock }: Pick<ApiDeps, 'secrets' | 'clock'>,
  actor: Actor,
  change: { key: OptionKey; value: string; before: string; after: (key: OptionKey) => string },
): Promise<void> {
  const { key, value, before, after } = change
  checkOption(key, value, after)
  const row = storedOption(secrets, key, value)
  await saveOption(trx, key, row.value, row.sealed)
  if (key === 'GroupLimits') await countOpenCalls(trx)
  const { secret }: OptionDefinition = optionDefinitions[key]
  const detail = secret ? 'changed' : `${shorten(before)} → ${shorten(value)}`
  await recordAudit(trx, auditEvent(clock, actor, 'option.update', key, detail))
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text)
}
