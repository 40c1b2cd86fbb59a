import pino, { type Logger } from 'pino'

export type { Logger }

/** Field names whose values never reach a log line, wherever they stand. */
const secretFields = ['key', 'password', 'token', 'authorization', 'cookie', 'secret', 'api_key', 'access_token']

/** The machine log: JSON lines on stdout. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    base: null,
  })
}
