import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * A name for the set of processes among which this process's id is unique. It consists of the host name, the boot id
 * and, on Linux, the process namespace. Two containers with the same host name therefore have different names. If the
 * system does not provide the boot id and the namespace, the name is only the host name.
 */
export function machineName(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'))
  return [hostname(), boot, namespace].filter((part) => part !== '').join(' ')
}

function attempt(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
