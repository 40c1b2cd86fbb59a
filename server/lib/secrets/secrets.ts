import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts data that must be read again, and hashes data that must only be recognized. Both use keys that are derived
 * from one master key.
 */
export interface Secrets {
  /**
   * Encrypts a text with AES-256-GCM. `context` binds the ciphertext to its field, so that it cannot be decrypted in
   * another field.
   */
  seal(plain: string, context: string): string
  /** Decrypts a text. Throws if it was not encrypted with this key for this context. */
  open(sealed: string, context: string): string
  /** Like `seal`, for bytes. */
  sealBytes(plain: Uint8Array, context: string): Buffer
  /** Like `open`, for bytes. */
  openBytes(sealed: Uint8Array, context: string): Buffer
  /**
   * A keyed hash for look-ups, as 64 hex digits. The same input gives the same output. Without the key, the output
   * reveals nothing about the input.
   */
  fingerprint(value: string, purpose: string): string
}

const version = 'v1'
const nonceBytes = 12
const tagBytes = 16

/**
 * Derives the working keys from the master secret. The secret may have any length, and its entropy is the operator's
 * responsibility.
 */
export function createSecrets(master: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', master, 'tollgate', purpose, 32))
  const sealKey = derive('seal')
  const hashKey = derive('fingerprint')
  function sealBytes(plain: Uint8Array, context: string): Buffer {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
  function openBytes(bytes: Uint8Array, context: string): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, nonceBytes))
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
  }
  return {
    seal: (plain, context) => `${version}.${sealBytes(Buffer.from(plain), context).toString('base64url')}`,
    open(sealed, context) {
      const [mark, text] = sealed.split('.')
      if (mark !== version || text === undefined) throw new Error('not a sealed text of this version')
      return openBytes(Buffer.from(text, 'base64url'), context).toString()
    },
    sealBytes,
    openBytes,
    fingerprint: (value, purpose) => createHmac('sha256', hashKey).update(`${purpose}\0${value}`).digest('hex'),
  }
}
