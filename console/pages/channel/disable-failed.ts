import type { Channel } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { runBulk } from '../../components/data-table/run-bulk.ts'
import { isOfOneStatus } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import { text } from '../../lib/text.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { channels, failedSince, setChannelStatus, watchedQuery } from './queries.ts'

/** Disables the channels whose last test failed at or after `since` (epoch seconds); one undo covers them all. */
export async function disableFailed(since: number): Promise<void> {
  const rows = await queryClient.fetchQuery({ ...watchedQuery, staleTime: 0 })
  const disabled: Channel[] = []
  await runBulk(text('channel.disableFailed'), failedSince(rows, since), async (channel) => {
    await setChannelStatus(channel, channelStatus.disabled)
    disabled.push(channel)
  })
  if (disabled.length === 0) return
  void channels.refresh(isOfOneStatus)
  toastWithUndo(text('channel.disableFailed.done', { count: disabled.length }), async () => {
    await Promise.all(disabled.map((channel) => setChannelStatus(channel, channelStatus.enabled)))
    void channels.refresh(isOfOneStatus)
  })
}
