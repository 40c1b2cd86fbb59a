import { createHash, hkdfSync } from 'node:crypto'
import { gcm } from '@noble/ciphers/aes.js'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'

const boxNonce = 24
const gcmNonce = 12
const tagBytes = 16

/**
 * The marks with which texts in LiteLLM's newer encryption formats begin, each with the function that derives the key.
 */
const gcmForms: readonly (readonly [mark: string, keyOf: (salt: string) => Uint8Array])[] = [
  ['v3:gcm:', (salt) => new Uint8Array(hkdfSync('sha256', salt, '', 'litellm-at-rest-v3', 32))],
  ['v2:gcm:', hashOf],
]

function hashOf(salt: string): Uint8Array {
  return createHash('sha256').update(salt).digest()
}

/**
 * True if a text has one of LiteLLM's encryption formats: AES-GCM with a mark at the start, or a NaCl box in base64.
 */
export function looksSealed(text: string): boolean {
  if (gcmForms.some(([mark]) => text.startsWith(mark))) return true
  return (
    /^[\w+/-]+={0,2}$/.test(text) && text.length % 4 === 0 && Buffer.from(text, 'base64').length >= boxNonce + tagBytes
  )
}

/** Decrypts a text with LiteLLM's salt key; undefined if it was encrypted with another key. */
export function openSealed(text: string, salt: string): string | undefined {
  const form = gcmForms.find(([mark]) => text.startsWith(mark))
  const bytes = Buffer.from(form ? text.slice(form[0].length) : text, 'base64')
  try {
    const plain = form
      ? gcm(form[1](salt), bytes.subarray(0, gcmNonce)).decrypt(bytes.subarray(gcmNonce))
      : xsalsa20poly1305(hashOf(salt), bytes.subarray(0, boxNonce)).decrypt(bytes.subarray(boxNonce))
    return Buffer.from(plain).toString('utf8')
  } catch {
    return undefined
  }
}
