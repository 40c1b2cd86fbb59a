import { rootAccount as root } from './console.ts'
import { person, type Screen } from './screen.ts'
import { empty, failed, popup, rows } from './screen-steps.ts'

/** The catalogue of models. */
export const modelScreens: readonly Screen[] = [
  { path: '/model', as: root, prepare: rows },
  { path: '/model', state: 'empty', as: person, bare: true, prepare: empty },
  { path: '/model', state: 'failed', as: root, fails: '**/api/price/**', prepare: failed },
  { path: '/model?q=nothing', state: 'found nothing', as: root, prepare: empty },
  { path: '/model?compare=claude-sonnet-4-6,gpt-4o', state: 'with a comparison', as: root, prepare: popup },
  {
    path: '/model?peek=claude-sonnet-4-6',
    state: 'with a drawer',
    as: root,
    prepare: (page) => page.getByRole('dialog').locator('dl').first().waitFor(),
  },
]
