import { lazy, type ReactNode, Suspense, useState } from 'react'
import { copyText } from '../../lib/clipboard.ts'

const LinesDialog = lazy(() => import('../ui/lines-dialog.tsx').then((it) => ({ default: it.LinesDialog })))

/** Copies lines and says `done`. */
export type CopyLines = (lines: readonly string[], done: string) => void

/** Copies something of several rows, one a line, and the dialog to put on the page: it has them when that fails. */
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
