import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.ts'
import { loadStatus } from './lib/status.ts'
import { languageTag, loadAreas } from './lib/text.ts'
import './styles.css'

/** If a page has not loaded by then, a loading state is drawn; this waits longer if its frame is already drawn. */
const patienceMs = 300
const framedPatienceMs = 3000
const element = document.querySelector('#root')

// Requested at once, together with what the first page needs.
const firstWords = loadAreas(['common'])
void loadStatus()
// The browser loads its rules for a language at their first use: better now, while files are loading.
setTimeout(() => new Intl.PluralRules(languageTag()))
// Drawn when it is complete, so that it is drawn only once.
const late = new Promise<void>((done) => {
  setTimeout(() => element?.firstChild || done(), patienceMs)
  setTimeout(done, framedPatienceMs)
})
const firstPage = Promise.race([router.load().catch(reportError), late])

Promise.all([firstWords, firstPage]).then(
  () => {
    if (!element) return
    const root = createRoot(element)
    // In slices, so that clicks in the meantime are handled.
    startTransition(() =>
      root.render(
        <StrictMode>
          <RouterProvider router={router} />
        </StrictMode>,
      ),
    )
  },
  // The boot script reports it.
  () => dispatchEvent(new Event('unusable')),
)
