import { basename, dirname, join } from 'node:path'
import { type ImportPart, type ImportReport, type ImportRun, importParts } from '../../contract/api/import.ts'
import { importTexts } from '../../contract/import-texts.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { codedTexts } from '../lib/coded-texts.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { messageOf } from '../lib/message-of.ts'
import { sourceAddress } from '../lib/network/source-address.ts'
import { programUrl } from '../lib/program-files.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Resolve } from '../outbound/metadata-guard.ts'
import { operatorAddress } from '../outbound/operator-address.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'
import {
  beginImportRun,
  forgetSources,
  type ImportRunRow,
  importDeadSeconds,
  importRun,
  takeImportRun,
  usedUploads,
} from '../store/imports/import-runs.ts'
import type { Trx } from '../store/store.ts'
import type { ImportEngine, ImportOptions } from './import-engine.ts'
import { isGone, type RunEnd, type RunProgress, reportProgress, runOwner } from './import-progress.ts'
import { createImportUploads, type ImportUploads } from './import-uploads.ts'
import type { Job } from './scheduler.ts'

/** The source of an import as a person entered it. It is stored encrypted. */
export interface ImportSource {
  address: string
  logsAddress: string
  saltKey: string
  upload: string
  uploadName: string
}

/** The choices for an import. */
export interface ImportChoices {
  dry_run: boolean
  merge: boolean
  only: readonly ImportPart[]
  since: number
}

export interface ImportRunsDeps {
  store: OpenedStore
  secrets: Secrets
  clock: Clock
  dataDir: string
  warn(message: string): void
  /** Replaces the system's name resolution. */
  resolve?: Resolve
}

/** Imports that people start in the console. */
export interface ImportRuns {
  readonly uploads: ImportUploads
  /** Queues a run in a transaction. Throws a unique violation if another run is active on any node. */
  queue(trx: Trx, source: ImportSource, choices: ImportChoices, startedBy: string): Promise<number>
  /** Tells all nodes about a queued run. A node that can read the source begins it. */
  begin(id: number): Promise<void>
  /** The source of a run; undefined if it is not stored or cannot be decrypted. */
  sourceOf(row: ImportRunRow): ImportSource | undefined
  /**
   * Ends a run of this process at its next step. If another node executes the run, that node reads the cancellation
   * from the database.
   */
  cancel(id: number): void
  /** A run as the API shows it. */
  view(row: ImportRunRow): ImportRun
  /** The path of a run's leftovers file; undefined if it is not on this host. */
  leftoversOf(report: ImportReport): string | undefined
  jobs: Job[]
  /** Ends the runs of this process. They can be continued. */
  close(): Promise<void>
}

const context = 'import-source'
const keptSeconds = 86_400
const sweepMs = 600_000
/** The number of attempts to record the end of a run if the database does not respond. */
const endTries = 5
const endPauseMs = 2000

interface OwnRun {
  cancelled: AbortController
  progress: RunProgress
  ended: Promise<void>
}

export function createImportRuns(deps: ImportRunsDeps): ImportRuns {
  const { store, secrets, clock, dataDir, warn } = deps
  const uploads = createImportUploads(dataDir, clock.nowMs)
  const own = new Map<number, OwnRun>()
  let closing = false

  const sourceOf = ({ sealed }: ImportRunRow): ImportSource | undefined => {
    try {
      const source = tryParse(sealed === '' ? '' : secrets.open(sealed, context))
      return isObject(source) ? (source as unknown as ImportSource) : undefined
    } catch {
      return undefined
    }
  }

  /** Starts a queued run if this node can read its source. Does not wait for the run to end. */
  async function take(id: number): Promise<void> {
    const row = await importRun(store.read, id)
    const source = row && sourceOf(row)
    if (closing || row?.state !== 'queued' || !source) return
    if (source.upload !== '' && uploads.pathOf(source.upload) === undefined) return
    if (!(await store.write((trx) => takeImportRun(trx, id, runOwner(), epochSeconds(clock))))) return
    const cancelled = new AbortController()
    const progress = reportProgress({ store, nowMs: clock.nowMs }, id, () => cancelled.abort())
    own.set(id, { cancelled, progress, ended: run(row, source, { cancelled, progress }).finally(() => own.delete(id)) })
  }

  /** Executes a run. Never rejects. */
  async function run(row: ImportRunRow, source: ImportSource, of: Omit<OwnRun, 'ended'>): Promise<void> {
    const end = await outcomeOf(deps, { row, source, uploads, ...of })
    const state = end.state === 'cancelled' && closing ? ({ state: 'interrupted' } as const) : end
    // After a dry run or a failure, the stored address and credentials of the source are kept, so that the user can run
    // the import again.
    const forget = !row.dry_run && (state.state === 'done' || state.state === 'cancelled')
    for (let tries = 1; ; tries++) {
      try {
        await of.progress.end(state, forget)
        break
      } catch (error) {
        if (tries < endTries && !closing) {
          await new Promise((resolve) => setTimeout(resolve, endPauseMs))
          continue
        }
        warn(`the end of import ${row.id} could not be recorded: ${String(error)}`)
        return
      }
    }
    await sweep().catch((error) => warn(`uploaded files could not be deleted: ${String(error)}`))
  }

  async function sweep(): Promise<void> {
    await uploads.sweep(await usedUploads(store.read))
  }

  store.notices.subscribe(async (notice) => {
    if (notice !== 'reconnected' && notice.topic === 'import') await take(notice.id)
  })

  return {
    uploads,
    sourceOf,
    queue: (trx, source, choices, startedBy) =>
      beginImportRun(
        trx,
        {
          ...runOwner(),
          ...{ state: 'queued', dry_run: choices.dry_run, merge: choices.merge, since: choices.since },
          ...{ parts: choices.only.join(','), source: labelOf(source), started_by: startedBy },
          sealed: secrets.seal(JSON.stringify(source), context),
          upload: source.upload,
          upload_name: source.uploadName,
          created_at: epochSeconds(clock),
        },
        isGone,
      ),
    begin: (id) => store.notices.publish({ topic: 'import', id }),
    cancel: (id) => own.get(id)?.cancelled.abort(),
    view: (row) => viewOf(row, own.get(row.id)?.progress, epochSeconds(clock)),
    leftoversOf({ leftoversFile }) {
      // A path from the database is used only if an import could have written that file.
      const isOurs =
        dirname(leftoversFile) === join(dataDir, 'imports') && /^[a-z-]+-\d+-\d+\.jsonl$/.test(basename(leftoversFile))
      return isOurs ? leftoversFile : undefined
    },
    jobs: [
      {
        name: 'import-sources',
        everyMs: sweepMs,
        async run() {
          await store.write((trx) => forgetSources(trx, epochSeconds(clock) - keptSeconds))
          await sweep()
        },
      },
    ],
    async close() {
      closing = true
      const runs = [...own.values()]
      for (const { cancelled } of runs) cancelled.abort()
      await Promise.all(runs.map(({ ended }) => ended))
    },
  }
}

/** Loads the import engine. It is a separate bundle, because servers rarely need it and it uses memory. */
function engine(): Promise<ImportEngine> {
  return import(programUrl('../import/engine', import.meta.url))
}

interface Work extends Omit<OwnRun, 'ended'> {
  row: ImportRunRow
  source: ImportSource
  uploads: ImportUploads
}

async function outcomeOf(deps: ImportRunsDeps, { row, source, uploads, cancelled, progress }: Work): Promise<RunEnd> {
  const { store, secrets, clock, dataDir, warn } = deps
  const path = source.upload === '' ? undefined : uploads.pathOf(source.upload)
  const options: ImportOptions = {
    from: source.address,
    logsFrom: source.logsAddress === '' ? undefined : source.logsAddress,
    litellmConfig: undefined,
    only: new Set(partsOf(row)),
    since: row.since,
    merge: row.merge,
    dryRun: row.dry_run,
    dataDir,
    access: {
      addressOf: (host) => operatorAddress(host, deps.resolve),
      upload: path === undefined ? undefined : { path, name: source.uploadName || 'The uploaded file' },
    },
  }
  try {
    const { importOnce } = await engine()
    const outcome = await importOnce(
      {
        ...{ store, secrets, nowMs: clock.nowMs, progress: progress.show, signal: cancelled.signal },
        actor: { id: 0, name: row.started_by, ip: '' },
        // LiteLLM's config.yaml may refer to environment variables. A file that a user uploaded must not read those of
        // the server.
        variable: (name) => (name === 'LITELLM_SALT_KEY' && source.saltKey !== '' ? source.saltKey : undefined),
      },
      options,
    )
    if ('report' in outcome) return { state: 'done', report: outcome.report }
    return 'fault' in outcome ? { state: 'failed', error: outcome.fault } : { state: 'cancelled' }
  } catch (error) {
    const reason = messageOf(error)
    warn(`import ${row.id} failed: ${error instanceof Error ? (error.stack ?? reason) : reason}`)
    return { state: 'failed', error: `The import failed unexpectedly: ${reason}` }
  }
}

/** The code of the message that says why an import failed. */
const errorTextOf = codedTexts(importTexts)

const partsOf = ({ parts }: ImportRunRow) => importParts.filter((part) => parts.split(',').includes(part))

/** The text that is shown instead of a URL with a password. */
function labelOf({ address, uploadName }: ImportSource): string {
  if (address === '') return uploadName
  const parsed = sourceAddress(address)
  return 'fault' in parsed ? '' : parsed.label
}

function viewOf(row: ImportRunRow, progress: RunProgress | undefined, now: number): ImportRun {
  const isDead = row.active === 1 && !progress && (isGone(row) || row.updated_at <= now - importDeadSeconds)
  const state = isDead ? 'interrupted' : row.state
  const isActive = state === 'queued' || state === 'running'
  const { stage, done, total, per_second } = progress?.now() ?? row
  const lost = `No running server has the uploaded file ${row.upload_name}. Upload it again.`
  const error = isDead && row.state === 'queued' && row.upload !== '' ? lost : row.error
  const coded = errorTextOf(error)
  return {
    ...{ id: row.id, state, dry_run: row.dry_run, source: row.source, merge: row.merge, since: row.since },
    only: partsOf(row),
    started_by: row.started_by,
    created_at: row.created_at,
    finished_at: isActive ? 0 : row.finished_at || row.updated_at,
    stage: isActive ? (stage as ImportRun['stage']) : '',
    ...{ done, total, per_second },
    error,
    ...(coded && { error_code: coded.code, ...(coded.values && { error_values: coded.values }) }),
    can_continue: !isActive && row.sealed !== '',
    has_leftovers: /"leftoversFile":"[^"]/.test(row.report),
  }
}
