/**
 * Makes a write beyond the file size limit of the system (`ulimit -f`) fail with an error, like a write to a full disk.
 * By default, the system ends the process.
 */
export function outliveSizeLimit(): void {
  process.on('SIGXFSZ', () => undefined)
}
