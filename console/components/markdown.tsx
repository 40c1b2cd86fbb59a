import { type MouseEvent, useDeferredValue, useMemo } from 'react'
import { copyText } from '../lib/clipboard.ts'
import { answerHtml } from './safe-html.tsx'

/** Copies the block of code whose button was pressed. */
function copyCode({ target }: MouseEvent): void {
  const button = target instanceof Element ? target.closest('[data-copy]') : null
  const code = button?.closest('[data-code]')?.querySelector('pre')?.textContent
  if (typeof code === 'string') void copyText(code.replace(/\n$/, ''))
}

/**
 * Shows Markdown that a model wrote. HTML in it is shown as text, images become links, and blocks of code have a button
 * with the label `copy`. Import it lazily.
 */
export function Markdown({ source, copy }: { source: string; copy: string }) {
  // A growing answer is rendered only as often as the browser has time for it.
  const shown = useDeferredValue(source)
  const html = useMemo(() => answerHtml(shown, copy), [shown, copy])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the clicks are those of the buttons inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: a press of the keyboard on a button is a click too
    // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised where it is made
    <div className="prose" onClick={copyCode} dangerouslySetInnerHTML={{ __html: html }} />
  )
}
