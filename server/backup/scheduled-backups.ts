import { mkdir, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { messageOf } from '../lib/message-of.ts'
import { operatorFolder } from '../lib/operator-folder.ts'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import { createS3, type S3 } from '../outbound/s3.ts'
import type { Settings } from '../settings/settings.ts'
import { recordAudit } from '../store/installation/audit.ts'
import {
  addBackupRow,
  type BackupRow,
  beginBackup,
  endBackup,
  forgetBackup,
  lastBackups,
  surplusBackups,
} from '../store/installation/backups.ts'
import { backupRun, beginRun, finishRun, touchRun } from '../store/installation/job-runs.ts'
import type { Store } from '../store/store.ts'
import { backupName, isBackupName } from './backup-name.ts'
import { fileSink, partialEnd, type Sink, writeBackup } from './write-backup.ts'

const hourSeconds = 3600
const aliveEveryMs = 60_000
/** The time after a failed backup until the next attempt. */
const retrySeconds = hourSeconds

export interface ScheduledBackupDeps {
  store: Store
  settings: { current(): Settings }
  clock: Clock
  guard: MetadataGuard
  databaseUrl: string
  dataDir: string
  secretKey: string
  warn(message: string): void
}

/** The backups that the server makes, on schedule or when an admin requests one. */
export interface ScheduledBackups {
  /** Makes a backup if one is due. Only one node makes a backup at a time. */
  runIfDue(): Promise<void>
  /**
   * Starts a backup for the user `by`, and returns before it is finished. Returns `off` if no destination is set, and
   * `running` if a node is already making a backup.
   */
  start(by: string): Promise<'started' | 'running' | 'off'>
  /** When the next backup is due, in epoch seconds; 0 if backups are off. */
  nextAt(): Promise<number>
}

/** Creates the object that makes the backups of this process. */
export function createScheduledBackups(deps: ScheduledBackupDeps): ScheduledBackups {
  const { store, settings, clock, warn } = deps

  const take = () => store.write((trx) => beginRun(trx, backupRun, epochSeconds(clock)))

  /** Makes a backup. `take` must have returned true, so that no other node makes one. Never rejects. */
  async function run(by: string): Promise<void> {
    const alive = setInterval(() => {
      store.write((trx) => touchRun(trx, backupRun, epochSeconds(clock))).catch(() => undefined)
    }, aliveEveryMs)
    alive.unref()
    try {
      await make(deps, by)
    } catch (error) {
      warn(`the backup could not be recorded: ${reasonOf(error)}`)
    } finally {
      clearInterval(alive)
    }
  }

  async function nextAt(): Promise<number> {
    const options = settings.current()
    if (options.BackupStore === 'off') return 0
    const { good, ended } = await lastBackups(store.read, 'server')
    const due = dueAt(options, good?.started_at)
    return ended && ended.error !== '' ? Math.max(due, ended.started_at + retrySeconds) : due
  }

  return {
    nextAt,
    async runIfDue() {
      const isDue = async () => {
        const due = await nextAt()
        return due > 0 && due <= epochSeconds(clock)
      }
      if (!(await isDue()) || !(await take())) return
      // Another node may have made the backup between the first check and `take`.
      if (await isDue()) await run('schedule')
      else await store.write((trx) => finishRun(trx, backupRun, epochSeconds(clock)))
    },
    async start(by) {
      if (settings.current().BackupStore === 'off') return 'off'
      if (!(await take())) return 'running'
      void run(by)
      return 'started'
    },
  }
}

type Schedule = Pick<Settings, 'BackupEveryHours' | 'BackupHour'>

/**
 * When the backup after the last good one is due, in epoch seconds. A backup is due at BackupHour (UTC) on 1970-01-01
 * and every BackupEveryHours from then on. If there is no good backup, one is due now.
 */
export function dueAt({ BackupEveryHours, BackupHour }: Schedule, lastGood: number | undefined): number {
  if (lastGood === undefined) return 1
  const every = BackupEveryHours * hourSeconds
  const from = BackupHour * hourSeconds
  return (Math.floor((lastGood - from) / every) + 1) * every + from
}

/**
 * Makes a backup and then removes the oldest ones if there are too many. The transaction that records the end of the
 * backup also lets the next one begin, so that the list never shows a finished backup while another one is refused.
 */
async function make(deps: ScheduledBackupDeps, by: string): Promise<void> {
  const { store, settings, clock, databaseUrl, secretKey, warn } = deps
  const options = settings.current()
  const now = new Date(clock.nowMs())
  let target: Target
  try {
    target = targetOf(deps, options, backupName(now))
  } catch (error) {
    warn(`the backup failed: ${reasonOf(error)}`)
    const at = epochSeconds(clock)
    const facts = { place: 'files' as const, host: '', path: '', bytes: 0, made_by: by, error: reasonOf(error) }
    await store.write(async (trx) => {
      await addBackupRow(trx, { ...facts, started_at: at, finished_at: at })
      await finishRun(trx, backupRun, at)
    })
    return
  }
  const { place, host, path } = target
  const id = await store.write((trx) =>
    beginBackup(trx, {
      ...{ place, host, path, made_by: by, started_at: epochSeconds(clock) },
      ...{ finished_at: 0, bytes: 0, error: '' },
    }),
  )
  let result: { bytes: number; error: string }
  try {
    await target.prepare()
    const done = await writeBackup(
      {
        databaseUrl,
        secret: { passphrase: options.BackupPassphrase },
        secretKey: options.BackupIncludesKey ? secretKey : undefined,
        now,
      },
      target.sink,
    )
    result = { bytes: done.bytes, error: '' }
  } catch (error) {
    result = { bytes: 0, error: reasonOf(error).slice(0, 500) }
    warn(`the backup failed: ${result.error}`)
  }
  await store.write(async (trx) => {
    await endBackup(trx, id, { finished_at: epochSeconds(clock), ...result })
    await finishRun(trx, backupRun, epochSeconds(clock))
    await recordAudit(trx, {
      created_at: epochSeconds(clock),
      actor_id: 0,
      actor_name: by,
      action: 'backup.create',
      target: path,
      detail: result.error === '' ? `${result.bytes} bytes` : `failed: ${result.error}`,
      ip: '',
    })
  })
  if (result.error === '') await removeSurplus(deps, target, options.BackupKeep)
}

function reasonOf(error: unknown): string {
  return messageOf(error)
}

/** The destination of a backup. */
interface Target extends Pick<BackupRow, 'place' | 'host' | 'path'> {
  prepare(): Promise<void>
  sink: Sink
  /** Removes an earlier backup from the same destination. Succeeds if it is already gone. */
  remove(path: string): Promise<void>
}

function targetOf({ dataDir, guard }: ScheduledBackupDeps, options: Settings, name: string): Target {
  if (options.BackupPassphrase === '') throw new Error('BackupPassphrase is not set')
  if (options.BackupStore === 's3') {
    const s3 = s3Of(options, guard)
    const path = `${options.S3Prefix === '' ? '' : `${options.S3Prefix}/`}backups/${name}`
    return {
      place: 's3',
      host: '',
      path,
      prepare: async () => undefined,
      sink: (bytes) => s3.upload(path, bytes),
      remove: s3.remove,
    }
  }
  const folder = operatorFolder(dataDir, 'BackupFolder', options.BackupFolder)
  const path = join(folder, name)
  return {
    place: 'files',
    host: hostname(),
    path,
    async prepare() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await removePartial(folder)
    },
    sink: fileSink(path),
    remove: (old) => rm(old, { force: true }),
  }
}

/**
 * Removes incomplete files of backups that were interrupted. This is safe because no other node is making a backup at
 * this time.
 */
async function removePartial(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith(partialEnd) && isBackupName(name.slice(0, -partialEnd.length)))
      await rm(join(folder, name), { force: true })
}

function s3Of(options: Settings, guard: MetadataGuard): S3 {
  const { S3Endpoint, S3Region, S3Bucket, S3AccessKeyId, S3SecretAccessKey } = options
  const key = { accessKeyId: S3AccessKeyId, secretAccessKey: S3SecretAccessKey }
  return createS3({ endpoint: S3Endpoint, region: S3Region, bucket: S3Bucket, ...key }, guard)
}

async function removeSurplus({ store, warn }: ScheduledBackupDeps, target: Target, keep: number): Promise<void> {
  for (const { id, path } of await surplusBackups(store.read, target, keep)) {
    try {
      // The path comes from the database. It is deleted only if its name is that of a scheduled backup.
      if (isBackupName(basename(path))) await target.remove(path)
      await store.write((trx) => forgetBackup(trx, id))
    } catch (error) {
      warn(`an old backup could not be deleted: ${reasonOf(error)}`)
      return
    }
  }
}
