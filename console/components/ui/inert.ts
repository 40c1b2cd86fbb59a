import type { ComponentProps, MouseEvent, PointerEvent } from 'react'

type ButtonProps = ComponentProps<'button'>

/**
 * The properties that make a button unusable. The attribute `disabled` would take the focus from a button that the
 * user has just pressed; `aria-disabled` leaves it there, so clicks are stopped here.
 */
export const inertButton: ButtonProps = {
  'aria-disabled': true,
  onClick: stop,
  // Menus and panels open when the button is pressed, before the click.
  onMouseDown: undefined,
  onPointerDown: undefined,
  onKeyDown: undefined,
  onKeyUp: undefined,
}

/** Also keeps the click from the row around the button and, for a submit button, from the form. */
function stop(event: MouseEvent | PointerEvent): void {
  event.preventDefault()
  event.stopPropagation()
}
