import { createCipheriv, createDecipheriv, createHash, createHmac, scryptSync } from 'node:crypto'

/** The minimum length of a passphrase in characters. */
export const shortestPassphrase = 12

/**
 * Encrypts the secrets of an export. The same secret in the same field always gives the same text, so that exports of
 * equal installations are equal.
 */
export interface ExportSeal {
  seal(plain: string, field: string): string
  /** Throws if the text was encrypted with another passphrase or for another field, or if it was changed. */
  open(sealed: string, field: string): string
  /** A value that shows whether a passphrase is correct. */
  check: string
}

const nonceBytes = 12
const tagBytes = 16

/**
 * `salt` is specific to the installation, so that a precomputed table of passphrases is useless for other
 * installations.
 */
export function createExportSeal(passphrase: string, salt: string): ExportSeal {
  const keys = scryptSync(passphrase, createHash('sha256').update(salt).digest(), 64, {
    N: 2 ** 16,
    r: 8,
    p: 1,
    maxmem: 128 * 1024 * 1024,
  })
  const [sealKey, nonceKey] = [keys.subarray(0, 32), keys.subarray(32)]
  return {
    check: createHmac('sha256', nonceKey).update('check').digest('base64url'),
    seal(plain, field) {
      // The nonce is derived from the text (as in RFC 5297), so that it repeats only if the text and the field are the
      // same.
      const nonce = createHmac('sha256', nonceKey).update(`${field}\0${plain}`).digest().subarray(0, nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(field))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open(sealed, field) {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, nonceBytes))
      decipher.setAAD(Buffer.from(field)).setAuthTag(bytes.subarray(-tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString()
    },
  }
}
