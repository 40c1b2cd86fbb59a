import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import { createS3, type S3 } from '../outbound/s3.ts'
import type { Settings } from '../settings/settings.ts'

/** Where recorded requests are stored. */
export type Place = 'files' | 's3'

/** A store for recorded requests, by request id. */
export interface CaptureStore {
  put(id: string, bytes: Uint8Array): Promise<void>
  /** Returns the object with this id; undefined if there is none. */
  get(id: string): Promise<Buffer | undefined>
  /** Removes the object with this id. Succeeds if there is none. */
  remove(id: string): Promise<void>
}

/** The store for files of this node. */
export interface CaptureFiles extends CaptureStore {
  /** Calls `visit` with the ids of the stored files, in groups of at most a few hundred. */
  each(visit: (ids: readonly string[]) => Promise<void>): Promise<void>
}

const idForm = /^\d{31}$/
const extension = '.capture'
/** An incomplete file that is older than this belongs to a process that has ended. */
const unfinishedMs = 600_000
const visitedAtOnce = 500

/** Stores files in one folder per day. Only the user that runs the server can read them. */
export function captureFiles(folder: string): CaptureFiles {
  const dayOf = (id: string) => {
    if (!idForm.test(id)) throw new Error('not a request id')
    return join(folder, id.slice(0, 8))
  }
  const pathOf = (id: string) => join(dayOf(id), `${id}${extension}`)
  return {
    async put(id, bytes) {
      await mkdir(dayOf(id), { recursive: true, mode: 0o700 })
      // The file gets its final name only when it is complete, so a reader never finds an incomplete file.
      const unfinished = join(dayOf(id), `${randomUUID()}.tmp`)
      await writeFile(unfinished, bytes, { mode: 0o600 })
      await rename(unfinished, pathOf(id))
    },
    get: (id) => readFile(pathOf(id)).catch(undefinedIfMissing),
    remove: (id) => rm(pathOf(id), { force: true }),
    async each(visit) {
      for (const day of await readdir(folder).catch(() => [])) {
        const dayFolder = join(folder, day)
        const names = await readdir(dayFolder).catch(() => [])
        const ids = names.filter((name) => name.endsWith(extension)).map((name) => name.slice(0, -extension.length))
        for (let from = 0; from < ids.length; from += visitedAtOnce)
          await visit(ids.slice(from, from + visitedAtOnce).filter((id) => idForm.test(id)))
        for (const name of names) if (name.endsWith('.tmp')) await removeIfOld(join(dayFolder, name))
        // Removes the day's folder if it is empty. Otherwise `rmdir` fails, and the folder stays.
        await rmdir(dayFolder).catch(() => undefined)
      }
    },
  }
}

async function removeIfOld(path: string): Promise<void> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
  if (Date.now() - mtimeMs > unfinishedMs) await rm(path, { force: true })
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

const mostObjectBytes = 256 * 1024 * 1024

/** Stores objects in the bucket from the settings. */
export function captureObjects(settings: Settings, guard: MetadataGuard): CaptureStore {
  const { S3Endpoint, S3Region, S3Bucket, S3AccessKeyId, S3SecretAccessKey, S3Prefix } = settings
  const s3: S3 = createS3(
    {
      endpoint: S3Endpoint,
      region: S3Region,
      bucket: S3Bucket,
      accessKeyId: S3AccessKeyId,
      secretAccessKey: S3SecretAccessKey,
    },
    guard,
  )
  const keyOf = (id: string) => {
    if (!idForm.test(id)) throw new Error('not a request id')
    return `${S3Prefix === '' ? '' : `${S3Prefix}/`}captures/${id.slice(0, 8)}/${id}`
  }
  return {
    put: (id, bytes) => s3.put(keyOf(id), bytes),
    get: (id) => s3.get(keyOf(id), mostObjectBytes),
    remove: (id) => s3.remove(keyOf(id)),
  }
}
