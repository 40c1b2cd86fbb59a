import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.ts'
import { loadStatus } from './lib/status.ts'
import { languageTag, loadAreas } from './lib/text.ts'
import './styles.css'

/** After this a page that is still on its way is drawn as loading; later where its frame stands there already. */
const patienceMs = 300
const framedPatienceMs = 3000
const element = document.querySelector('#root')

// Asked for at once, together with what the first page needs.
const firstWords = loadAreas(['common'])
void loadStatus()
// The browser reads its rules for a language at their first use: better now, while files are on their way.
setTimeout(() => new Intl.PluralRules(languageTag()))
// Drawn when it is complete, so that it is drawn once.
const late = new Promise<void>((done) => {
  setTimeout(() => element?.firstChild || done(), patienceMs)
  setTimeout(done, framedPatienceMs)
})
const firstPage = Promise.race([router.load().catch(reportError), late])

Promise.all([firstWords, firstPage]).then(
  () => {
    if (!element) return
    const root = createRoot(element)
    // In slices, so that what is clicked meanwhile is heard.
    startTransition(() =>
      root.render(
        <StrictMode>
          <RouterProvider router={router} />
        </StrictMode>,
      ),
    )
  },
  // The first script says so.
  () => dispatchEvent(new Event('unusable')),
)
