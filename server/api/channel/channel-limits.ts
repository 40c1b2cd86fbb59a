import type { ChannelLimit } from '../../../contract/api/channel-limits.ts'
import { capModels } from '../../../contract/caps.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type CapRow, type CapWanted, capsOfChannel, knowsZone, saveCaps } from '../../store/ledger/caps.ts'
import type { Trx } from '../../store/store.ts'

/** The time zone of the installation, which is that of the server process. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Converts a cap (the stored form of a limit) to the form that the API returns. */
export function limitView(cap: CapRow): ChannelLimit {
  const { owner, metric, period, models, most, raise_by, raise_until, zone } = cap
  return { owner, metric, window: period, models, most, raise: raise_by, raise_until, zone }
}

/** Converts the limits in a request body to caps. Throws ApiFailure if the limits are contradictory. */
function wantedCaps(limits: readonly ChannelLimit[]): CapWanted[] {
  const caps = limits.map(({ window, raise, models, ...limit }) => ({
    ...limit,
    period: window,
    models: [...new Set(capModels(models))].sort().join(','),
    raise_by: raise,
  }))
  if (caps.some(({ metric, period }) => (metric === 'calls') !== (period === 'now')))
    throw new ApiFailure('A limit on concurrent requests must have the window "now". Other limits must not have it.')
  if (caps.some(({ raise_by, raise_until }) => raise_by > 0 && raise_until === 0))
    throw new ApiFailure('Enter the time until which the raised limit applies.')
  const sames = caps.map(({ owner, metric, period, models }) => [owner, metric, period, models].join('\n'))
  if (new Set(sames).size < sames.length)
    throw new ApiFailure('Two limits have the same metric, window and models. Combine them, or change one.')
  return caps
}

/**
 * Replaces the limits of a channel. The caller must have locked the channel. Returns the change for the audit log, or
 * '' if there is none.
 */
export async function saveLimits(
  trx: Trx,
  channelId: number,
  limits: readonly ChannelLimit[],
  now: number,
): Promise<string> {
  const wanted = wantedCaps(limits)
  const before = await capsOfChannel(trx, channelId)
  const others = new Set(wanted.map(({ zone }) => zone).filter((zone) => !before.some((cap) => cap.zone === zone)))
  for (const zone of others) {
    // A time zone that the database does not know would make every request through the channel fail.
    const isKnown = zone === 'UTC' || (zone === localZone() && (await knowsZone(trx, zone)))
    if (!isKnown) throw new ApiFailure("The time zone of a limit must be UTC or the installation's own.")
  }
  const [old, next] = [described(before), described(wanted)]
  if (old === next) return ''
  await saveCaps(trx, channelId, wanted, now)
  return `limits=${old || 'none'} → ${next || 'none'}`
}

/** A description of the limits. It is the same for equal limits. Throws ApiFailure if the limits are contradictory. */
export function describeLimits(limits: readonly ChannelLimit[]): string {
  return described(wantedCaps(limits))
}

function described(caps: readonly (CapRow | CapWanted)[]): string {
  return caps
    .map(({ owner, metric, period, models, most, raise_by, raise_until, zone }) => {
      const raise = raise_until > 0 ? `+${raise_by} until ${raise_until}` : ''
      const of = [owner === 'key' ? 'each key' : '', models && `for ${models}`, zone === 'UTC' ? '' : zone]
      return [`${most}${raise} ${metric}/${period}`, ...of].filter((part) => part !== '').join(' ')
    })
    .sort()
    .join(', ')
}
