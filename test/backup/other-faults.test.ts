// Faults of an installation, or of the database that a command writes to. For each fault, the command stops with a
// message of one sentence and changes nothing.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Installation } from '../helpers/gateway-process.ts'
import { ownSource, smallRows } from '../import/own-samples.ts'

const env = { TOLLGATE_NEW_SECRET_KEY: 'another secret key of the installation' }

/** The arguments of each command that reads the whole installation; `out` is a folder of its own. */
const commands = {
  'migrate-to': (out: string) => ['migrate-to', `sqlite:${join(out, 'copy.db')}`],
  'rotate-key': () => ['rotate-key'],
  backup: (out: string) => ['backup', join(out, 'copy.backup'), '--unencrypted'],
  export: (out: string) => ['export', '-o', join(out, 'copy.jsonl'), '--no-secrets'],
} as const

async function installation(change: (file: string) => void): Promise<Installation> {
  const made = new Installation(undefined, env)
  await made.create()
  change(made.databaseUrl)
  return made
}

function run(...statements: string[]): (file: string) => void {
  return (file) => {
    const database = new Database(file)
    for (const statement of statements) database.run(statement)
    database.close()
  }
}

const cases: [name: string, change: (file: string) => void, words: Partial<Record<keyof typeof commands, string>>][] = [
  [
    'of a newer version',
    run("insert into schema_migrations (name, applied_at) values ('9999-future', 1)"),
    {
      'migrate-to': 'was made by a newer version (it has migration 9999-future)',
      'rotate-key': 'was made by a newer version (it has migration 9999-future)',
      backup: 'was made by a newer version (it has migration 9999-future)',
      export: 'was made by a newer version (it has migration 9999-future)',
    },
  ],
  [
    'without one of its tables',
    run('drop table tokens'),
    {
      'migrate-to': 'it has no table tokens. Restore a backup.',
      'rotate-key': 'it has no table tokens. Restore a backup.',
      backup: 'it has no table tokens. Restore a backup.',
    },
  ],
  [
    'of another program',
    run('drop table schema_migrations'),
    {
      'migrate-to': 'contains no installation',
      'rotate-key': 'contains no installation',
      backup: 'contains no installation',
    },
  ],
  [
    'with a text in place of a number',
    run("update users set quota = 'abc' where id = 1"),
    {
      'migrate-to': 'The column quota of the table users has the value abc',
      backup: 'The column quota of the table users has the value abc',
    },
  ],
  [
    'cut in half',
    (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
    {
      'migrate-to': 'is damaged',
      'rotate-key': 'is damaged',
      backup: 'is damaged',
    },
  ],
]

for (const [name, change, words] of cases)
  test(`an installation ${name} is not changed, and the commands say what to do`, async () => {
    await using made = await installation(change)
    const before = readFileSync(made.databaseUrl)
    for (const [command, expected] of Object.entries(words)) {
      const out = mkdtempSync(join(tmpdir(), 'tollgate-out-'))
      const { code, output } = await made.run(...commands[command as keyof typeof commands](out))
      expect([command, code, output]).toEqual([command, 1, expect.stringContaining(expected)])
      expect([command, readdirSync(out).filter((each) => each.startsWith('copy'))]).toEqual([command, []])
      expect(output.trim().split('\n').length).toBeLessThan(3)
      rmSync(out, { recursive: true })
    }
    expect(readFileSync(made.databaseUrl).equals(before)).toBe(true)
  }, 60_000)

test('migrate-to stops if its target cannot be used, and does not change the target', async () => {
  await using source = await installation(() => undefined)
  const out = mkdtempSync(join(tmpdir(), 'tollgate-out-'))
  const foreign = ownSource('one-api', smallRows())
  const text = join(out, 'text.db')
  writeFileSync(text, 'hello '.repeat(1000))
  mkdirSync(join(out, 'folder'))
  const bytes = [foreign, text].map((file) => readFileSync(file))
  for (const [target, words] of [
    [foreign, 'The database belongs to another program (it has a table users)'],
    [text, 'is damaged, or is not a database: use --replace'],
    [join(out, 'folder'), 'is a folder'],
    [join(source.folder, 'copy.db'), 'must be in another folder'],
  ] as const) {
    const { code, output } = await source.run('migrate-to', `sqlite:${target}`)
    expect([target, code, output]).toEqual([target, 1, expect.stringContaining(words)])
  }
  expect([foreign, text].map((file, at) => readFileSync(file).equals(bytes[at] ?? Buffer.from('')))).toEqual([
    true,
    true,
  ])
  const full = await source.runUnder('ulimit -f 200', 'migrate-to', `sqlite:${join(out, 'full.db')}`)
  expect(full.output).toContain('Free some space on its disk')
  expect(full.code).toBe(1)
  expect(readdirSync(out).filter((each) => each.startsWith('full'))).toEqual([])
  rmSync(out, { recursive: true })
}, 60_000)
