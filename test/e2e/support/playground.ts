import type { Locator, Page } from 'playwright-core'

/** The box with the chosen model; the boxes of further models are called "Model 2" and so on. */
export function modelBox(page: Page, name = 'Model'): Locator {
  return page.getByLabel(name, { exact: true }).and(page.locator('button'))
}

/** The list that a model box opens. */
export const modelList = (page: Page) => page.getByRole('listbox')

/** Chooses a model in the list. */
export async function chooseModel(page: Page, model: string, name = 'Model'): Promise<void> {
  await modelBox(page, name).click()
  await modelList(page).locator(`[data-model="${model}"]`).click()
}

/** The answer of a model. */
export const card = (page: Page, model = 'gpt-4o-mini') => page.getByRole('article', { name: model, exact: true })

/** Sends a message. */
export async function send(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(words)
  await page.keyboard.press('Control+Enter')
}
