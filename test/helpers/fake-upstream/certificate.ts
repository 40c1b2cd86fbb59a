import { Buffer } from 'node:buffer'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate and its key, as PEM. */
export interface SelfSigned {
  readonly certificate: string
  readonly key: string
}

/**
 * Creates a certificate for 127.0.0.1 and localhost that is valid from a day ago until a day from now. No key is stored
 * in the repository.
 */
export function selfSignedCertificate(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const algorithm = sequence(objectId('2a8648ce3d040302'))
  const name = sequence(tlv(0x31, sequence(objectId('550403'), tlv(0x0c, Buffer.from('fake upstream')))))
  const day = 86_400_000
  const validity = sequence(utcTime(Date.now() - day), utcTime(Date.now() + day))
  const serial = tlv(0x02, Buffer.concat([Buffer.from([1]), createHash('sha256').update(spki).digest().subarray(0, 8)]))
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    serial,
    algorithm,
    name,
    validity,
    name,
    spki,
    extensions(),
  )
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const der = sequence(body, algorithm, signature).toString('base64')
  const lines = der.match(/.{1,64}/g) ?? []
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function extensions(): Buffer {
  const names = sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x87, Buffer.from([127, 0, 0, 1])))
  const isAuthority = sequence(tlv(0x01, Buffer.from([0xff])))
  return tlv(
    0xa3,
    sequence(
      sequence(objectId('551d11'), tlv(0x04, names)),
      sequence(objectId('551d13'), tlv(0x01, Buffer.from([0xff])), tlv(0x04, isAuthority)),
    ),
  )
}

function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), value])
  if (length < 256) return Buffer.concat([Buffer.from([tag, 0x81, length]), value])
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), value])
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts))
}

function objectId(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'))
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)
  return tlv(0x17, Buffer.from(`${digits}Z`))
}
