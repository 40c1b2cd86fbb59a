import { rootAccount as root } from './console.ts'
import { person, type Screen } from './screen.ts'
import { failed, rows } from './screen-steps.ts'

/** The page with usage. */
export const usageScreens: readonly Screen[] = [
  { path: '/usage', as: root, prepare: (page) => page.locator('main figure svg').first().waitFor() },
  {
    path: '/usage',
    state: 'as a table',
    as: root,
    async prepare(page) {
      await page.getByRole('button', { name: 'Show as table' }).click()
      await page.locator('main figure table').waitFor()
    },
  },
  {
    path: '/usage?group=user&and=model&range=custom',
    state: 'with pairs and days',
    as: root,
    prepare: rows,
  },
  { path: '/usage?group=project', state: 'by project', as: root, prepare: rows },
  {
    path: '/usage',
    state: 'with the projects',
    as: root,
    async prepare(page) {
      await page.getByRole('button', { name: /^(?:Project|项目|プロジェクト)$/ }).click()
      await page.getByRole('listbox').waitFor()
    },
  },
  { path: '/usage', state: 'empty', as: person, bare: true },
  { path: '/usage', state: 'failed', as: root, fails: '**/api/usage/**', prepare: failed },
]
