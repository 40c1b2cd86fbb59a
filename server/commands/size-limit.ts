/**
 * Makes writing beyond the system's file size limit (`ulimit -f`) an error, as for a full disk. Otherwise the system
 * would end the process.
 */
export function outliveSizeLimit(): void {
  process.on('SIGXFSZ', () => undefined)
}
