import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { machineName } from '../lib/machine.ts'
import type { NodeRow } from '../store/installation/nodes.ts'

/**
 * A new id for the process with this pid. If the system records the start time of processes (Linux), the id ends with
 * that time. A later process with the same pid then has a different id.
 */
export function nodeIdOf(pid: number): string {
  const process = processAt(pid)
  return process ? `${randomUUID()}@${process.began}` : randomUUID()
}

/**
 * The state of another node according to the process table of this machine; `unknown` for a node on another machine.
 */
export function fateOf(node: Pick<NodeRow, 'id' | 'host' | 'pid'>): 'alive' | 'gone' | 'unknown' {
  if (node.host !== machineName()) return 'unknown'
  if (!exists(node.pid)) return 'gone'
  const [, began] = node.id.split('@')
  const running = processAt(node.pid)
  // If this process now has that pid, the other process is gone.
  if (began === undefined || !running) return node.pid === process.pid ? 'gone' : 'unknown'
  return running.began === began && !running.hasEnded ? 'alive' : 'gone'
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
  return true
}

/**
 * The state and the start time of a process. They are the first and the twentieth field after the name; the time is in
 * ticks since boot (proc_pid_stat(5)).
 */
function processAt(pid: number): { began: string; hasEnded: boolean } | undefined {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [state, began] = [fields[0], fields[19]]
  // An ended process keeps its pid until its parent has collected its exit status.
  return began === undefined ? undefined : { began, hasEnded: state === 'Z' || state === 'X' }
}
