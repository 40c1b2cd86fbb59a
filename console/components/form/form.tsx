import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, Suspense, useRef } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import { Button } from '../ui/button.tsx'
import { newTry } from './new-try.ts'
import { showAtField } from './refusal.ts'

const ConfirmDialog = lazy(() => import('../ui/confirm-dialog.tsx').then((it) => ({ default: it.ConfirmDialog })))

interface FormProps<T extends FieldValues> {
  form: UseFormReturn<T>
  /**
   * Called with validated values. If it fails, the API call has already shown the error, and the form stays unchanged.
   * An error about a field is shown beside that field.
   */
  onSubmit(values: T): Promise<unknown>
  /** Called when validation has failed, after the first invalid field has received the focus. */
  onInvalid?: (messages: string[]) => void
  /** Whether to ask for confirmation before the user leaves with unsaved changes. Off for forms such as the login. */
  guard?: boolean
  label: string
  children: ReactNode
}

/**
 * A form that can also be submitted with Ctrl/Cmd+Enter. It runs only one submission at a time, and asks for
 * confirmation before the user leaves with unsaved changes. If the page stays open after saving, it must call
 * `form.reset(values)`, so that the form counts as unchanged.
 */
export function Form<T extends FieldValues>({
  form,
  onSubmit,
  onInvalid,
  guard = true,
  label,
  children,
}: FormProps<T>) {
  const element = useRef<HTMLFormElement>(null)
  const { isSubmitting } = form.formState
  const submit = form.handleSubmit(
    (values) => onSubmit(values).catch((failure: unknown) => showAtField(form, failure)),
    (errors) => onInvalid?.(Object.values(errors).flatMap((error) => (error?.message ? [String(error.message)] : []))),
  )
  return (
    <form
      ref={element}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        // Ignores events of a dialog that was opened from the form. They bubble up to this form, although the dialog is
        // elsewhere in the DOM.
        if (event.target !== element.current) return
        if (isSubmitting) return event.preventDefault()
        newTry(form.control)
        void submit(event)
      }}
      onKeyDown={(event) => {
        const own = event.target instanceof Node && element.current?.contains(event.target)
        if (own && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) element.current?.requestSubmit()
      }}
      className="flex flex-col gap-5"
    >
      {children}
      {guard && <LeaveGuard form={form} />}
    </form>
  )
}

function LeaveGuard<T extends FieldValues>({ form }: { form: UseFormReturn<T> }) {
  const t = useText()
  const { isDirty, isSubmitting } = form.formState
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty && !isSubmitting && current.pathname !== next.pathname && next.pathname !== '/login',
    enableBeforeUnload: () => isDirty && !isSubmitting,
    withResolver: true,
  })
  const leaves = useRef(false)
  if (blocker.status !== 'blocked') return null
  return (
    <Suspense fallback={null}>
      <ConfirmDialog
        open
        title={t('form.leave.title')}
        text={t('form.leave.text')}
        confirm={t('form.leave.go')}
        danger
        onClose={() => {
          if (!leaves.current) blocker.reset()
        }}
        onConfirm={() => {
          leaves.current = true
          blocker.proceed()
          return undefined
        }}
      />
    </Suspense>
  )
}

/** The footer of a form, with extra text and the buttons to cancel and submit. It stays visible while scrolling. */
export function FormFooter(props: { submit: string; busy: boolean; onCancel?: () => void; children?: ReactNode }) {
  const t = useText()
  return (
    <div
      data-at-end
      className="sticky bottom-0 -mx-4 mt-1 flex flex-wrap items-end justify-end gap-2 rounded-b-lg border-t border-line bg-surface px-4 pt-3 pb-3"
    >
      <div className="flex-1 text-sm text-muted">{props.children}</div>
      {props.onCancel && <Button onClick={props.onCancel}>{t('do.cancel')}</Button>}
      <Button type="submit" look="primary" busy={props.busy} title={t('form.submitKeys')}>
        {props.submit}
      </Button>
    </div>
  )
}
