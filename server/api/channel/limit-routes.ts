import { api } from '../../../contract/api/index.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { channelsInUse } from '../../store/ledger/caps-in-use.ts'
import type { ApiDeps } from '../deps.ts'
import { limitView, localZone } from './channel-limits.ts'

/** How much of the limits of channels is used. Must be mounted before `/api/channel/{id}`. */
export function mountChannelLimits(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.channel.limits, async () => {
    const channels = await channelsInUse(store, clock.nowMs())
    return {
      local_zone: localZone(),
      channels: channels.map(({ caps, ...channel }) => ({
        ...channel,
        limits: caps.map((cap) => ({
          ...limitView(cap),
          allowed: cap.allowed,
          used: cap.used,
          keys_full: cap.keysFull,
          resets_at: cap.resetsAt,
        })),
      })),
    }
  })
}
