import { ApiFailure, tooManyRequests } from '../../http/api-failure.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { randomHex } from '../../lib/secrets/ids.ts'
import { languageOf, type MailLanguage } from '../../mails/texts.ts'
import { alertDestination, updateAlertDestination } from '../../store/accounts/alert-destinations.ts'
import { takeMailTurn } from '../../store/accounts/mail-limits.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * The limit on test messages per person, across all nodes. Test messages need a limit because they are sent
 * immediately.
 */
const testRule = { pauseSeconds: 2, limit: 10, windowSeconds: 3600 }

const texts = {
  en: { title: 'Test message', text: 'Alerts of {system} will arrive here.' },
  zh: { title: '测试消息', text: '{system} 的告警将发送到这里。' },
  ja: { title: 'テストメッセージ', text: '{system} のアラートはここに届きます。' },
}

interface Ask {
  ownerId: number
  personId: number
  id: number
  /** The Accept-Language header. */
  languages: string | undefined
}

/** Sends a test message and returns the result. */
export async function testDestination(
  { store, clock, settings, sendAlert }: Pick<ApiDeps, 'store' | 'clock' | 'settings' | 'sendAlert'>,
  { ownerId, personId, id, languages }: Ask,
): Promise<{ ok: boolean; error: string; elapsed_time: number }> {
  const destination = await alertDestination(store.read, ownerId, id)
  if (!destination) throw new ApiFailure('This destination does not exist.')
  const now = epochSeconds(clock)
  const wait = await store.write((trx) => takeMailTurn(trx, `alert test by user ${personId}`, testRule, now))
  if (wait > 0) throw tooManyRequests(wait)
  const { SystemName: system, MailLanguage } = settings.current()
  const language = languageOf(languages, MailLanguage as MailLanguage)
  const { title, text } = texts[language]
  const startMs = performance.now()
  const { error } = await sendAlert(
    destination,
    {
      id: `test-${randomHex(8)}`,
      event: 'test',
      title: `${system}: ${title}`,
      text: text.replace('{system}', () => system),
      rule: '',
      target: '',
      time: now,
      system,
    },
    language,
  )
  const fields = { last_time: now, last_error: error.slice(0, 300) }
  await store.write((trx) => updateAlertDestination(trx, id, fields))
  return { ok: error === '', error, elapsed_time: Math.round(performance.now() - startMs) }
}
