import { useDeferredValue, useMemo } from 'react'
import { answerHtml } from './safe-html.tsx'

/** Shows Markdown that a model wrote. HTML in it is shown as text, and images become links. Import it lazily. */
export function Markdown({ source }: { source: string }) {
  // A growing answer is rendered only as often as the browser has time for it.
  const shown = useDeferredValue(source)
  const html = useMemo(() => answerHtml(shown), [shown])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised where it is made
  return <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
}
