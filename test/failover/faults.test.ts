// The faults of Failover Bench, on a fresh installation with two channels. No option is changed unless a fault requires
// it. `npm run bench:faults` plays the same faults in real time.
import { expect, test } from 'bun:test'
import { faults } from './faults.ts'
import { startStage } from './stage.ts'

for (const { id, name, needs, play } of faults) {
  const title = `${id}: ${name}`
  if (!play) test.skip(`${title} (needs ${needs}, which is not built yet)`, () => undefined)
  else
    test(title, async () => {
      await using stage = await startStage('fake', needs === 'StreamRescue' ? { StreamRescue: 'true' } : {})
      expect(await play(stage)).toBeString()
    })
}

test('there are sixteen faults', () => {
  const ids = Array.from({ length: 16 }, (_, index) => `S${String(index + 1).padStart(2, '0')}`)
  expect(faults.map(({ id }) => id)).toEqual(ids)
})
