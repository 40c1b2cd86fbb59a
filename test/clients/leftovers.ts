import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends processes that a client left running: some clients start a service that outlives them. The HOME of a process
 * shows which client it belongs to. Works on Linux only; elsewhere nothing is found.
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

/** The environment variables of a process. Empty if the process has ended or belongs to another user. */
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
    // The process has already ended.
  }
}
