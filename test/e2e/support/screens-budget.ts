import { rootAccount as root } from './console.ts'
import type { Screen } from './screen.ts'
import { empty, failed, rows } from './screen-steps.ts'

/** The page with budgets. */
export const budgetScreens: readonly Screen[] = [
  { path: '/budget', as: root, prepare: rows },
  { path: '/budget?level=critical&q=nobody', state: 'empty', as: root, prepare: empty },
  { path: '/budget', state: 'failed', as: root, fails: '**/api/budget/**', prepare: failed },
]
