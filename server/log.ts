import { writeSync } from 'node:fs'
import pino, { type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** Fields with these names are removed from log lines, at any depth. */
const secretFields = ['key', 'password', 'token', 'authorization', 'cookie', 'secret', 'api_key', 'access_token']

/** Creates the machine log, which consists of JSON lines. */
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
 * Standard output in a form that survives errors. It may be a file on a full disk, or a pipe whose reader has ended.
 * Lines that cannot be written are lost, and the program continues. After its first error, the stream can no longer be
 * used, but its file may still work.
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
    // The error cannot be reported anywhere.
  }
}
