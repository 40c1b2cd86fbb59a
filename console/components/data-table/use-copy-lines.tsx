import { type ReactNode, Suspense, useState } from 'react'
import { copyText } from '../../lib/clipboard.ts'
import { lazy } from '../../lib/lazy.ts'

const LinesDialog = lazy(() => import('../ui/lines-dialog.tsx').then((it) => ({ default: it.LinesDialog })))

/** Copies lines, then shows the message `done`. */
export type CopyLines = (lines: readonly string[], done: string) => void

/**
 * Copies text from several rows, one line per row. The page must render the dialog, which shows the lines if copying
 * fails.
 */
export function useCopyLines(): [copy: CopyLines, dialog: ReactNode] {
  const [shown, setShown] = useState<string>()
  const copy: CopyLines = (lines, done) => void copyText(lines.join('\n'), { done, fallback: setShown })
  const dialog = shown !== undefined && (
    <Suspense fallback={null}>
      <LinesDialog lines={shown} onClose={() => setShown(undefined)} />
    </Suspense>
  )
  return [copy, dialog]
}
