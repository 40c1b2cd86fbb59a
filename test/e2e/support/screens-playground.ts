import { rootAccount as root } from './console.ts'
import { person, type Screen } from './screen.ts'
import { popup } from './screen-steps.ts'

/** The playground. */
export const playground: Screen[] = [
  { path: '/playground', state: 'without a token', as: person, bare: true },
  { path: '/playground?token=1', as: root, prepare: (page) => page.locator('main textarea').last().waitFor() },
  {
    path: '/playground?token=1&model=gpt-4o&compare=unknown-model',
    state: 'with an answer and a failure',
    says: /status of 503/,
    as: root,
    async prepare(page) {
      await page.locator('main textarea').last().fill('Hello')
      await page.keyboard.press('Control+Enter')
      await page.locator('article[data-state="done"]').waitFor()
      await page.locator('article[data-state="failed"]').waitFor()
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o',
    state: 'with the code of the call',
    as: root,
    async prepare(page) {
      await page.locator('main textarea').last().waitFor()
      await page.locator('main button:has(.lucide-code), main button:has(.lucide-code-xml)').first().click()
      await popup(page)
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o',
    state: 'with the list of models',
    as: root,
    async prepare(page) {
      await page.locator('main button[aria-labelledby]').first().click()
      await page.locator('[data-model]').first().waitFor()
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o&compare=gpt-4o&compare=unknown-model&compare=o3-mini',
    state: 'with files for four models',
    as: root,
    async prepare(page) {
      const files = ['notes.txt', 'more.txt'].map((name) => ({
        name,
        mimeType: 'text/plain',
        buffer: Buffer.from(name === 'notes.txt' ? 'notes' : ''),
      }))
      await page.locator('main textarea').last().waitFor()
      await page.locator('main input[type="file"]').setInputFiles(files)
      await page.locator('main form [role="alert"]').waitFor()
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o',
    state: 'with a tool that is not right yet',
    as: root,
    async prepare(page) {
      await page.locator('main textarea').last().waitFor()
      await page.locator('main button:has(.lucide-wrench)').click()
      await popup(page)
      await page.locator('[role="dialog"] button:has(.lucide-plus)').click()
      await page.locator('[role="dialog"] [role="alert"]').waitFor()
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o',
    state: 'with the schema of the response',
    as: root,
    async prepare(page) {
      await page.locator('main textarea').last().waitFor()
      await page.locator('main select').last().selectOption('json_schema')
      await popup(page)
    },
  },
  {
    path: '/playground?token=1&model=gpt-4o',
    state: 'with kept conversations and an edited message',
    as: root,
    async prepare(page) {
      await page.locator('main textarea').last().fill('Hello')
      await page.keyboard.press('Control+Enter')
      await page.locator('article[data-state="done"]').waitFor()
      await page.locator('main ol button:has(.lucide-pencil)').click()
      await page.locator('main button:has(.lucide-messages-square)').click()
      await popup(page)
      await page.locator('[role="dialog"] input[role="switch"]').click()
      await page.locator('[role="dialog"] li').first().waitFor()
    },
  },
]
