// Fills a new installation with example data for trying out the console: 60 channels, 300 users, 400 tokens and 20,000
// calls from the last 60 days. Some channels fail, unless `--healthy` is given. See the usage below.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCommandConfig } from '../../server/config.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { seeded } from '../../test/fuzz/random.ts'
import { addCalls } from './calls.ts'
import { addChannels } from './channels.ts'
import { addPeople, password } from './people.ts'

const usage = `Usage: npm run seed -- [--calls 20000] [--users 300] [--channels 60] [--healthy]

Fills a new installation with example data. Start the server once and stop it, then run this with the same DATA_DIR
or DATABASE_URL. Some channels fail and some are disabled; with --healthy, nothing needs attention. Every user can log in with the password "${password}".`

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string', default: '20000' },
      users: { type: 'string', default: '300' },
      channels: { type: 'string', default: '60' },
      healthy: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const amounts = { calls: Number(values.calls), users: Number(values.users), channels: Number(values.channels) }
  const { healthy } = values
  const isValid = Object.values(amounts).every((amount) => Number.isSafeInteger(amount) && amount >= 1)
  if (values.help || !isValid) {
    console.log(usage)
    return values.help ? 0 : 2
  }
  const config = loadCommandConfig()
  const key = process.env['SECRET_KEY'] ?? readFileSync(join(config.dataDir, 'secret.key'), 'utf8').trim()
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous, unlimited: true })
  try {
    const { count } = await store.read
      .selectFrom('users')
      .select((eb) => eb.fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    if (Number(count) !== 1) {
      console.error('Only a new installation can be filled: this one has other users than root.')
      return 1
    }
    const random = seeded(1127)
    const nowSeconds = Math.floor(Date.now() / 1000)
    const secrets = createSecrets(key)
    const people = await addPeople(store, { secrets, random, nowSeconds, users: amounts.users })
    const channels = await addChannels(store, { secrets, random, nowSeconds, channels: amounts.channels, healthy })
    await addCalls(store, { people, channels, random, nowSeconds, calls: amounts.calls, healthy })
    console.log(`Added ${amounts.channels} channels, ${amounts.users} users and ${amounts.calls} calls.`)
    return 0
  } finally {
    await store.close()
  }
}

process.exitCode = await main()
