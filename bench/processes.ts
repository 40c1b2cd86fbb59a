import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'

/** The repository's root. */
export const ROOT = `${import.meta.dirname}/..`

/** A child process of the bench, which is stopped by its own process ID. */
export interface Running {
  readonly pid: number
  /** Lines of its standard output so far. */
  readonly lines: readonly string[]
  /** Resolves with the first line, past or future, for which `accept` returns true. */
  line(accept: (line: string) => boolean, timeoutMs: number): Promise<string>
  stop(): Promise<void>
}

/** Starts a program; its error output is kept and shown if it exits early. */
export function start(
  name: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(command, [...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const errors: string[] = []
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of [...waiting]) one()
  }
  collectLines(child.stdout, (line) => {
    lines.push(line)
    wake()
  })
  collectLines(child.stderr, (line) => {
    errors.push(line)
    if (errors.length > 50) errors.shift()
  })
  child.on('exit', wake)
  const line = (accept: (line: string) => boolean, timeoutMs: number) =>
    new Promise<string>((resolve, reject) => {
      const give = (action: () => void) => {
        clearTimeout(timer)
        waiting.delete(look)
        action()
      }
      const fail = (why: string) =>
        give(() => reject(new Error(`${name} ${why}\n${[...lines.slice(-20), ...errors].join('\n')}`)))
      const look = () => {
        const found = lines.find(accept)
        if (found !== undefined) give(() => resolve(found))
        else if (child.exitCode !== null || child.signalCode !== null)
          fail(`ended with ${child.exitCode ?? child.signalCode}`)
      }
      const timer = setTimeout(() => fail(`said nothing for ${timeoutMs} ms`), timeoutMs)
      waiting.add(look)
      look()
    })
  return { pid: child.pid ?? 0, lines, line, stop: () => stop(child) }
}

/** Waits until a URL responds with a status below 500. */
export async function answers(url: string, running: Running, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
      if (response.status < 500) return
    } catch {
      // The program is not listening yet.
    }
    if (Date.now() > deadline) throw new Error(`${url} does not answer\n${running.lines.slice(-20).join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A port of 127.0.0.1 that is currently free. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await ended
  clearTimeout(timer)
}

function collectLines(stream: NodeJS.ReadableStream, give: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) give(line)
  })
}
