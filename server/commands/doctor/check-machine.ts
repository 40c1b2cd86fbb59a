import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPostgresUrl } from '../../lib/network/database-url.ts'
import { commitTimes, databaseFacts } from '../../store/connection/database-facts.ts'
import { type Check, type Finding, fail, ok, warn } from './check.ts'

const mib = 1024 * 1024
/** If a commit takes longer than this, every call is noticeably slower. */
const slowCommitMs = 20

export const checkConfiguration: Check = {
  name: 'configuration',
  async run({ config }) {
    const where = isPostgresUrl(config.databaseUrl) ? 'PostgreSQL' : config.databaseUrl
    // The secret key has already been compared with the database, before the first check.
    return [
      ok(
        `The environment is valid. Database: ${where}, port ${config.port}. The secret key is the one of the database.`,
      ),
    ]
  },
}

export const checkDatabase: Check = {
  name: 'database',
  async run({ store, config }) {
    const { version, sizeBytes, settings } = await databaseFacts(store)
    const kind = store.dialect === 'postgres' ? 'PostgreSQL' : 'SQLite'
    const findings: Finding[] = [ok(`${kind} ${version}, ${Math.ceil(sizeBytes / mib)} MiB, schema up to date.`)]
    const major = Number.parseInt(version, 10)
    if (store.dialect === 'postgres' && major < 14)
      findings.push(warn(`PostgreSQL ${major} is no longer maintained.`, 'Upgrade to PostgreSQL 14 or newer.'))
    const risky: Record<string, [off: string, advice: string]> = {
      fsync: ['A power cut can destroy the database', 'Set fsync = on in postgresql.conf.'],
      full_page_writes: ['A power cut can destroy the database', 'Set full_page_writes = on.'],
      synchronous_commit: ['A power cut can lose charges of the last moments', 'Set synchronous_commit = on.'],
      autovacuum: ['Tables grow and become slow', 'Set autovacuum = on.'],
      track_counts: ['Autovacuum does not work', 'Set track_counts = on.'],
    }
    for (const [name, [text, advice]] of Object.entries(risky))
      if (settings[name] === 'off') findings.push(fail(`${name} is off. ${text}.`, advice))
    if (store.dialect === 'sqlite') {
      if (settings['journal_mode'] !== 'wal')
        findings.push(
          fail(`The journal mode is ${settings['journal_mode']}, not WAL.`, 'Stop the server and start it again.'),
        )
      findings.push(...networkDisk(config.databaseUrl))
    }
    const times = await commitTimes(store, 9)
    const median = Math.round((times[4] ?? 0) * 10) / 10
    findings.push(
      median > slowCommitMs
        ? warn(
            `A commit takes ${median} ms.`,
            'Every call waits for two commits. Use a faster disk, or PostgreSQL near this machine.',
          )
        : ok(`A commit takes ${median} ms.`),
    )
    return findings
  },
}

/** Magic numbers (statfs(2)) of file systems whose locks or syncs differ from those of a local disk. */
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  16914839: '9p',
  1702057286: 'FUSE',
  12805120: 'Ceph',
  1397113167: 'AFS',
}

function networkDisk(file: string): Finding[] {
  const name = networkFileSystems[statfsSync(dirname(file)).type]
  if (name === undefined) return []
  return [
    (name === 'FUSE' ? warn : fail)(
      `The database is on a network disk (${name}). SQLite can lose or damage data there.`,
      'Move DATA_DIR to a local disk, or use PostgreSQL.',
    ),
  ]
}

export const checkDisk: Check = {
  name: 'disk',
  async run({ config }) {
    const { bavail, bsize } = statfsSync(config.dataDir)
    const free = Math.floor((bavail * bsize) / mib)
    const text = `${free} MiB are free in ${config.dataDir}.`
    const space =
      free < 200
        ? fail(text, 'Free some space now: without it, calls are refused.')
        : free < 2048
          ? warn(text, 'Free some space, or delete old log rows (LogRetentionDays).')
          : ok(text)
    const ms = Math.round(syncMs(config.dataDir) * 10) / 10
    const sync =
      ms > slowCommitMs
        ? warn(`A durable write to the disk takes ${ms} ms.`, 'Use a faster disk.')
        : ok(`A durable write to the disk takes ${ms} ms.`)
    return [space, sync]
  },
}

/** The median time to write 4 KiB and to wait until they are on the disk. */
function syncMs(folder: string): number {
  const file = join(folder, `.doctor-${process.pid}`)
  const handle = openSync(file, 'wx', 0o600)
  try {
    const bytes = Buffer.alloc(4096, 1)
    const times = Array.from({ length: 9 }, () => {
      const start = performance.now()
      writeSync(handle, bytes, 0, bytes.length, 0)
      fsyncSync(handle)
      return performance.now() - start
    })
    return times.sort((a, b) => a - b)[4] ?? 0
  } finally {
    closeSync(handle)
    rmSync(file, { force: true })
  }
}
