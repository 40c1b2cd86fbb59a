/** Focuses the first control in a part of the page. */
export function focusFirst(part: Element | null): void {
  const controls = part?.querySelectorAll<HTMLElement>('input, select, button') ?? []
  ;[...controls]
    .find((control) => control.checkVisibility() && !control.matches(':disabled, [aria-disabled="true"]'))
    ?.focus()
}
