import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.ts'
import { loadStatus } from './lib/status.ts'
import { loadAreas } from './lib/text.ts'
import './styles.css'

// Asked for at once, together with what the first page needs.
const firstWords = loadAreas(['common'])
void loadStatus()
void router.load()

firstWords.then(
  () => {
    const root = document.querySelector('#root')
    if (!root) return
    createRoot(root).render(
      <StrictMode>
        <RouterProvider router={router} />
      </StrictMode>,
    )
  },
  () => {
    document.body.textContent = 'The console could not be loaded. Please reload the page.'
  },
)
