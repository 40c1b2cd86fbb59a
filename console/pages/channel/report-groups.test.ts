import { expect, test } from 'bun:test'
import type { Channel } from '../../../contract/api/channel.ts'
import { failureGroups } from './report-groups.ts'

test('channels that failed for the same reason form one group, even if their errors contain different ids', () => {
  const errors = [
    'status 503: overloaded (request 20261128100000123)',
    'status 401: Incorrect API key provided: sk-abc.',
    'status 503: overloaded (request 20261128100000999)',
    'status 429: overloaded',
    'status 401:  Incorrect API key provided: sk-xyz.',
    'status 503: overloaded (request 20261128100000777)',
  ]
  const rows = errors.map((test_error, id) => ({ id, test_error }) as Channel)
  const found = failureGroups(rows).map(({ channels }) => channels.map(({ id }) => id))
  expect(found).toEqual([[0, 2, 5], [1, 4], [3]])
})
