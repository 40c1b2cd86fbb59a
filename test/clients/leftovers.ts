import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends what a client left running: some start a service that outlives them. Its home tells whose it is. Linux only; elsewhere
 * nothing is found.
 */
export function endLeftovers(home: string): void {
  for (const pid of pidsIn('/proc')) {
    if (environmentOf(pid).includes(`HOME=${home}`)) end(pid)
  }
}

function pidsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  } catch {
    return []
  }
}

/** Empty for a process that has ended, or that belongs to somebody else. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}
