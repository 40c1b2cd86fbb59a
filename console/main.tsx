import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.ts'
import { loadStatus } from './lib/status.ts'
import { languageTag, loadAreas } from './lib/text.ts'
import './styles.css'

/**
 * If a page has not loaded after `patienceMs`, a loading state is drawn. If the page's frame is already visible,
 * `framedPatienceMs` applies instead.
 */
const patienceMs = 300
const framedPatienceMs = 3000
const element = document.querySelector('#root')

// The messages are requested immediately, together with the data for the first page.
const firstWords = loadAreas(['common'])
void loadStatus()
// The browser loads its plural rules for a language at their first use. This triggers it while files are still loading.
setTimeout(() => new Intl.PluralRules(languageTag()))
// The page is not drawn before it is complete, so that it is drawn only once.
const late = new Promise<void>((done) => {
  setTimeout(() => element?.firstChild || done(), patienceMs)
  setTimeout(done, framedPatienceMs)
})
const firstPage = Promise.race([router.load().catch(reportError), late])

Promise.all([firstWords, firstPage]).then(
  () => {
    if (!element) return
    const root = createRoot(element)
    // As a transition, the rendering can be interrupted, so that clicks during rendering are handled.
    startTransition(() =>
      root.render(
        <StrictMode>
          <RouterProvider router={router} />
        </StrictMode>,
      ),
    )
  },
  // The boot script shows this failure.
  () => dispatchEvent(new Event('unusable')),
)
