import type { Incident, ServiceFamily, ServiceState, StatusPage } from '../../../contract/api/status-page.ts'
import { familyOf, type ModelFamily, modelFamilies } from '../../../contract/model-families.ts'
import type { SlotAvailability } from '../../store/usage/availability.ts'
import { addCounts, type Counts, stateOf, uptimeOf } from '../service-state.ts'

const shownDays = 90
const daySeconds = 86_400
const hourSeconds = 3600
const dayHours = 24
const noCalls: Counts = { calls: 0, failed: 0 }

/**
 * The ranges that the page uses, in hours since 1970. `days` is the last 90 days. `hours` is today and the hour before.
 */
export function shownRanges(nowSeconds: number) {
  const today = Math.floor(nowSeconds / daySeconds)
  const to = Math.floor(nowSeconds / hourSeconds) + 1
  return {
    days: { from: (today - shownDays + 1) * dayHours, to },
    hours: { from: today * dayHours - 1, to },
  }
}

/**
 * Computes the status page from the calls for each model. The page contains neither numbers of calls nor names of
 * channels, models or users. `served` contains the models that visitors may see. The families of these models are shown
 * even without calls.
 */
export function statusPage(
  rows: readonly SlotAvailability[],
  served: readonly string[],
  nowSeconds: number,
): StatusPage {
  const { days, hours } = shownRanges(nowSeconds)
  // Failed calls for models that no channel serves have no model name, so they belong to no family.
  const byFamily = Map.groupBy(
    rows.filter(({ model }) => model !== ''),
    ({ model }) => familyOf(model).id,
  )
  const shown = new Set([...byFamily.keys(), ...served.map((model) => familyOf(model).id)])
  const found = modelFamilies
    .filter(({ id }) => shown.has(id))
    .map((family) => familyPage(family, byFamily.get(family.id) ?? [], { days, hours }))
  return {
    updated: nowSeconds,
    state: worstOf(found.map(({ page }) => page.state)),
    first_day: days.from * hourSeconds,
    families: found.map(({ page }) => page),
    incidents: found.flatMap(({ incidents }) => incidents).sort((a, b) => b.from - a.from),
  }
}

function familyPage(
  family: ModelFamily,
  rows: readonly SlotAvailability[],
  { days, hours }: ReturnType<typeof shownRanges>,
): { page: ServiceFamily; incidents: Incident[] } {
  const countsOf = (grain: SlotAvailability['grain']) => {
    const bySlot = Map.groupBy(
      rows.filter((row) => row.grain === grain),
      ({ slot }) => slot,
    )
    return (slot: number) => addCounts(bySlot.get(slot) ?? [])
  }
  const [ofDay, ofHour] = [countsOf('day'), countsOf('hour')]
  const dayCounts = Array.from({ length: shownDays }, (_, index) => ofDay(days.from / dayHours + index))
  const states = Array.from({ length: hours.to - hours.from }, (_, index) => stateOf(ofHour(hours.from + index)))
  const now = addCounts([ofHour(hours.to - 2), ofHour(hours.to - 1)])
  const today = dayCounts.at(-1) ?? noCalls
  const lately = stateOf(now)
  // If there were too few calls recently, today's state is the best estimate.
  const state = lately === 'none' ? stateOf(today) : lately
  return {
    page: {
      id: family.id,
      name: family.name,
      state,
      uptime: uptimeOf(addCounts(dayCounts)),
      days: dayCounts.map((counts) => ({ state: stateOf(counts), uptime: uptimeOf(counts) })),
    },
    // The first hour of `states` belongs to yesterday and is not shown.
    incidents: incidentsOf(family.name, states.slice(1), hours.from + 1),
  }
}

/** Consecutive hours in which calls failed, as incidents. `firstHour` is in hours since 1970. */
function incidentsOf(family: string, states: readonly ServiceState[], firstHour: number): Incident[] {
  const incidents: Incident[] = []
  let began: number | undefined
  for (const [index, state] of [...states, undefined].entries()) {
    const isBad = state === 'degraded' || state === 'down'
    if (isBad) began ??= index
    if (isBad || began === undefined) continue
    const worst = states.slice(began, index).includes('down') ? 'down' : 'degraded'
    const isOver = index < states.length
    const from = (firstHour + began) * hourSeconds
    const to = isOver ? (firstHour + index) * hourSeconds : 0
    incidents.push({ family, state: worst, from, to, text: sentence(family, worst, from, to) })
    began = undefined
  }
  return incidents
}

function sentence(family: string, state: ServiceState, from: number, to: number): string {
  const what = state === 'down' ? `Most requests to ${family} failed` : `Some requests to ${family} failed`
  const hour = (seconds: number) => new Date(seconds * 1000).toISOString().slice(11, 16)
  return to === 0 ? `${what} from ${hour(from)} UTC on.` : `${what} between ${hour(from)} and ${hour(to)} UTC.`
}

const severity: readonly ServiceState[] = ['none', 'up', 'degraded', 'down']

/**
 * The state of the whole service. It is "down" if all families with calls are down. If only some are down, it is
 * "degraded". Otherwise, it is the worst state of a family.
 */
function worstOf(states: readonly ServiceState[]): ServiceState {
  const known = states.filter((state) => state !== 'none')
  if (known.length > 0 && known.every((state) => state === 'down')) return 'down'
  const worst = Math.max(0, ...states.map((state) => severity.indexOf(state)))
  const state = severity[worst] ?? 'none'
  return state === 'down' ? 'degraded' : state
}
