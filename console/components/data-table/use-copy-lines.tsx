import { lazy, type ReactNode, Suspense, useState } from 'react'
import { copyText } from '../../lib/clipboard.ts'

const LinesDialog = lazy(() => import('../ui/lines-dialog.tsx').then((it) => ({ default: it.LinesDialog })))

/** Copies lines, then shows `done`. */
export type CopyLines = (lines: readonly string[], done: string) => void

/**
 * Copies something from several rows, one per line. The dialog goes on the page and shows the lines if copying fails.
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
