import { rootAccount as root } from './console.ts'
import type { Screen } from './screen.ts'
import { failed } from './screen-steps.ts'

/** The page with a statement. */
export const statementScreens: readonly Screen[] = [
  { path: '/statement', as: root, prepare: (page) => page.locator('main dl').waitFor() },
  { path: '/statement', state: 'failed', as: root, fails: '**/api/user/statement**', prepare: failed },
]
