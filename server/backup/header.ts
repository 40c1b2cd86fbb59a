import * as z from 'zod/mini'
import { BackupError, damagedBackup } from './backup-error.ts'

/** The version of the file format that this version of Tollgate writes, and the newest that it can read. */
export const formatVersion = 1

const saltHex = z.string().check(z.regex(/^[0-9a-f]{32}$/))
/** A check value that reveals a wrong passphrase before anything is decrypted. */
const check = z.string().check(z.regex(/^[0-9a-f]{16}$/))

const encryptionSchema = z.union([
  z.object({
    by: z.literal('passphrase'),
    salt: saltHex,
    check,
    // With limits, a manipulated file cannot exhaust the memory.
    cost: z.int().check(z.gte(1024), z.lte(1_048_576)),
    blockSize: z.literal(8),
  }),
  z.object({ by: z.literal('key file'), salt: saltHex, check }),
])

const headerSchema = z.object({
  product: z.literal('Tollgate'),
  format: z.int(),
  /** The version of Tollgate that wrote the file. */
  version: z.string(),
  /** The name of the last migration that was applied to the database. */
  schema: z.string(),
  created_at: z.iso.datetime(),
  database: z.enum(['sqlite', 'postgres']),
  compression: z.enum(['zstd']),
  encryption: z.nullable(encryptionSchema),
  has_secret_key: z.boolean(),
})

/** The facts at the beginning of a backup that can be read without a passphrase. */
export type BackupHeader = z.infer<typeof headerSchema>
export type Encryption = z.infer<typeof encryptionSchema>

/** The first bytes of every backup, in all format versions. */
export const magic = Buffer.from('TOLLGATE BACKUP\n')
export const mostHeaderBytes = 64 * 1024

/** The bytes of a header: the length of its JSON, and the JSON. */
export function headerBytes(header: BackupHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(json.length)
  return Buffer.concat([magic, length, json])
}

/** Parses the JSON of a header. Throws BackupError if this version cannot read it. */
export function parseHeader(json: Buffer): BackupHeader {
  let value: unknown
  try {
    value = JSON.parse(json.toString())
  } catch (error) {
    throw damagedBackup(`its header cannot be read: ${String(error)}`)
  }
  const { format, version } = value as { format?: unknown; version?: unknown }
  if (typeof format === 'number' && format > formatVersion)
    throw new BackupError(
      `The backup was written by Tollgate ${String(version)} in a format that this version cannot read: install that version or a newer one, and try again.`,
    )
  const parsed = z.safeParse(headerSchema, value)
  if (!parsed.success) throw damagedBackup('its header is not complete')
  return parsed.data
}
