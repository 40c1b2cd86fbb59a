import { text } from './text.ts'
import { toast } from './toast.ts'

/** Writes the text to the clipboard; false if the browser refuses. */
export async function writeClipboard(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    return copyBySelection(value)
  }
}

/**
 * Copies by selecting text. This also works on pages that were not loaded over TLS, which do not have the clipboard
 * API.
 */
function copyBySelection(value: string): boolean {
  const box = document.createElement('textarea')
  box.value = value
  box.readOnly = true
  box.className = 'sr-only'
  const active = document.activeElement
  document.body.append(box)
  box.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    box.remove()
    if (active instanceof HTMLElement) active.focus()
  }
}

/**
 * Copies text and shows a toast. If copying fails, a warning asks the user to copy by hand. `fallback` is then called
 * with the text in order to show it; lists put it into their search box.
 */
export async function copyText(
  value: string,
  { done, fallback }: { done?: string; fallback?: (value: string) => void } = {},
): Promise<boolean> {
  const copied = await writeClipboard(value)
  if (copied) toast.success(done ?? text('done.copied'))
  else {
    toast.warning(text('error.clipboard'))
    fallback?.(value)
  }
  return copied
}
