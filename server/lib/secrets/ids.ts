import { randomBytes, randomInt } from 'node:crypto'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns `length` random characters of 0-9A-Za-z from the system's random source, without bias. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += base62[randomInt(base62.length)]
  return text
}

/** Returns `bytes` random bytes in lower-case hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** The header that returns a request's id to its sender. It has the same name as in one-api. */
export const requestIdHeader = 'X-Oneapi-Request-Id'

let lastId = 0
let second = 0
let secondText = ''

/**
 * Creates a request id in one-api's format. It consists of the time as yyyymmddHHMMSS, nine digits for the order within
 * the second, and eight random digits. The nine digits are the milliseconds and a counter, so that the ids of one
 * process sort by time.
 */
export function requestId(nowMs: number): string {
  const nowSecond = Math.floor(nowMs / 1000)
  if (nowSecond !== second) {
    second = nowSecond
    secondText = new Date(nowSecond * 1000).toISOString().replace(/\D/g, '').slice(0, 14)
  }
  lastId = (lastId + 1) % 1_000_000
  const ms = Math.floor(nowMs - nowSecond * 1000)
  const random = Math.floor(Math.random() * 100_000_000)
  return secondText + padded(1_000_000_000, ms * 1_000_000 + lastId) + padded(100_000_000, random)
}

const requestIdForm = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{17}$/

/**
 * The time in an id from `requestId`, in epoch seconds, which is the start time of the request. Undefined for texts in
 * another format.
 */
export function requestSeconds(id: string): number | undefined {
  const parts = requestIdForm.exec(id)
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second] = parts
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(ms) ? undefined : ms / 1000
}

/**
 * A whole number as text, with as many digits as `limit` has zeros. To pad it, `limit` is added and the leading 1 is
 * removed.
 */
function padded(limit: number, value: number): string {
  return String(limit + value).slice(1)
}
