import type { Database, Statement } from 'bun:sqlite'
import type { Selectable } from 'kysely'
import { capSteps } from '../../../contract/caps.ts'
import type { CapPlacesTable, CapsTable } from '../schema/cap-tables.ts'
import type { ChannelFull, ExtendOp, HoldOp, PlaceAsked, SettleOp } from '../schema/ledger-types.ts'
import { stepsKept, windowEnd, windowStart } from './cap-windows.ts'

// The caps (limits on the use) of channels and keys on SQLite, within the ledger's transaction. A call that the caps of
// its channel count has a place on the channel. A call that finds no place can wait for one in a queue. Counts are
// written immediately, so that the next operation of the batch sees them. The PostgreSQL functions in
// migrations/caps-functions.ts follow the same rules.

type Cap = Pick<
  Selectable<CapsTable>,
  'id' | 'owner' | 'owner_id' | 'metric' | 'period' | 'pattern' | 'zone' | 'most' | 'raise_by' | 'raise_until'
>
type Place = Selectable<CapPlacesTable>

/**
 * A call counts as waiting for this many milliseconds after its process last reported that the call is in the queue.
 */
const waitLeaseMs = 3000
/**
 * The wait that a refusal reports, in seconds, if waiting does not help: the window of the cap never ends, or the call
 * asks for more than the cap allows.
 */
const longSeconds = 86_400

export type CapStatements = ReturnType<typeof prepareCaps>

/** A call's request for a place on its channel. */
export interface Asking extends Pick<HoldOp, 'id'> {
  channelId: number
  caps: PlaceAsked
  /** The time of the request, in epoch seconds. */
  at: number
}

/**
 * The place that was found for a call: the index (`part`) and the hash (`whose`) of its key, and the units that the
 * call may still take under the caps of quota and cost (`room`).
 */
export interface PlaceFound {
  part: number
  whose: string
  room: number
}

export function prepareCaps(database: Database) {
  const statement = (sql: string): Statement => database.prepare(sql)
  const columns = 'id, owner, owner_id, metric, period, pattern, zone, most, raise_by, raise_until'
  return {
    ofChannel: statement(`SELECT ${columns} FROM caps WHERE owner_id = ? AND owner IN ('channel', 'key') ORDER BY id`),
    cap: statement(`SELECT ${columns} FROM caps WHERE id = ?`),
    used: statement(
      'SELECT coalesce(sum(used), 0) AS used FROM cap_counts WHERE cap_id = ? AND part = ? AND start > ?',
    ),
    steps: statement('SELECT start, used FROM cap_counts WHERE cap_id = ? AND part = ? AND start > ? ORDER BY start'),
    add: statement(
      `INSERT INTO cap_counts (cap_id, part, start, used) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET used = used + excluded.used`,
    ),
    change: statement('UPDATE cap_counts SET used = used + ? WHERE cap_id = ? AND part = ? AND start = ?'),
    forget: statement('UPDATE caps SET forgotten = forgotten + ? WHERE id = ?'),
    unlog: statement('UPDATE caps SET unlogged = unlogged + ? WHERE id = ?'),
    addPlace: statement('INSERT INTO cap_places (hold_id, cap_id, part, start, reserved) VALUES (?, ?, ?, ?, ?)'),
    endPlaces: statement('DELETE FROM cap_places WHERE hold_id = ? RETURNING *'),
    places: statement('SELECT * FROM cap_places WHERE hold_id = ? ORDER BY cap_id'),
    setPlace: statement('UPDATE cap_places SET start = ?, reserved = ? WHERE hold_id = ? AND cap_id = ?'),
    anyPlace: statement('SELECT 1 FROM cap_places WHERE cap_id = ? LIMIT 1'),
    before: statement(
      `SELECT 1 FROM cap_waits WHERE cap_id = ?1 AND (part = '' OR part = ?2) AND seen_ms > ?3
       AND (?4 = 0 OR ticket < ?4) LIMIT 1`,
    ),
    nextTicket: statement('SELECT coalesce(max(ticket), 0) + 1 AS ticket FROM cap_waits'),
    wait: statement(
      `INSERT INTO cap_waits (ticket, channel_id, cap_id, part, node_id, seen_ms) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET cap_id = excluded.cap_id, part = excluded.part, seen_ms = excluded.seen_ms`,
    ),
    leaveLine: statement('DELETE FROM cap_waits WHERE ticket = ?'),
    markHold: statement('UPDATE holds SET counted = counted | 8 WHERE id = ?'),
    unmarkHold: statement('UPDATE holds SET counted = counted & ~8 WHERE id = ?'),
  }
}

const expressions = new Map<string, RegExp>()

/** True if a cap counts calls to a model. A cap without a pattern counts all models. */
function appliesTo({ pattern }: Pick<Cap, 'pattern'>, model: string): boolean {
  if (pattern === null) return true
  let expression = expressions.get(pattern)
  if (!expression) {
    if (expressions.size > 1000) expressions.clear()
    expression = new RegExp(pattern)
    expressions.set(pattern, expression)
  }
  return expression.test(model)
}

function capsFor(statements: CapStatements, channelId: number, model: string): Cap[] {
  return (statements.ofChannel.all(channelId) as Cap[]).filter((cap) => appliesTo(cap, model))
}

const mostOf = (cap: Cap, at: number) => cap.most + (cap.raise_until > at ? cap.raise_by : 0)

/** A time in epoch seconds. The counts that start after it are those of the current window. */
function before(cap: Cap, at: number): number {
  const step = capSteps[cap.period]
  return step === undefined ? windowStart(cap, at) - 1 : windowStart(cap, at) - stepsKept * step
}

function usedOf({ used }: CapStatements, cap: Cap, part: string, at: number): number {
  return (used.get(cap.id, part, before(cap, at)) as { used: number }).used
}

/**
 * Finds a place for a call on its channel, or returns the reason why there is none. `own` contains the ids of the caps
 * that already count the call. Under these caps, the call does not wait for the calls in the queue.
 */
export function findPlace(
  statements: CapStatements,
  ask: Asking,
  own: ReadonlySet<number> = new Set(),
): PlaceFound | ChannelFull {
  const caps = capsFor(statements, ask.channelId, ask.caps.model)
  let room = Number.MAX_SAFE_INTEGER
  for (const cap of caps) {
    if (cap.owner !== 'channel') continue
    const left = check(statements, cap, '', ask, own)
    if (typeof left !== 'number') return left
    room = Math.min(room, left)
  }
  let soonest: ChannelFull | undefined
  for (const [part, whose] of ask.caps.parts.entries()) {
    const found = keyRoom(statements, caps, whose, ask, own)
    if (typeof found === 'number') return { part, whose, room: Math.min(room, found) }
    const isSooner = !soonest || (soonest.never && !found.never) || found.retryAfter < soonest.retryAfter
    if (isSooner) soonest = found
  }
  if (!soonest) throw new Error('a call without a key asked for a place')
  return soonest
}

function keyRoom(
  statements: CapStatements,
  caps: readonly Cap[],
  whose: string,
  ask: Asking,
  own: ReadonlySet<number>,
): number | ChannelFull {
  let room = Number.MAX_SAFE_INTEGER
  for (const cap of caps) {
    if (cap.owner !== 'key') continue
    const left = check(statements, cap, whose, ask, own)
    if (typeof left !== 'number') return left
    room = Math.min(room, left)
  }
  return room
}

/** The units that a call may still take under a cap, or the reason why the cap refuses the call. */
function check(
  statements: CapStatements,
  cap: Cap,
  part: string,
  { caps: { ticket = 0, tokens, least }, at }: Asking,
  own: ReadonlySet<number>,
): number | ChannelFull {
  const most = mostOf(cap, at)
  const used = usedOf(statements, cap, part, at)
  const isUnits = cap.metric === 'quota' || cap.metric === 'cost'
  const need = cap.metric === 'tokens' ? tokens : isUnits ? least : 1
  const isBehind =
    need <= most && !own.has(cap.id) && statements.before.get(cap.id, part, at * 1000 - waitLeaseMs, ticket) !== null
  if (need <= most - used && !isBehind) return isUnits ? most - used : Number.MAX_SAFE_INTEGER
  const never = need > most
  const retryAfter = never
    ? longSeconds
    : need <= most - used
      ? 1
      : waitFor(statements, cap, part, used + need - most, at)
  const othersOpen = isBehind || statements.anyPlace.get(cap.id) !== null
  return { ok: false, reason: 'full', cap: cap.id, metric: cap.metric, retryAfter, othersOpen, never }
}

/** The number of seconds until `gone` units are no longer counted in the window. */
function waitFor(statements: CapStatements, cap: Cap, part: string, gone: number, at: number): number {
  if (cap.period === 'now') return 1
  if (cap.period === 'ever') return longSeconds
  const step = capSteps[cap.period]
  if (step === undefined) return windowEnd(cap, at) - at
  let left = 0
  for (const row of statements.steps.all(cap.id, part, before(cap, at)) as { start: number; used: number }[]) {
    left += row.used
    if (left >= gone) return row.start + stepsKept * step - at
  }
  return step * (stepsKept - 1)
}

/**
 * Adds `more` to a count. If the count has been deleted, `more` is added to the cap's `forgotten` sum, which contains
 * the deleted counts.
 */
function change(statements: CapStatements, { cap_id, part, start }: Omit<Place, 'hold_id' | 'reserved'>, more: number) {
  if (more === 0 || statements.change.run(more, cap_id, part, start).changes > 0) return
  statements.forget.run(more, cap_id)
}

/** Counts a call in all caps that apply to it, and records the counted amounts in `cap_places`. */
export function countPlace(statements: CapStatements, ask: Asking, whose: string, taken: number): void {
  const { id, channelId, caps, at } = ask
  for (const cap of capsFor(statements, channelId, caps.model)) {
    const isOne = cap.metric === 'requests' || cap.metric === 'calls'
    const counted = cap.metric === 'tokens' ? caps.tokens : isOne ? 1 : taken
    const part = cap.owner === 'key' ? whose : ''
    const start = windowStart(cap, at)
    statements.add.run(cap.id, part, start, counted)
    statements.addPlace.run(id, cap.id, part, start, counted)
  }
  statements.markHold.run(id)
  if (caps.ticket) statements.leaveLine.run(caps.ticket)
}

/**
 * Frees the place of a call whose attempt failed, and subtracts its reservations from the counts. Caps of requests
 * still count the attempt, because the upstream has received it. Returns the deleted rows of `cap_places`.
 */
export function freePlaces(statements: CapStatements, holdId: string): Place[] {
  const places = statements.endPlaces.all(holdId) as Place[]
  for (const place of places) free(statements, place, 1)
  return places
}

/** Undoes `freePlaces`. */
export function restorePlaces(statements: CapStatements, places: readonly Place[]): void {
  for (const place of places) {
    const { hold_id, cap_id, part, start, reserved } = place
    statements.addPlace.run(hold_id, cap_id, part, start, reserved)
    free(statements, place, -1)
  }
}

function free(statements: CapStatements, place: Place, sign: 1 | -1): void {
  const cap = statements.cap.get(place.cap_id) as Cap | null
  if (cap?.metric === 'requests') statements.unlog.run(sign, place.cap_id)
  else if (cap) change(statements, place, -sign * place.reserved)
}

/**
 * Returns the units that a call may still take under the caps of quota and cost. If the window of a reservation has
 * ended, the reservation first moves to the current window.
 */
export function roomToGrow(statements: CapStatements, { id }: Pick<ExtendOp, 'id'>, at: number): number {
  let room = Number.MAX_SAFE_INTEGER
  for (const place of statements.places.all(id) as Place[]) {
    const cap = statements.cap.get(place.cap_id) as Cap | null
    if (cap?.metric !== 'quota' && cap?.metric !== 'cost') continue
    const start = windowStart(cap, at)
    if (start !== place.start) {
      change(statements, place, -place.reserved)
      statements.add.run(cap.id, place.part, start, place.reserved)
      statements.setPlace.run(start, place.reserved, id, cap.id)
    }
    room = Math.min(room, mostOf(cap, at) - usedOf(statements, cap, place.part, at))
  }
  return room
}

/** Counts further units of a call in the caps of quota and cost that already count it. */
export function growPlace(statements: CapStatements, { id }: Pick<ExtendOp, 'id'>, taken: number): void {
  for (const place of statements.places.all(id) as Place[]) {
    const cap = statements.cap.get(place.cap_id) as Cap | null
    if (cap?.metric !== 'quota' && cap?.metric !== 'cost') continue
    change(statements, place, taken)
    statements.setPlace.run(place.start, place.reserved + taken, id, place.cap_id)
  }
}

/**
 * Puts a call for which its channel has no place into the queue, if the call is willing to wait and waiting can help.
 */
export function joinLine(statements: CapStatements, ask: Asking, full: ChannelFull, nodeId: string): ChannelFull {
  const { parts } = ask.caps
  if (ask.caps.ticket === undefined || full.never) return full
  const ticket = ask.caps.ticket || (statements.nextTicket.get() as { ticket: number }).ticket
  const isOfKey = (statements.cap.get(full.cap) as Cap | null)?.owner === 'key'
  const part = isOfKey && parts.length === 1 ? parts[0] : ''
  statements.wait.run(ticket, ask.channelId, full.cap, part ?? '', nodeId, ask.at * 1000)
  return { ...full, ticket }
}

/**
 * Frees the place of a call that has ended, and replaces its reservations with the figures of its log row. If the
 * channel also has caps that did not count the call, because its node did not know of them, these caps count the row
 * now.
 */
export function settlePlaces(statements: CapStatements, op: SettleOp, charged: number, isCapped: boolean): void {
  const { log } = op
  const tokens = log ? log.prompt_tokens + log.completion_tokens : op.tokens
  // If it is not known what the call costs the operator, the charge is used instead.
  const cost = log?.cost ?? op.cost ?? charged
  const usedBy = (cap: Cap, otherwise: number) =>
    cap.metric === 'tokens' ? (tokens ?? otherwise) : cap.metric === 'cost' ? cost : charged
  const places = statements.endPlaces.all(op.id) as Place[]
  for (const place of places) {
    const cap = statements.cap.get(place.cap_id) as Cap | null
    if (!cap) continue
    if (cap.metric === 'calls') {
      change(statements, place, -place.reserved)
      continue
    }
    const counts = cap.owner_id === op.channelId && (!log || appliesTo(cap, log.model_name))
    if (cap.metric === 'requests') {
      if (!log || !counts) statements.unlog.run(1, cap.id)
      continue
    }
    const used = counts ? usedBy(cap, place.reserved) : 0
    const more = used - place.reserved
    if (more < 0) change(statements, place, more)
    else if (more > 0) statements.add.run(cap.id, place.part, windowStart(cap, op.at), more)
    if (!log && used > 0) statements.unlog.run(used, cap.id)
  }
  if (!isCapped || !log) return
  for (const cap of capsFor(statements, op.channelId, log.model_name)) {
    if (cap.metric === 'calls' || places.some(({ cap_id }) => cap_id === cap.id)) continue
    const used = cap.metric === 'requests' ? 1 : usedBy(cap, 0)
    if (used !== 0) statements.add.run(cap.id, '', windowStart(cap, op.at), used)
  }
}
