import { hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { BackupError } from './backup-error.ts'
import type { Encryption } from './header.ts'

/** The secret with which the operator encrypts a backup. */
export type BackupSecret = { passphrase: string } | { keyFile: Uint8Array }

export const shortestPassphrase = 8
const shortestKeyFile = 16
/** The cost parameter of scrypt. With a block size of 8, it takes 64 MiB of memory. */
const cost = 65_536
const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>

/** A new key for one file. Throws BackupError if the passphrase or key file is too short. */
export async function newKey(secret: BackupSecret): Promise<{ key: Buffer; encryption: Encryption }> {
  if ('passphrase' in secret && secret.passphrase.length < shortestPassphrase)
    throw new BackupError(`The passphrase is too short: use at least ${shortestPassphrase} characters.`)
  if ('keyFile' in secret && secret.keyFile.length < shortestKeyFile)
    throw new BackupError(`The key file is too short: use at least ${shortestKeyFile} random bytes.`)
  const salt = randomBytes(16)
  const master = await masterOf(secret, salt, cost)
  const common = { salt: salt.toString('hex'), check: part(master, 'check').subarray(0, 8).toString('hex') }
  return {
    key: part(master, 'key'),
    encryption:
      'passphrase' in secret ? { by: 'passphrase', ...common, cost, blockSize: 8 } : { by: 'key file', ...common },
  }
}

/** The key of an existing file. Throws BackupError if the secret is wrong. */
export async function keyOf(secret: BackupSecret, encryption: Encryption): Promise<Buffer> {
  if ('passphrase' in secret !== (encryption.by === 'passphrase'))
    throw new BackupError(
      encryption.by === 'passphrase'
        ? 'The backup is encrypted with a passphrase, not with a key file: use --passphrase-file or TOLLGATE_BACKUP_PASSPHRASE.'
        : 'The backup is encrypted with a key file, not with a passphrase: use --key-file.',
    )
  const master = await masterOf(
    secret,
    Buffer.from(encryption.salt, 'hex'),
    encryption.by === 'passphrase' ? encryption.cost : cost,
  )
  const expected = Buffer.from(encryption.check, 'hex')
  if (!timingSafeEqual(part(master, 'check').subarray(0, 8), expected))
    throw new BackupError(
      `The ${encryption.by} is wrong: use the one with which this backup was made. Nothing was changed.`,
    )
  return part(master, 'key')
}

async function masterOf(secret: BackupSecret, salt: Buffer, N: number): Promise<Buffer> {
  if ('keyFile' in secret) return Buffer.from(hkdfSync('sha256', secret.keyFile, salt, 'tollgate backup', 32))
  return derive(secret.passphrase.normalize('NFKC'), salt, 32, { N, r: 8, p: 1, maxmem: 256 * N * 8 })
}

function part(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', `tollgate backup ${purpose}`, 32))
}
