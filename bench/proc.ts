import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second. Linux always uses 100 in the values that it reports to programs. */
const TICKS_PER_SECOND = 100

interface Stat {
  readonly parent: number
  readonly cpuTicks: number
  /** CPU time of child processes that have exited and were waited for. */
  readonly endedTicks: number
}

/** CPU seconds used by a process, all its threads and all its descendants. */
export function cpuSeconds(pid: number): number {
  const stats = allStats()
  const ticks = tree(pid, stats).reduce((sum, one) => {
    const stat = stats.get(one)
    return sum + (stat ? stat.cpuTicks + stat.endedTicks : 0)
  }, 0)
  return ticks / TICKS_PER_SECOND
}

/** CPU seconds of the main threads of a process and its descendants, to the nanosecond. */
export function mainThreadSeconds(pid: number): number {
  const nanoseconds = tree(pid, allStats()).map((one) => {
    try {
      return Number(readFileSync(`/proc/${one}/task/${one}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      return 0
    }
  })
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9
}

/** Resident memory in MB of a process and its descendants. */
export function residentMb(pid: number): number {
  const kilobytes = tree(pid, allStats()).map((one) => {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      return 0
    }
  })
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024
}

/** Samples resident memory until stopped, and returns the maximum. */
export function watchResident(pid: number): { stop(): number } {
  const seen = { max: residentMb(pid) }
  const timer = setInterval(() => {
    seen.max = Math.max(seen.max, residentMb(pid))
  }, 250)
  return {
    stop: () => {
      clearInterval(timer)
      return Math.max(seen.max, residentMb(pid))
    },
  }
}

function tree(root: number, stats: ReadonlyMap<number, Stat>): number[] {
  const found = [root]
  for (const pid of found) for (const [child, { parent }] of stats) if (parent === pid) found.push(child)
  return found
}

function allStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(Number(name))
    if (stat) stats.set(Number(name), stat)
  }
  return stats
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const number = (index: number) => Number(fields[index] ?? 0)
    return { parent: number(1), cpuTicks: number(11) + number(12), endedTicks: number(13) + number(14) }
  } catch {
    return undefined
  }
}
