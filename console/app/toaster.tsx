import { Bell, CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { lazy } from '../lib/lazy.ts'
import { useText } from '../lib/text.ts'
import { attachScreen, type ToastKind, type ToastMessage } from '../lib/toast.ts'

const SafeHtml = lazy(() => import('../components/safe-html.tsx').then((it) => ({ default: it.SafeHtml })))

/** Maximum number of toasts on the screen; older toasts are removed to make room. */
const most = 5

const icons: Readonly<Record<ToastKind, typeof Info>> = {
  success: CircleCheck,
  info: Info,
  error: CircleAlert,
  warning: TriangleAlert,
  notice: Bell,
}
const colors: Readonly<Record<ToastKind, string>> = {
  success: 'text-good',
  info: 'text-link',
  error: 'text-bad',
  warning: 'text-warn',
  notice: 'text-link',
}

/**
 * Shows toasts at the bottom right or, on narrow screens, at the bottom centre, so that they cover neither menus nor
 * search. F6 moves the focus to them. Hover and focus pause the timer.
 */
export function Toaster() {
  const t = useText()
  const [messages, setMessages] = useState<ToastMessage[]>([])
  const [paused, setPaused] = useState(false)
  const region = useRef<HTMLElement>(null)
  const close = useCallback((id: string) => setMessages((before) => before.filter((each) => each.id !== id)), [])

  useEffect(() => {
    attachScreen({
      show: (message) =>
        setMessages((before) => {
          const place = before.findIndex((other) => other.id === message.id)
          return place < 0 ? [message, ...before].slice(0, most) : before.with(place, message)
        }),
      close,
    })
    return () => attachScreen(undefined)
  }, [close])
  useJump(region)

  // Base UI hides everything outside an open dialog from screen readers: all elements of the body, except those with
  // `aria-live`. With "off", each toast is announced only by its own role.
  return createPortal(
    <section
      ref={region}
      aria-label={t('toast.region')}
      tabIndex={-1}
      aria-live="off"
      className="fixed right-3 bottom-3 z-70 [body:has([data-at-end])_&]:bottom-34 [body:has([data-at-end=tall])_&]:bottom-44 w-[22rem] max-w-[calc(100vw-1.5rem)] outline-none max-sm:right-auto max-sm:left-1/2 max-sm:-translate-x-1/2"
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <ol className="flex flex-col gap-2">
        {messages.map((message) => (
          // A toast with HTML appears only when its content can be rendered, so that it is never an empty box.
          <Suspense key={message.id} fallback={null}>
            <Item message={message} paused={paused} onClose={() => close(message.id)} />
          </Suspense>
        ))}
      </ol>
    </section>,
    document.body,
  )
}

/** F6 moves to the newest toast and back. */
function useJump(region: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let before: Element | null = null
    const jump = (event: KeyboardEvent) => {
      if (event.key !== 'F6' || !region.current) return
      event.preventDefault()
      if (region.current.contains(document.activeElement)) {
        if (before instanceof HTMLElement) before.focus()
        return
      }
      before = document.activeElement
      const target = region.current.querySelector<HTMLElement>('button') ?? region.current
      target.focus()
    }
    document.addEventListener('keydown', jump)
    return () => document.removeEventListener('keydown', jump)
  }, [region])
}

/**
 * Closes the toast when its time is up. The timer stops while the toast is paused or the window is hidden. It restarts
 * when the toast repeats.
 */
function useClock(message: ToastMessage, paused: boolean, onEnd: () => void): void {
  const end = useRef(onEnd)
  end.current = onEnd
  const left = useRef(message.durationMs)
  const { durationMs, count } = message
  // biome-ignore lint/correctness/useExhaustiveDependencies: each repetition restarts the timer
  useEffect(() => {
    left.current = durationMs
  }, [durationMs, count])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (paused || durationMs === 0) return
    const from = performance.now()
    const timer = setTimeout(() => end.current(), left.current)
    return () => {
      clearTimeout(timer)
      left.current = Math.max(500, left.current - (performance.now() - from))
    }
  }, [paused, durationMs, count])
}

function Item({ message, paused, onClose }: { message: ToastMessage; paused: boolean; onClose(): void }) {
  const t = useText()
  useClock(message, paused, onClose)
  const { kind, action, html, detail, count } = message
  const Icon = icons[kind]
  return (
    <li>
      <div
        role={kind === 'error' || kind === 'warning' ? 'alert' : 'status'}
        data-toast={kind}
        className="flex max-h-[60dvh] animate-[toast-in_150ms_ease-out] items-start gap-2.5 overflow-y-auto rounded-lg bg-raised p-3 shadow-overlay"
      >
        <Icon className={`mt-0.5 size-4 shrink-0 ${colors[kind]}`} aria-hidden="true" />
        <div className="min-w-0 flex-1 text-sm">
          {html === undefined ? (
            <p className="font-medium break-words first-letter:uppercase">
              {kind === 'error' ? t('error.prefix', { message: message.text }) : message.text}
            </p>
          ) : (
            <SafeHtml source={html} />
          )}
          {detail !== undefined && (
            <p className="mt-0.5 line-clamp-4 break-words text-muted hover:line-clamp-none">{detail}</p>
          )}
          {count > 1 && <p className="text-xs text-muted">{t('toast.times', { count })}</p>}
        </div>
        {action && (
          <button
            type="button"
            className="-my-0.5 min-h-6 rounded-md px-2 text-sm font-medium text-link hover:bg-hover"
            onClick={() => {
              onClose()
              action.run()
            }}
          >
            {action.label}
          </button>
        )}
        <button
          type="button"
          aria-label={t('do.close')}
          onClick={onClose}
          className="-m-1 grid size-6 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-fg max-sm:size-9"
        >
          <X className="size-3.5" />
        </button>
      </div>
    </li>
  )
}
