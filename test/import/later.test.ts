// After an import, `--follow` imports new rows of the source until the users have moved to this installation. A later
// version can import the leftovers.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../server/store/connection/open.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { fillSource, ownSource, type Row, smallRows } from './own-samples.ts'

async function emptyInstallation(): Promise<Installation> {
  const installation = new Installation()
  await (await installation.start()).stop()
  return installation
}

const charges = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: from + at, user_id: 2, created_at: 1_790_000_100 + at, type: 2, content: '', username: 'mia' },
    ...{ token_name: 'main', model_name: 'gpt-4o', quota: 3, channel_id: 1 },
  }))

test('--follow imports rows that are written in the meantime, each once, and ends cleanly', async () => {
  const from = ownSource('one-api', smallRows())
  await using installation = await emptyInstallation()
  const following = installation.begin('import', '--from', from, '--follow')
  await following.said(/Following the source/)
  fillSource(from, { logs: charges(100, 2500) })
  await following.said(/2500 log rows, 0 users, 0 tokens, 0 channels; up to date/)
  fillSource(from, { logs: charges(5000, 7), users: [{ id: 9, username: 'late', password: 'x', quota: 11 }] })
  await following.said(/7 log rows, 1 user, 0 tokens, 0 channels; up to date/)
  // A second import at the same time is refused.
  const beside = await installation.run('import', '--from', from)
  expect([beside.code, beside.output]).toEqual([1, expect.stringContaining('running already, started by command line')])
  expect(await following.stop('SIGINT')).toBe(0)

  const store = openStore({ url: installation.databaseUrl })
  const rows = await store.read.selectFrom('logs').select(['quota', 'type']).execute()
  expect(rows).toHaveLength(2 + 2500 + 7)
  expect(rows.reduce((sum, { type, quota }) => sum + (type === 2 ? quota : 0), 0)).toBe(60 + 2507 * 3)
  expect(await store.read.selectFrom('import_runs').select(['state', 'active']).execute()).toEqual([
    { state: 'done', active: null },
  ])
  await store.close()
  const again = await installation.run('import', '--from', from, '--json')
  expect(JSON.parse(again.output.split('\n').find((line) => line.startsWith('{')) ?? '{}')).toMatchObject({
    mode: 'again',
    added: { users: 0, logs: 0 },
  })
  expect((await installation.run('audit')).output).toContain('0 faults.')
})

test("--follow waits for charges that Laisky's one-api has not settled yet, and imports their final amounts", async () => {
  const now = Math.floor(Date.now() / 1000)
  const row = { user_id: 2, created_at: now, username: 'mia', token_name: 'main', model_name: 'gpt-4o', channel_id: 1 }
  const from = ownSource('laisky', {
    ...smallRows(),
    logs: [
      { ...row, id: 1, type: 2, quota: 10 },
      // A provisional charge that is this old belongs to a call that will never be settled.
      { ...row, id: 2, type: 6, quota: 7, created_at: now - 4000 },
      { ...row, id: 3, type: 6, quota: 500 },
      { ...row, id: 4, type: 2, quota: 20 },
      { ...row, id: 5, type: 6, quota: 900 },
    ],
  })
  await using installation = await emptyInstallation()
  const quotas = async () => {
    const store = openStore({ url: installation.databaseUrl })
    const rows = await store.read.selectFrom('logs').select(['quota', 'type']).orderBy('id').execute()
    await store.close()
    return rows.map(({ quota, type }) => `${type} ${quota}`)
  }
  const following = installation.begin('import', '--from', from, '--follow')
  await following.said(/0 log rows, 0 users, 0 tokens, 0 channels; waiting for 2 open calls/)
  expect(await quotas()).toEqual(['2 10', '2 7'])
  const source = new Database(from)
  source.run('update logs set type = 2, quota = 33 where id = 3')
  source.close()
  await following.said(/2 log rows, 0 users, 0 tokens, 0 channels; waiting for 1 open call/)
  expect(await quotas()).toEqual(['2 10', '2 7', '2 33', '2 20'])
  expect(await following.stop('SIGINT')).toBe(0)
  expect(await quotas()).toEqual(['2 10', '2 7', '2 33', '2 20', '2 900'])
  expect((await installation.run('audit')).output).toContain('0 faults.')
}, 90_000)

test('leftovers that this version supports are imported once, and the others are reported', async () => {
  await using installation = await emptyInstallation()
  const file = join(installation.folder, 'leftovers.jsonl')
  const option = (key: string, value: string) =>
    JSON.stringify({ kind: 'option', id: key, reason: 'no counterpart', data: { key, value } })
  writeFileSync(
    file,
    [
      option('RetryTimes', '4'),
      option('SMTPToken', 'a secret'),
      option('QuotaPerUnit', 'not a number'),
      option('FutureOption', 'x'),
      JSON.stringify({ kind: 'table', id: 'subscription_plans 1', reason: 'no counterpart', data: { id: 1 } }),
      JSON.stringify({ kind: 'table', id: 'subscription_plans 2', reason: 'no counterpart', data: { id: 2 } }),
      '',
    ].join('\n'),
  )
  const take = async (...args: string[]) => {
    const { code, output } = await installation.run('import', '--leftovers', file, '--json', ...args)
    expect([code, output]).toEqual([0, expect.stringContaining('{')])
    return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '') as Record<string, unknown>
  }
  const left = [
    { kind: 'option', count: 2 },
    { kind: 'table subscription_plans', count: 2 },
  ]
  const both = ['option RetryTimes', 'option SMTPToken']
  expect(await take('--dry-run')).toEqual({ taken: both, set: [], left })
  expect(await take()).toEqual({ taken: both, set: [], left })
  expect(await take()).toEqual({ taken: [], set: both, left })
  const store = openStore({ url: installation.databaseUrl })
  const options = await store.read
    .selectFrom('options')
    .select(['key', 'value'])
    .where('key', 'in', ['RetryTimes', 'SMTPToken'])
    .execute()
  expect(options.find(({ key }) => key === 'RetryTimes')?.value).toBe('4')
  expect(JSON.stringify(options)).not.toContain('a secret')
  await store.close()

  writeFileSync(file, 'not a leftover\n')
  const wrong = await installation.run('import', '--leftovers', file)
  expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining('Line 1 is not a leftover of an import')])
  expect((await installation.run('import')).output).toContain('either --from or --leftovers')
})
