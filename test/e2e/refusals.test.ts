// The console translates the server's refusals into the language of the page. It finds the text by the refusal's code.
import { setDefaultTimeout, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'

const site = openConsole()
setDefaultTimeout(60_000)

test('a failed login is explained in the language of the page', async () => {
  for (const [language, submit, reason] of [
    ['en', 'Log in', 'The username or password is wrong, or the account has been banned.'],
    ['zh', '登录', '用户名或密码错误，或账户已被封禁。'],
    ['ja', 'ログイン', 'ユーザー名またはパスワードが正しくないか、アカウントの利用が停止されています。'],
  ] as const) {
    await using visit = await site.visit({ language })
    const { page } = visit
    await visit.open('/login')
    await page.locator('input').first().fill('nobody')
    await page.locator('input[type=password]').fill('wrong password')
    await page.getByRole('button', { name: submit, exact: true }).click()
    await page.getByText(reason).first().waitFor()
  }
})

test('a refusal that names a field is shown at the field, in Japanese, with the values that the server sent', async () => {
  await using visit = await site.visit({ as: rootAccount, language: 'ja' })
  const { page } = visit
  await visit.open('/token/add')
  await page.locator('[data-field="name"] input').fill('laptop')
  await page.locator('[data-field="subnet"] input').fill('no-network')
  await page.getByRole('button', { name: '送信', exact: true }).click()
  const reason = '許可する IP の「no-network」は、192.168.0.0/24 のようなネットワークではありません。'
  await page.locator('[data-field="subnet"]').getByText(reason).waitFor()
})

test('if the translations cannot be loaded, the server’s own text is shown', async () => {
  await using visit = await site.visit({ as: rootAccount, language: 'zh', expectedErrors: /ERR_FAILED/ })
  const { page } = visit
  await page.route('**/assets/refusal.zh-*.js', (route) => route.abort())
  await visit.open('/topup')
  await page.locator('textarea').fill('no such code')
  await page.getByRole('button', { name: /兑换/ }).first().click()
  await page.getByText('This redemption code is not valid.').first().waitFor()
})
