import { expect } from 'bun:test'
import { expectPage } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

const list =
  'GET /api/log/?p={p}&type={type}&username={username}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}'
const own =
  'GET /api/log/self/?p={p}&type={type}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}'
const stat =
  'GET /api/log/stat?type={type}&username={username}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}'
const ownStat =
  'GET /api/log/self/stat?type={type}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}'

/** Logs and their totals, after calls through the relay. */
export async function walkLogs(walk: Walk, admin: Person, person: Person): Promise<void> {
  await walk.call(
    'POST /api/channel/',
    {},
    { type: 1, name: 'for logs', key: 'k', base_url: walk.services.upstream.url, models: 'gpt-4o' },
    admin,
  )
  const name = `log ${walk.mark}`
  await walk.call('POST /api/token/', {}, { name, remain_quota: 0, expired_time: -1, unlimited_quota: true }, person)
  const [token] = await walk.ok('GET /api/token/search?keyword={keyword}', { keyword: name }, undefined, person)
  for (let call = 0; call < 11; call++) {
    const answer = await walk.fetch(
      'POST',
      '/v1/chat/completions',
      { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 },
      { authorization: `Bearer sk-${token.key}` },
    )
    expect([answer.status, answer.text]).toEqual([200, answer.text])
  }
  const filter = { p: 0, type: 2, token_name: name, model_name: 'gpt-4o', start: 0, end: 4_000_000_000 }
  const page = await walk.ok(own, filter, undefined, person)
  expectPage('log', page)
  expect(page).toHaveLength(10)
  expect(page[0]).toMatchObject({ type: 2, token_name: name, model_name: 'gpt-4o', username: person.username })
  expect(page[0].quota).toBeGreaterThan(0)
  expect(page[0].content).toContain('ratio')
  const second = await walk.ok(own, { ...filter, p: 1 }, undefined, person)
  expect(second).toHaveLength(1)

  const everybodys = await walk.ok(list, { ...filter, username: person.username }, undefined, admin)
  expectPage('log', everybodys)
  expect(everybodys.map(({ id }: { id: number }) => id)).toEqual(page.map(({ id }: { id: number }) => id))
  expect(await walk.ok(list, { ...filter, username: 'nobody' }, undefined, admin)).toEqual([])
  expect(await walk.ok(own, { ...filter, model_name: 'gpt-4' }, undefined, person)).toEqual([])
  expect(await walk.ok(own, { ...filter, end: 1 }, undefined, person)).toEqual([])
  // A cleared date box is sent as NaN, and unset filters are sent as empty strings.
  expectPage('log', await walk.ok(own, { p: 0, type: 0, start: 'NaN', end: 'NaN' }, undefined, person))

  const rows = [...page, ...second] as { quota: number; prompt_tokens: number; completion_tokens: number }[]
  const sum = { quota: 0, token: 0, calls: rows.length, failed: 0 }
  for (const row of rows) {
    sum.quota += row.quota
    sum.token += row.prompt_tokens + row.completion_tokens
  }
  expect(await walk.ok(ownStat, filter, undefined, person)).toEqual(sum)
  expect(await walk.ok(stat, { ...filter, username: person.username }, undefined, admin)).toEqual(sum)
  const self = await walk.ok('GET /api/user/self', {}, undefined, person)
  expect(self.request_count).toBeGreaterThanOrEqual(11)
}
