import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies the process table that this process sees: host name, boot id and, on Linux, process namespace. Two
 * containers with the same host name have different names here. If the system does not provide the boot id and the
 * namespace, only the host name is used.
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
