import { createWriteStream, existsSync, mkdirSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { mostUploadBytes } from '../../contract/api/import.ts'
import { inTime } from '../lib/body-time.ts'
import { randomHex } from '../lib/secrets/ids.ts'

/** An uploaded file that was refused. The message is a sentence for the sender. */
export class UploadRefused extends Error {
  /**
   * The status of the response. It is 413 if the file is too large, 408 if it arrives too slowly, and otherwise 200,
   * which the management API also returns with other errors.
   */
  readonly status: 200 | 408 | 413

  constructor(message: string, status: 200 | 408 | 413 = 200) {
    super(message)
    this.status = status
  }
}

/** An uploaded file from which an import can read. */
export interface Upload {
  id: string
  bytes: number
  kind: 'sqlite' | 'config'
}

const ends = { sqlite: '.db', config: '.yaml' } as const
const largestConfig = 5_000_000
/** The smallest page size of SQLite, and thus the smallest possible database. */
const leastDatabase = 512
const oldMs = 24 * 3_600_000

/** The uploaded files on this host. Their names are random, so nothing that a caller sends becomes part of a path. */
export interface ImportUploads {
  /**
   * Stores a file under a new id. `statedBytes` is its size according to the sender. The sender may be silent for
   * `idleMs`; 0 means without a limit. If the upload fails, the part that was written is deleted. Throws UploadRefused
   * if the file is refused.
   */
  store(body: ReadableStream<Uint8Array> | null, given: { statedBytes: number; idleMs: number }): Promise<Upload>
  /** The path of a file; undefined if it is not on this host. */
  pathOf(id: string): string | undefined
  /**
   * Deletes files whose ids are not in `used`, files that are older than a day, and files that killed imports left
   * behind.
   */
  sweep(used: ReadonlySet<string>): Promise<void>
}

/**
 * Stores files of at most `most` bytes in the data folder, where only the operating-system user of the process can read
 * them.
 */
export function createImportUploads(
  dataDir: string,
  nowMs: () => number,
  most: number = mostUploadBytes,
): ImportUploads {
  const parent = join(dataDir, 'imports')
  const folder = join(parent, 'uploads')
  const uploads: ImportUploads = {
    async store(body, { statedBytes, idleMs }) {
      if (statedBytes > most) throw tooLarge()
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const id = randomHex(16)
      const partial = join(folder, `${id}.part`)
      try {
        const bytes = await write(body, partial, { most, idleMs })
        const kind = await kindOf(partial, bytes)
        await rename(partial, join(folder, id + ends[kind]))
        return { id, bytes, kind }
      } catch (error) {
        await rm(partial, { force: true })
        throw refusalOf(error)
      }
    },
    pathOf(id) {
      if (!/^[0-9a-f]{32}$/.test(id)) return undefined
      return Object.values(ends)
        .map((end) => join(folder, id + end))
        .find((path) => existsSync(path))
    },
    async sweep(used) {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name)
        const isOld = nowMs() - (await stat(path)).mtimeMs > oldMs
        const isUsed = used.has(name.split('.')[0] ?? '') || name.endsWith('.part')
        if (isOld || !isUsed) await rm(path, { force: true })
      }
      for (const name of await readdir(parent).catch(() => [])) {
        const path = join(parent, name)
        if (name.startsWith('reading-') && nowMs() - (await stat(path)).mtimeMs > oldMs)
          await rm(path, { recursive: true, force: true })
      }
    },
  }
  return uploads
}

async function write(
  body: ReadableStream<Uint8Array> | null,
  path: string,
  { most, idleMs }: { most: number; idleMs: number },
): Promise<number> {
  let bytes = 0
  async function* counted() {
    const reader = body?.getReader()
    try {
      for (;;) {
        const part = reader && (await inTime(reader.read(), idleMs, tooSlow))
        if (!part || part.done) return
        bytes += part.value.length
        if (bytes > most) throw tooLarge()
        yield part.value
      }
    } finally {
      reader?.cancel().catch(() => undefined)
    }
  }
  await pipeline(counted(), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  return bytes
}

function tooSlow(): UploadRefused {
  return new UploadRefused('The request body did not arrive in time.', 408)
}

/** The kind of a file, judged by its content and not by its name. */
async function kindOf(path: string, bytes: number): Promise<Upload['kind']> {
  const file = await open(path)
  try {
    const start = Buffer.alloc(16)
    await file.read(start, 0, 16, 0)
    if (bytes >= leastDatabase && start.toString('latin1') === 'SQLite format 3\0') return 'sqlite'
    if (bytes <= largestConfig) {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile())
      if (/^(?:model_list|litellm_settings|router_settings|general_settings)\s*:/m.test(text)) return 'config'
    }
  } catch {
    // The file is not UTF-8 text.
  } finally {
    await file.close()
  }
  throw new UploadRefused('The file is neither a SQLite database nor a config.yaml of LiteLLM.')
}

function tooLarge(): UploadRefused {
  return new UploadRefused('The file is larger than 512 MiB. Import it on the command line of the server.', 413)
}

function refusalOf(error: unknown): unknown {
  if (error instanceof UploadRefused) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return new UploadRefused('There is no space for the file on the server.')
  if (code?.startsWith('E') && code !== 'ECONNRESET' && code !== 'ERR_STREAM_PREMATURE_CLOSE') return error
  // The sender disconnected.
  return new UploadRefused('The request body broke off.')
}
