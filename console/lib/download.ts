/** Hands the browser a file to save. */
export function downloadFile(name: string, content: string | Blob, type = 'text/plain;charset=utf-8'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The object URL must stay valid for a while, because the browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
