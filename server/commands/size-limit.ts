/**
 * Makes a file that would be larger than the system allows (`ulimit -f`) an error, like a full disk. Otherwise the system
 * would end the process.
 */
export function outliveSizeLimit(): void {
  process.on('SIGXFSZ', () => undefined)
}
