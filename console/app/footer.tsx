import { Suspense } from 'react'
import { lazy } from '../lib/lazy.ts'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'

const SafeHtml = lazy(() => import('../components/safe-html.tsx').then((it) => ({ default: it.SafeHtml })))

/** The configured footer, or a line with name and version. */
export function Footer() {
  const t = useText()
  const { footer_html, system_name = 'Tollgate', version = '' } = useServerStatus()
  return (
    <footer className="min-h-9 px-4 py-2 text-center text-xs text-muted">
      {footer_html ? (
        <Suspense fallback={null}>
          <SafeHtml source={footer_html} />
        </Suspense>
      ) : (
        t('app.footer', { name: system_name, version })
      )}
    </footer>
  )
}
