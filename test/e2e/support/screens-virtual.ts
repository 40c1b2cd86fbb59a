import type { Page } from 'playwright-core'
import type { Console } from './console.ts'
import { rootAccount as root } from './console.ts'
import type { Screen } from './screen.ts'
import { failed, field, refuse } from './screen-steps.ts'

const list = (page: Page) => page.locator('main ul > li').first().waitFor()

/** Runs a dry run of the form. */
async function tried(page: Page): Promise<void> {
  await field('name')(page)
  await page.locator('main button:has(.lucide-play)').click()
  await page.locator('main section section dl').first().waitFor()
}

/** The pages with virtual models. */
export const virtualModelScreens: readonly Screen[] = [
  { path: '/virtual-model', as: root, prepare: list },
  {
    path: '/virtual-model',
    state: 'empty',
    as: root,
    bare: true,
    prepare: (page) => page.locator('main section p').first().waitFor(),
  },
  { path: '/virtual-model', state: 'failed', as: root, fails: '**/api/virtual-model/', prepare: failed },
  { path: '/virtual-model/add', as: root, prepare: field('name') },
  {
    path: '/virtual-model/add',
    state: 'refused',
    as: root,
    async prepare(page) {
      await field('name')(page)
      await refuse(page)
    },
  },
  { path: '/virtual-model/edit/1', as: root, prepare: field('name') },
  { path: '/virtual-model/edit/1', state: 'after a dry run', as: root, prepare: tried },
  { path: '/virtual-model/edit/999', state: 'not found', as: root, prepare: failed },
]

/** Creates virtual models: one with warnings, one with a price of its own. */
export async function fillVirtualModels(site: Console): Promise<void> {
  await site.api('POST', '/api/virtual-model/', {
    name: 'assistant',
    description: 'For the support bots',
    steps: [{ model: 'gpt-4o', first_token_timeout: 20 }, { model: 'claude-sonnet-4-6' }, { model: 'not-served' }],
  })
  await site.api('POST', '/api/virtual-model/', {
    name: 'gpt-4o-mini',
    steps: [
      { model: 'deepseek-chat', weight: 3 },
      { model: 'qwen-plus', weight: 1 },
    ],
    price: { input: 0.5, output: 1.5 },
    groups: ['vip'],
  })
  await site.api('POST', '/api/virtual-model/', { name: 'off', steps: [{ model: 'o3' }], enabled: false })
}
