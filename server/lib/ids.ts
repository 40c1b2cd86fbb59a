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

/**
 * Request id in one-api's form: the local time as yyyymmddHHMMSS and nanoseconds, then eight random digits. The part
 * after the seconds grows with every call of a process, so ids sort by time.
 */
export function requestId(nowMs: number): string {
  const at = new Date(nowMs)
  const pad = (value: number, width = 2) => String(value).padStart(width, '0')
  const date = `${at.getUTCFullYear()}${pad(at.getUTCMonth() + 1)}${pad(at.getUTCDate())}`
  const time = `${pad(at.getUTCHours())}${pad(at.getUTCMinutes())}${pad(at.getUTCSeconds())}${pad(at.getUTCMilliseconds(), 3)}`
  lastId = (lastId + 1) % 1_000_000
  return `${date}${time}${pad(lastId, 6)}${pad(Math.floor(Math.random() * 100_000_000), 8)}`
}
