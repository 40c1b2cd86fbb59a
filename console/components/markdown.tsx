import { type MouseEvent, useDeferredValue, useMemo } from 'react'
import { copyText } from '../lib/clipboard.ts'
import { answerHtml } from './safe-html.tsx'

/** Copies a block of code when its button is pressed. */
function copyCode({ target }: MouseEvent): void {
  const button = target instanceof Element ? target.closest('[data-copy]') : null
  const code = button?.closest('[data-code]')?.querySelector('pre')?.textContent
  if (typeof code === 'string') void copyText(code.replace(/\n$/, ''))
}

/**
 * Shows Markdown that a model wrote. HTML in it is shown as text, images become links, and blocks of code get a button
 * with the label `copy`. Import this module lazily.
 */
export function Markdown({ source, copy }: { source: string; copy: string }) {
  // While an answer grows, it is rendered only as often as the browser has time.
  const shown = useDeferredValue(source)
  const html = useMemo(() => answerHtml(shown, copy), [shown, copy])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handled clicks are on the buttons inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: activating a button with the keyboard is a click, too
    // biome-ignore lint/security/noDangerouslySetInnerHtml: `html` is already sanitised
    <div className="prose" onClick={copyCode} dangerouslySetInnerHTML={{ __html: html }} />
  )
}
