const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** A size as readable text, such as "1.5 MB". */
export function readableBytes(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}
