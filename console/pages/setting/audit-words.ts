import { clientWords } from '../../lib/client-words.ts'
import { formatTime } from '../../lib/format.ts'
import { text, textByKey } from '../../lib/text.ts'

/** The action in words; undefined if the console has no text for it. */
export function actionWords(action: string): string | undefined {
  return textByKey(`audit.do.${action}`)
}

const nouns = [
  'channel',
  'user',
  'token',
  'redemption',
  'channels',
  'redemptions',
  'logs',
  'rule',
  'destination',
  'request',
] as const

/**
 * The target of the action in words. The server's text is one of `channel 5`, `3 channels` and `logs`, or the key of an
 * option.
 */
export function targetWords(target: string): string {
  const words = target.split(' ')
  const noun = nouns.find((each) => words.includes(each))
  if (noun === undefined) return textByKey(`option.${target}`) ?? target
  return noun === 'logs'
    ? text('audit.of.logs')
    : text(`audit.of.${noun}`, { id: words.find((each) => each !== noun) ?? '' })
}

/**
 * For these actions, the details are a list of fields. For other actions, they are names and numbers, which are shown
 * unchanged.
 */
const writesFields =
  /^(?:channel\.(?:batch-edit|batch-enable|batch-disable|create|update)|(?:user|token|redemption)\.update|user\.(?:update-self|bind-email)|redemption\.delete)$/

/**
 * Finds field names. Quoted text is skipped. A semicolon separates the changes of several targets. Anything else that
 * looks like a field name counts as one, except JSON literals.
 */
const fields = /"(?:[^"\\]|\\.)*"|(; )|(^|(?<=; )| )(?!true\b|false\b|null\b)([a-z_]+)(=?)/g

/** Patterns for details that the server writes as a sentence. */
const purged = /^(?:(\d+) logs )?older than (\d+)$/
const keys = /^(\d+) keys$/
const copied = /^of channel (\d+)$/
/** A session that was ended. The client is the JSON text of a User-Agent header. */
const session = /^(.*), session="[\da-f]+" created_time=(\d+) client=("(?:[^"\\]|\\.)*")$/
const sessions = /^(.*), (\d+) sessions$/

/** The page's wording for a sentence from the server; undefined if the text is not such a sentence. */
function sentence(action: string, detail: string): string | undefined {
  const [, logs, before] = (action.startsWith('log.') && purged.exec(detail)) || []
  if (before !== undefined) {
    const time = formatTime(Number(before))
    return logs === undefined ? text('audit.older', { time }) : text('audit.logsOlder', { count: Number(logs), time })
  }
  const [, count] = (action.endsWith('-keys') && keys.exec(detail)) || []
  if (count !== undefined) return text('audit.keys', { count: Number(count) })
  const ended = endedSessions(action, detail)
  if (ended !== undefined) return ended
  const [, id] = (action === 'channel.copy' && copied.exec(detail)) || []
  return id === undefined ? undefined : text('audit.copyOf', { id })
}

function endedSessions(action: string, detail: string): string | undefined {
  const [, user = '', began, client = ''] = (action === 'user.end-session' && session.exec(detail)) || []
  if (began !== undefined) {
    const time = formatTime(Number(began))
    return text('audit.session', { name: user, client: clientWords(JSON.parse(client) as string), time })
  }
  const [, name = '', count] = (action === 'user.end-sessions' && sessions.exec(detail)) || []
  return count === undefined ? undefined : text('audit.sessions', { name, count: Number(count) })
}

/** The details of an action: the fields with their old and new values, with the names that the page uses. */
export function detailWords(action: string, detail: string): string {
  if (detail === 'changed') return text('audit.changed')
  if (!writesFields.test(action)) return sentence(action, detail) ?? detail
  return detail.replaceAll(
    fields,
    (whole, part: string | undefined, before: string | undefined, field: string, equals: string) => {
      if (part !== undefined) return text('audit.part')
      if (before === undefined) return whole
      const name = textByKey(`audit.field.${field}`) ?? field
      return (before && text('audit.next')) + (equals === '' ? name : text('audit.value', { name }))
    },
  )
}
