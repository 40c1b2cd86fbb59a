import { expect, test } from 'bun:test'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { addChannelEvent } from './channel-health.ts'

forEachDatabase((_, openFresh) => {
  test('no row is written for an event of a channel that was deleted in the meantime', async () => {
    const store = await openFresh()
    const event = { at: 5, action: 'channel.cool-down', content: 'a channel was paused', reason: 'too busy' } as const
    await store.write((trx) => addChannelEvent(trx, { ...event, channelId: 404 }))
    expect(await store.read.selectFrom('logs').selectAll().execute()).toEqual([])
    expect(await store.read.selectFrom('audit_events').selectAll().execute()).toEqual([])
  })
})
