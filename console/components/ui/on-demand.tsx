import {
  type ComponentProps,
  type ComponentType,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useState,
} from 'react'

/** A button, or something that accepts a button's properties. */
export type Trigger = ReactElement<ComponentProps<'button'>>

interface OnDemandProps<P> {
  part: LazyPart<P>
  trigger: Trigger
  /** What the button opens. Screen readers announce it. */
  popup: 'menu' | 'dialog'
  /** Renders the part that replaces the button. */
  children: (Part: ComponentType<P>) => ReactNode
}

/** A part of the page that is loaded when it is first needed. `component()` returns undefined until it has loaded. */
export interface LazyPart<P> {
  load(): Promise<void>
  component(): ComponentType<P> | undefined
}

/** Creates a part that is loaded when it is first needed. */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>): LazyPart<P> {
  let found: ComponentType<P> | undefined
  let loading: Promise<void> | undefined
  return {
    load() {
      loading ??= load().then(
        (component) => {
          found = component
        },
        (error: unknown) => {
          loading = undefined
          throw error
        },
      )
      return loading
    },
    component: () => found,
  }
}

/**
 * A button whose menu or panel is loaded when the pointer or the focus reaches it. When the button is clicked, the part
 * replaces it.
 */
export function OnDemand<P>({ part, trigger, popup, children }: OnDemandProps<P>) {
  const [open, setOpen] = useState(false)
  const Part = part.component()
  if (open && Part) return children(Part)
  // If loading fails, the error is shown when the button is clicked.
  const near = () => void part.load().catch(() => undefined)
  return cloneElement(trigger, {
    'aria-haspopup': popup,
    'aria-expanded': false,
    onPointerEnter: near,
    onFocus: near,
    onClick: () => void part.load().then(() => setOpen(true)),
  })
}
