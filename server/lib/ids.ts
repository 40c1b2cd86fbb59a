import { randomBytes, randomInt } from 'node:crypto'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` characters of 0-9A-Za-z from the system's random source, without bias. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += base62[randomInt(base62.length)]
  return text
}

/** `bytes` random bytes as lower-case hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

let lastId = 0
let second = 0
let secondText = ''

/**
 * Request id in one-api's form: the time as yyyymmddHHMMSS, nine digits below the second, then eight random digits. The
 * digits below the second are milliseconds and a count, so that ids of one process sort by time.
 */
export function requestId(nowMs: number): string {
  const nowSecond = Math.floor(nowMs / 1000)
  if (nowSecond !== second) {
    second = nowSecond
    secondText = new Date(nowSecond * 1000).toISOString().replace(/\D/g, '').slice(0, 14)
  }
  lastId = (lastId + 1) % 1_000_000
  const below = (nowMs - nowSecond * 1000) * 1_000_000 + lastId
  const random = Math.floor(Math.random() * 100_000_000)
  // Adding a leading 1 and cutting it off pads with zeros.
  return secondText + String(1_000_000_000 + Math.floor(below)).slice(1) + String(100_000_000 + random).slice(1)
}
