import { type ReactNode, Suspense, useState } from 'react'
import { lazy } from '../../lib/lazy.ts'
import type { ConfirmProps } from './confirm-dialog.tsx'

const ConfirmDialog = lazy(() => import('./confirm-dialog.tsx').then((it) => ({ default: it.ConfirmDialog })))

/** A question: the props of `ConfirmDialog`, without opening and closing. */
export type Question = Omit<ConfirmProps, 'open' | 'onClose'>

/** Asks for confirmation before an action. Returns `ask(question)` and the dialog, which the page must render. */
export function useConfirm(): [ask: (question: Question) => void, dialog: ReactNode] {
  const [question, setQuestion] = useState<Question>()
  const dialog = question && (
    <Suspense fallback={null}>
      <ConfirmDialog open {...question} onClose={() => setQuestion(undefined)} />
    </Suspense>
  )
  return [setQuestion, dialog]
}
