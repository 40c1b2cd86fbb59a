/** Kinds of toasts; each has its own duration. */
export type ToastKind = 'success' | 'info' | 'error' | 'warning' | 'notice'

/** How long a toast stays, in milliseconds; a notice stays until it is closed. */
const toastDurationMs: Readonly<Record<ToastKind, number>> = {
  success: 1500,
  info: 3000,
  error: 5000,
  warning: 10_000,
  notice: 0,
}

/** How long an undo offer stays, in milliseconds. */
export const undoDurationMs = 8000
/** If the same toast is shown again within this time, its count increases instead. */
const mergeMs = 2000

export interface ToastAction {
  label: string
  run(): void
}

export interface ToastOptions {
  action?: ToastAction | undefined
  /** A second line, such as a request id. */
  detail?: string | undefined
  /** Overrides the duration of the kind; 0 = until the toast is closed. */
  durationMs?: number
  /** Markdown or HTML that is sanitised and shown instead of the text; for notices only. */
  html?: string
  /** Replaces an earlier toast with the same id. */
  id?: string
}

/** A toast on the screen, or about to be shown. */
export interface ToastMessage extends ToastOptions {
  id: string
  kind: ToastKind
  text: string
  durationMs: number
  /** How often the toast occurred. */
  count: number
}

/** The component that shows toasts. It is loaded with the first toast. */
export interface ToastScreen {
  show(message: ToastMessage): void
  close(id: string): void
}

let screen: ToastScreen | undefined
let waiting: ToastMessage[] = []
let wanted: () => void = () => undefined
let made = 0
const recent = new Map<string, { id: string; atMs: number; count: number; offers: boolean }>()

/** Connects the component that shows toasts. It then shows the toasts that were waiting for it. */
export function attachScreen(shown: ToastScreen | undefined): void {
  screen = shown
  if (!screen) return
  for (const message of waiting) screen.show(message)
  waiting = []
}

/**
 * Sets the function that loads the component that shows toasts. `load` is called for each toast until the component is
 * available.
 */
export function onToast(load: () => void): void {
  wanted = load
  if (waiting.length > 0) load()
}

function show(kind: ToastKind, text: string, options: ToastOptions = {}): string {
  const now = Date.now()
  const last = recent.get(`${kind}:${text}`)
  const again = last !== undefined && now - last.atMs < mergeMs && options.action === undefined
  const id = options.id ?? (again ? last.id : `toast-${++made}`)
  const count = again ? last.count + 1 : 1
  recent.set(`${kind}:${text}`, { id, atMs: now, count, offers: options.action !== undefined })
  const message = { durationMs: toastDurationMs[kind], ...options, id, kind, text, count }
  if (screen) screen.show(message)
  else {
    waiting = [...waiting.filter((other) => other.id !== id), message]
    wanted()
  }
  return id
}

/** Toasts for the user. Each function returns an id that `close` accepts. */
export const toast = {
  success: (text: string, options?: ToastOptions) => show('success', text, options),
  info: (text: string, options?: ToastOptions) => show('info', text, options),
  /** Shown with the prefix 'Error: '. */
  error: (text: string, options?: ToastOptions) => show('error', text, options),
  warning: (text: string, options?: ToastOptions) => show('warning', text, options),
  /** Stays until it is closed. */
  notice: (text: string, options?: ToastOptions) => show('notice', text, options),
  close(id: string): void {
    waiting = waiting.filter((message) => message.id !== id)
    screen?.close(id)
  },
  /**
   * Removes errors and warnings that were shown at or after `sinceMs` (epoch milliseconds). Toasts with an action stay.
   */
  closeSince(sinceMs: number): void {
    for (const [key, { id, atMs, offers }] of recent) {
      if (atMs < sinceMs || offers || !/^[eiw]/.test(key)) continue
      recent.delete(key)
      toast.close(id)
    }
  },
}
