import type { AlertLanguage } from '../../contract/alert-text.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { AlertMessage } from '../outbound/alert-services.ts'
import type { Settings } from '../settings/settings.ts'
import { alertDestination } from '../store/accounts/alert-destinations.ts'
import { claimDeliveries, type DueDelivery, dueDeliveries, recordAttempt } from '../store/accounts/alert-history.ts'
import type { Store } from '../store/store.ts'
import type { AlertSender } from './alert-sender.ts'

export interface DeliverAlertsDeps {
  store: Store
  settings: { current(): Settings }
  clock: Clock
  send: AlertSender
}

/**
 * The pauses before the second and each further attempt, in seconds. If the attempt after the last pause fails, the
 * message counts as failed.
 */
const pauses = [60, 300, 1800, 7200]
/** For this time after a process has reserved a message, no other process sends it. */
const claimSeconds = 120
const dueAtOnce = 100
/** The number of destinations that are served at the same time. */
const width = 6
/**
 * If more messages than this are due for one destination, they are sent as one summary. Fewer messages are sent as a
 * summary if one of them was held during quiet hours.
 */
const mostSingle = 3
const shownInSummary = 20
const longestError = 300

/**
 * Sends the messages that are due, and returns their number. Several nodes can run this at the same time, because a
 * node reserves each message before it sends it.
 */
export async function deliverAlerts(deps: DeliverAlertsDeps): Promise<number> {
  const { store, clock } = deps
  const due = await dueDeliveries(store.read, epochSeconds(clock), dueAtOnce)
  const groups = [...Map.groupBy(due, ({ destination_id }) => destination_id).values()]
  await inParallel(groups, width, async (group) => {
    const isSummary = group.length > 1 && (group.length > mostSingle || group.some(({ status }) => status === 'held'))
    if (isSummary) return deliver(deps, group)
    for (const delivery of group) await deliver(deps, [delivery])
  })
  return due.length
}

/** Sends one message for one or several deliveries to one destination, and records the result. */
async function deliver(
  { store, settings, clock, send }: DeliverAlertsDeps,
  due: readonly DueDelivery[],
): Promise<void> {
  const claimed = await store.write((trx) => claimDeliveries(trx, due, epochSeconds(clock) + claimSeconds))
  const mine = due.filter(({ id }) => claimed.includes(id))
  const [first] = mine
  if (!first) return
  const destination = await alertDestination(store.read, first.owner_id, first.destination_id)
  // The language is that of the rule. If the rule was deleted, it is the language of emails.
  const language = first.language ?? (settings.current().MailLanguage as AlertLanguage)
  const result = destination
    ? await send(destination, messageOf(mine, language, settings.current().SystemName), language)
    : { error: 'The destination was deleted.', final: true }
  const attempts = 1 + Math.max(...mine.map((delivery) => delivery.attempts))
  const pause = result.final ? undefined : pauses[attempts - 1]
  const now = epochSeconds(clock)
  const outcome =
    result.error === ''
      ? { status: 'sent' as const }
      : pause === undefined
        ? { status: 'failed' as const }
        : { status: 'waiting' as const, next_at: now + pause }
  await store.write((trx) =>
    recordAttempt(
      trx,
      mine.map(({ id }) => id),
      first.destination_id,
      { ...outcome, last_time: now, error: result.error.slice(0, longestError) },
    ),
  )
}

/** The texts of a message that contains several alerts. */
const summaryTexts: Readonly<
  Record<AlertLanguage, { count(system: string, alerts: number): string; rest(more: number): string }>
> = {
  en: { count: (system, alerts) => `${system}: ${alerts} alerts`, rest: (more) => `and ${more} more` },
  zh: { count: (system, alerts) => `${system}：${alerts} 条告警`, rest: (more) => `还有 ${more} 条` },
  ja: { count: (system, alerts) => `${system}：${alerts} 件のアラート`, rest: (more) => `ほか ${more} 件` },
}

function messageOf(due: readonly DueDelivery[], language: AlertLanguage, system: string): AlertMessage {
  const [first, second] = due
  if (!first) throw new Error('a message needs a delivery')
  const { id, title, text, event, rule_name: rule, target, created_at: time } = first
  if (!second) return { id: String(id), event, title, text, rule, target, time, system }
  const lines = due.slice(0, shownInSummary).map((each) => `• ${each.title}${each.target ? ` (${each.target})` : ''}`)
  const more = due.length - lines.length
  const { count, rest } = summaryTexts[language]
  return {
    id: String(id),
    event: 'summary',
    title: count(system, due.length),
    text: [...lines, ...(more > 0 ? [rest(more)] : [])].join('\n'),
    rule: '',
    target: '',
    time: Math.max(...due.map(({ created_at }) => created_at)),
    system,
  }
}
