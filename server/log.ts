import { writeSync } from 'node:fs'
import pino, { type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** Names of fields whose values never reach a log line, at any depth. */
const secretFields = ['key', 'password', 'token', 'authorization', 'cookie', 'secret', 'api_key', 'access_token']

/** The machine log: JSON lines. */
export function createLogger(level: string, to: DestinationStream): Logger {
  const options = {
    level,
    redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    base: null,
  }
  return pino(options, to)
}

/**
 * Standard output, which may be a file on a full disk or a pipe whose reader is gone. Lines that cannot be written are
 * lost, and the program continues. The stream is unusable after its first error, but its file may still be usable.
 */
export function standardOutput(): DestinationStream {
  let isBroken = false
  process.stdout.on('error', () => {
    isBroken = true
  })
  return {
    write(line) {
      if (!isBroken) process.stdout.write(line)
      else tryWrite(line)
    },
  }
}

function tryWrite(line: string): void {
  try {
    writeSync(1, line)
  } catch {
    // There is nobody to whom the error could be reported.
  }
}
