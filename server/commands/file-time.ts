/** A time as part of a file name: 20261128T101500 (UTC). */
export function fileTime(time: Date): string {
  return time.toISOString().replace(/[-:]/g, '').slice(0, 15)
}
