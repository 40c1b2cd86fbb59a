// Sections of the specification (see coverage.md): 2 (settings: operations, system, other), 3 (options), 4 (turning
// password login off), 5 (settings), 6 (admins), 7 (reading and writing options, update check), 8 (messages), 9
// (default port).
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { startMailServer } from '../helpers/mail-server.ts'
import { startService } from '../helpers/outside-services.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { toastOf, toastShown } from './support/toasts.ts'

const site = openConsole()

const put = (key: OptionKey, value: string) => site.api('PUT', '/api/option/', { key, value })
const stored = async (key: OptionKey) => {
  const options = await site.api<{ key: string; value: string }[]>('GET', '/api/option/')
  return options.find((option) => option.key === key)?.value
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const box = (page: Page, key: OptionKey) => page.locator(`[id="${key}"]`).locator('input, select, textarea').first()
const save = (page: Page) => button(page, 'Save').click()
const puts = (calls: readonly string[]) => calls.filter((call) => call.startsWith('PUT /api/option'))
const done = 'operation completed successfully!'

/** The options of the specification by tab and section id, with the section's heading and keys. */
const specified: Record<string, Record<string, { heading: string; keys: OptionKey[] }>> = {
  operation: {
    general: { heading: 'General', keys: ['TopUpLink', 'ChatLink', 'QuotaPerUnit', 'DisplayInCurrencyEnabled'] },
    monitoring: { heading: 'Monitoring', keys: ['ChannelDisableThreshold', 'AutomaticDisableChannelEnabled'] },
    quota: {
      heading: 'Quota',
      keys: ['QuotaForNewUser', 'QuotaForInviter', 'QuotaForInvitee', 'QuotaRemindThreshold', 'PreConsumedQuota'],
    },
    ratios: { heading: 'Prices', keys: ['ModelRatio', 'GroupRatio'] },
  },
  system: {
    address: { heading: 'Server URL', keys: ['ServerAddress'] },
    login: {
      heading: 'Login and registration',
      keys: [
        'PasswordLoginEnabled',
        'PasswordRegisterEnabled',
        'RegisterEnabled',
        'EmailVerificationEnabled',
        'EmailDomainRestrictionEnabled',
        'EmailDomainWhitelist',
      ],
    },
    mail: {
      heading: 'Email (SMTP)',
      keys: ['SMTPServer', 'SMTPPort', 'SMTPAccount', 'SMTPFrom', 'SMTPToken'],
    },
    'code-hosting': {
      heading: 'GitHub login',
      keys: ['GitHubOAuthEnabled', 'GitHubClientId', 'GitHubClientSecret'],
    },
    wechat: {
      heading: 'WeChat login',
      keys: ['WeChatAuthEnabled', 'WeChatServerAddress', 'WeChatServerToken', 'WeChatAccountQRCodeImageURL'],
    },
    'bot-check': {
      heading: 'Bot protection (Turnstile)',
      keys: ['TurnstileCheckEnabled', 'TurnstileSiteKey', 'TurnstileSecretKey'],
    },
  },
  other: {
    pages: {
      heading: 'Name and pages',
      keys: ['Notice', 'SystemName', 'Logo', 'HomePageContent', 'PublicApiReferenceEnabled', 'About', 'Footer'],
    },
  },
}

describe('the page', () => {
  test('spec 2, 3: every option is on its tab, in its section', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const shown: string[] = []
    for (const [tab, sections] of Object.entries(specified)) {
      await visit.open(`/setting?tab=${tab}`)
      await page.locator('[id="RetryTimes"], [id="SMTPServer"], [id="SystemName"]').first().waitFor()
      if (tab === 'operation') await page.getByRole('table', { name: 'Models' }).waitFor()
      shown.push(...(await page.locator('main [id]').evaluateAll((all) => all.map((each) => each.id))))
      for (const [id, { heading, keys }] of Object.entries(sections)) {
        const section = page.locator(`[id="${id}"]`)
        await section.getByRole('heading', { name: heading, exact: true }).waitFor()
        const inside = await section.locator('[id]').evaluateAll((all) => all.map((each) => each.id))
        expect([tab, id, keys.filter((key) => !inside.includes(key))]).toEqual([tab, id, []])
      }
    }
    expect(Object.keys(optionDefinitions).filter((key) => !shown.includes(key))).toEqual([])
  })

  test('spec 5, 9: number boxes have their limits, and the SMTP port’s placeholder is 587', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    await eventually(() => box(page, 'SMTPPort').getAttribute('placeholder')).toBe('587')
    await page.getByRole('tab', { name: 'Operation settings' }).click()
    const attributes = async (key: OptionKey) => {
      await box(page, key).waitFor()
      return [await box(page, key).getAttribute('min'), await box(page, key).getAttribute('step')]
    }
    await eventually(() => attributes('RetryTimes')).toEqual(['0', '1'])
    await eventually(async () => (await attributes('QuotaPerUnit'))[1]).toBe('0.01')
    await eventually(async () => (await attributes('ChannelDisableThreshold'))[0]).toBe('0')
  })

  test('search finds options of all tabs by name and key, the section links work, and options with their default value can be hidden', async () => {
    await put('RetryTimes', '5')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByLabel('Search settings').fill('smtp port')
    await page.getByText('1 setting', { exact: true }).waitFor()
    await box(page, 'SMTPPort').waitFor()
    await page.getByLabel('Search settings').fill('retrytimes')
    await box(page, 'RetryTimes').waitFor()
    await page.getByLabel('Search settings').fill('nothing like this')
    await page.getByText('No results found.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Requests' }).click()
    await page.waitForURL('**#relay')
    await page.waitForFunction(() => {
      const top = document.getElementById('relay')?.getBoundingClientRect().top ?? -1
      return top >= 0 && top < window.innerHeight
    })
    await page.getByLabel(/Changed only/).check()
    await box(page, 'TopUpLink').waitFor({ state: 'detached' })
    await page.locator('#RetryTimes').getByRole('img', { name: 'Changed from the default' }).waitFor()
    await put('RetryTimes', '2')
    await page.reload()
    await page.getByText(/Changed only/).waitFor()
    await box(page, 'RetryTimes').waitFor({ state: 'detached' })
  })

  test('the palette leads to an option from every page', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/token')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('Turnstile')
    await page.getByRole('option', { name: 'Secret key' }).click()
    await page.waitForURL('**/setting?tab=system#TurnstileSecretKey')
    await box(page, 'TurnstileSecretKey').waitFor()
  })

  test('spec 6: options that an administrator may not write are locked and show why', async () => {
    const admin = await site.addUser('deputy', { role: 10 })
    await using visit = await site.visit({ as: admin })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'QuotaPerUnit').waitFor()
    await eventually(() => box(page, 'QuotaPerUnit').isDisabled()).toBe(true)
    await eventually(() => page.locator('[id="QuotaPerUnit"]').textContent()).toContain(
      'Only super admins can change this.',
    )
    await eventually(() => box(page, 'RetryTimes').isDisabled()).toBe(false)
    await box(page, 'RetryTimes').fill('3')
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => stored('RetryTimes')).toBe('3')
  })

  test('options that cannot be loaded show an error and can be reloaded', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await page.route('**/api/option/', (route) => route.abort())
    await visit.open('/setting?tab=other')
    await page.getByText('Could not load the settings').waitFor()
    await page.unroute('**/api/option/')
    await button(page, 'Retry').click()
    await box(page, 'SystemName').waitFor()
  })

  test('if the server sends no option definitions, the console uses built-in definitions', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    // Responds like a server that has only the endpoints of the specification.
    for (const path of ['definitions', 'prices']) {
      await page.route(`**/api/option/${path}`, (route) =>
        route.fulfill({ status: 404, json: { success: false, message: 'not found' } }),
      )
    }
    await visit.open('/setting?tab=operation')
    await box(page, 'RetryTimes').fill('4')
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => stored('RetryTimes')).toBe('4')
    await page.getByRole('tab', { name: 'System settings' }).click()
    await eventually(() => box(page, 'SMTPToken').getAttribute('type')).toBe('password')
  })
})

describe('switches', () => {
  test('spec 2, 8: are saved immediately and can be undone', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByRole('switch', { name: 'Log requests', exact: true }).uncheck()
    const message = toastOf(page, 'success', done)
    // Hovering over the toast keeps it open.
    await message.hover()
    await eventually(() => stored('LogConsumeEnabled')).toBe('false')
    await message.getByRole('button', { name: 'Undo' }).click()
    await toastShown(page, 'success', 'Undone')
    await eventually(() => stored('LogConsumeEnabled')).toBe('true')
    await eventually(() => page.getByRole('switch', { name: 'Log requests', exact: true }).isChecked()).toBe(true)
  })

  test('spec 4: turning password login off asks for confirmation first', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    const toggle = page.getByRole('switch', { name: 'Password login' })
    await toggle.click()
    const question = page.getByRole('alertdialog', { name: 'Turn off password login?' })
    await question.getByText('No external login is enabled.').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await eventually(() => toggle.isChecked()).toBe(true)
    await eventually(() => stored('PasswordLoginEnabled')).toBe('true')
    await toggle.click()
    await question.getByRole('button', { name: 'Turn off' }).click()
    await toastShown(page, 'success', done)
    await eventually(() => stored('PasswordLoginEnabled')).toBe('false')
    await toggle.click()
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#PasswordLoginEnabled input')?.checked)
    await eventually(() => stored('PasswordLoginEnabled')).toBe('true')
  })

  test('a switch change that the server refuses is reverted, and the reason is shown', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    const toggle = page.getByRole('switch', { name: 'Login and registration with GitHub' })
    await toggle.click()
    await toastShown(page, 'error', 'Error: Set GitHubClientId')
    await eventually(() => toggle.isChecked()).toBe(false)
  })
})

describe('texts and numbers', () => {
  beforeEach(async () => {
    await put('TopUpLink', '')
    await put('RetryTimes', '0')
  })

  test('spec 7: changes are collected across tabs, reviewed, and sent with one call for each changed key', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'TopUpLink').fill('https://shop.example')
    await box(page, 'RetryTimes').fill('2')
    await page.getByRole('tab', { name: 'Other settings' }).click()
    await box(page, 'SystemName').fill('My gate')
    // The preview shows the name before it is saved.
    await page.locator('#pages').getByText('My gate', { exact: true }).waitFor()
    await page.getByRole('region', { name: '3 changes' }).waitFor()
    await button(page, 'Review').click()
    const review = page.getByRole('region', { name: '3 changes' })
    await eventually(() => review.locator('del').allTextContents()).toContain('Tollgate')
    await eventually(() => review.locator('ins').allTextContents()).toContain('https://shop.example')
    expect(puts(visit.calls())).toEqual([])
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => puts(visit.calls())).toHaveLength(3)
    await eventually(async () => [await stored('TopUpLink'), await stored('RetryTimes')]).toEqual([
      'https://shop.example',
      '2',
    ])
    await eventually(() => review.count()).toBe(0)
    await eventually(() => page.evaluate(() => localStorage.getItem('system_name'))).toBe('My gate')
    await put('SystemName', 'Tollgate')
  })

  test('a section can be saved separately', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'TopUpLink').fill('https://shop.example/section')
    await box(page, 'QuotaForNewUser').fill('77')
    await button(page, 'Save General').click()
    await toastShown(page, 'success', done)
    await eventually(() => stored('TopUpLink')).toBe('https://shop.example/section')
    await eventually(() => puts(visit.calls())).toHaveLength(1)
    await page.getByText('1 change', { exact: true }).waitFor()
    await button(page, 'Discard').click()
  })

  test('an amount of quota is entered in dollars, and its value in quota units is shown', async () => {
    await put('QuotaForInviter', '250000')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    const inviter = box(page, 'QuotaForInviter')
    await eventually(() => inviter.inputValue()).toBe('0.50')
    await inviter.fill('-1')
    await save(page)
    await eventually(() => inviter.getAttribute('aria-invalid')).toBe('true')
    await inviter.fill('one')
    await save(page)
    await eventually(() => inviter.getAttribute('aria-invalid')).toBe('true')
    expect(puts(visit.calls())).toEqual([])
    await inviter.fill('1.5')
    await page.locator('#QuotaForInviter output').getByText('750,000').waitFor()
    await save(page)
    await eventually(() => stored('QuotaForInviter')).toBe('750000')
    await put('DisplayInCurrencyEnabled', 'false')
    await visit.open('/setting?tab=operation')
    await eventually(() => inviter.inputValue()).toBe('750000')
    await put('DisplayInCurrencyEnabled', 'true')
    await put('QuotaForInviter', '0')
  })

  test('discarded changes are not sent', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'TopUpLink').fill('https://shop.example')
    await button(page, 'Discard').click()
    await eventually(() => box(page, 'TopUpLink').inputValue()).toBe('')
    expect(puts(visit.calls())).toEqual([])
  })

  test('leaving with unsaved changes asks for confirmation', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'TopUpLink').fill('https://shop.example')
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await eventually(() => box(page, 'TopUpLink').inputValue()).toBe('https://shop.example')
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL('**/token')
  })

  test('a refused change does not prevent the other changes; it stays in the form with the reason', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await box(page, 'TopUpLink').fill('javascript:alert(1)')
    await box(page, 'RetryTimes').fill('5')
    await save(page)
    await toastShown(page, 'error', 'Error: Top-up link must be')
    await toastShown(page, 'info', '1 saved, 1 failed')
    await eventually(async () => [await stored('RetryTimes'), await stored('TopUpLink')]).toEqual(['5', ''])
    await eventually(() => page.locator('[id="TopUpLink"]').textContent()).toContain('Top-up link must be a URL')
    await page.getByRole('region', { name: '1 change' }).waitFor()
    await button(page, 'Discard').click()
  })

  test('spec 5: numbers outside their limits are not sent', async () => {
    // Gateways in tests start with 0 retries, so this test sets the option to its default.
    await put('RetryTimes', '2')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    for (const [value, problem] of [
      ['-1', 'Must be at least 0.'],
      ['1.5', 'Enter a whole number.'],
      ['21', 'Must be at most 20.'],
    ] as const) {
      await box(page, 'RetryTimes').fill(value)
      await save(page)
      await page.locator('[id="RetryTimes"]').getByText(problem).waitFor()
      await toastShown(page, 'error', `Retries on failure: ${problem}`)
    }
    expect(puts(visit.calls())).toEqual([])
    await box(page, 'RetryTimes').fill('')
    await eventually(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  })

  test('spec 5: the trailing slash of server addresses is removed', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    await box(page, 'ServerAddress').fill('https://gate.example/')
    await box(page, 'WeChatServerAddress').fill('https://wechat.example/')
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(async () => [await stored('ServerAddress'), await stored('WeChatServerAddress')]).toEqual([
      'https://gate.example',
      'https://wechat.example',
    ])
    await page.getByText('https://gate.example/oauth/github').waitFor()
    await put('ServerAddress', '')
  })

  test('spec 5: a secret is sent only if something was typed, is never shown, and can be removed', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    const secret = box(page, 'GitHubClientSecret')
    await eventually(() => secret.getAttribute('placeholder')).toBe('Not set')
    await secret.fill('hush hush')
    await button(page, 'Review').click()
    expect(await page.getByRole('region', { name: '1 change' }).textContent()).not.toContain('hush')
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => secret.inputValue()).toBe('')
    await eventually(() => secret.getAttribute('placeholder')).toBe('Set. Leave empty to keep it')
    await secret.fill('x')
    await secret.fill('')
    await eventually(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await button(page, 'Remove: Client secret').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
    await page.locator('#GitHubClientSecret input[placeholder="Not set"]').waitFor()
  })

  test('spec 5: domains are added and removed as chips; empty and already listed domains are ignored', async () => {
    await put('EmailDomainWhitelist', 'a.example')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    const add = box(page, 'EmailDomainWhitelist')
    for (const ignored of ['', '   ', 'a.example']) {
      await add.fill(ignored)
      await add.press('Enter')
    }
    await eventually(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await add.fill('b.example')
    await add.press('Enter')
    await add.fill('c.example')
    await button(page, 'Add a domain').click()
    await button(page, 'Remove a.example').click()
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => stored('EmailDomainWhitelist')).toBe('b.example,c.example')
  })

  test('a value can be reset to its default', async () => {
    await put('SMTPPort', '25')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    await button(page, 'Use default for SMTP port').click()
    await eventually(() => box(page, 'SMTPPort').inputValue()).toBe('587')
    await save(page)
    await toastShown(page, 'success', done)
    await eventually(() => stored('SMTPPort')).toBe('587')
  })
})

describe('pages', () => {
  test('spec 2: a sanitised preview is shown beside the text', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=other')
    await page
      .getByLabel('Notice', { exact: true })
      .fill('# Hello\n<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">')
    const preview = page.getByRole('region', { name: 'Preview of Notice' })
    await preview.getByRole('heading', { name: 'Hello' }).waitFor()
    await eventually(() => preview.locator('script, [onerror]').count()).toBe(0)
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
    await page.getByLabel('About page', { exact: true }).fill('https://docs.example')
    await page.getByText('This page is embedded.').waitFor()
    await button(page, 'Discard').click()
  })

  test('spec 8: the update check is shown if a feed is configured, and shows its result', async () => {
    const { version } = await site.api<{ version: string }>('GET', '/api/status')
    let tag = `v${version}`
    await using feed = await startService(
      (_, response) => void response.end(JSON.stringify({ tag_name: tag, body: '# Fresh\n<script>1</script>' })),
    )
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=other')
    await page.getByText('Set a release feed to check for updates.').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Check for updates' }).count()).toBe(0)
    await box(page, 'UpdateFeedURL').fill(feed.url)
    await save(page)
    await button(page, 'Check for updates').click()
    await toastShown(page, 'success', `already the latest version: ${tag}`)
    tag = 'v99.0.0'
    await button(page, 'Check for updates').click()
    const notes = page.getByRole('dialog', { name: 'New version: v99.0.0' })
    await notes.getByRole('heading', { name: 'Fresh' }).waitFor()
    await eventually(() => notes.locator('script').count()).toBe(0)
    await put('UpdateFeedURL', '')
  })

  test('a test email uses the saved settings; a failure is shown on the page', async () => {
    await put('SMTPServer', '')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=system')
    await page.getByLabel('Send test email to').fill('ops@example.com')
    await button(page, 'Send test email').click()
    await page.getByText('Could not send the test email').waitFor()
    await using mail = await startMailServer()
    await put('SMTPPort', String(mail.port))
    await put('SMTPFrom', 'gate@example.com')
    await page.reload()
    await box(page, 'SMTPServer').fill('127.0.0.1')
    await eventually(() => button(page, 'Send test email').isDisabled()).toBe(true)
    await save(page)
    await page.getByLabel('Send test email to').fill('ops@example.com')
    await button(page, 'Send test email').click()
    await toastShown(page, 'success', 'The mail server accepted the test email.')
    expect((await mail.arrived(1))[0]?.to).toEqual(['ops@example.com'])
  })
})

describe('the audit log', () => {
  test('shows who did what, filtered by person, action and time, one page at a time', async () => {
    const admin = await site.addUser('noter', { role: 10 })
    for (let times = 1; times <= 11; times++)
      await site.apiAs(admin, 'PUT', '/api/option/', { key: 'RetryTimes', value: String(times) })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=audit')
    await rowsOf(page).first().waitFor()
    await page.getByLabel('Username or ID').fill('noter')
    await page.keyboard.press('Enter')
    await page.getByLabel('Action starts with').selectOption('option.')
    await page.getByText('11 rows').waitFor()
    await eventually(() => rowsOf(page).first().textContent()).toContain('option.update')
    await eventually(() => rowsOf(page).first().textContent()).toContain('"10" → "11"')
    await eventually(() => page.url()).toContain('actor=noter&action=option.')
    await button(page, 'Next page').click()
    await page.getByText('Page 2 of 2').waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00')
    await page.getByText('No results found.').waitFor()
    await button(page, 'Clear filters').first().click()
    await rowsOf(page).first().waitFor()
    const who = page.getByLabel('Username or ID')
    await eventually(() => who.inputValue()).toBe('')
    expect(await who.evaluate((box) => box === document.activeElement)).toBe(true)
    expect(await button(page, 'Clear filters').count()).toBe(0)
    // Text that was typed but not submitted is also cleared.
    await page.getByLabel('Action starts with').selectOption('option.')
    await who.fill('nobody yet')
    await button(page, 'Clear filters').click()
    await eventually(() => who.inputValue()).toBe('')
  })

  test('describes actions in the language of the page', async () => {
    const fields = { type: 1, name: 'a key "weight=1"', key: 'k', models: 'gpt-4o', model_mapping: '{}' }
    const [id] = await site.api<number[]>('POST', '/api/channel/', fields)
    await site.api('PUT', '/api/channel/', { ...fields, id, model_mapping: '', priority: 5, weight: 2, key: 'other' })
    await put('RetryTimes', '3')
    await using visit = await site.visit({ as: rootAccount, language: 'zh' })
    const { page } = visit
    await visit.open('/setting?tab=audit')
    const kinds = page.getByLabel('操作类别').locator('option')
    await eventually(() => kinds.allTextContents()).toContain('渠道')
    const row = (place: number) => rowsOf(page).nth(place).textContent()
    await eventually(() => row(0)).toContain('修改设置')
    await eventually(() => row(0)).toContain('失败重试次数')
    await eventually(() => row(1)).toContain('修改渠道')
    await eventually(() => row(1)).toContain(`渠道 ${id}`)
    await eventually(() => row(1)).toContain('权重：0 → 2，优先级：0 → 5，密钥')
    await eventually(() => row(1)).not.toContain('模型映射')
    await eventually(() => row(2)).toContain('名称："a key \\"weight=1\\""，模型："gpt-4o"')
  })

  test('translates the server’s sentences into the language of the page', async () => {
    const fields = { type: 1, key: 'k', models: 'gpt-4o' }
    const ids: number[] = []
    for (const name of ['left', 'right'])
      ids.push(...(await site.api<number[]>('POST', '/api/channel/', { ...fields, name })))
    const [first, second] = ids
    await site.api('PUT', '/api/channel/', { id: second, status: 2 })
    await site.api('POST', '/api/channel/batch', { ids: [first, second], action: 'edit', priority: 3, weight: 4 })
    await site.api('POST', '/api/channel/batch', { ids: [first, second], action: 'enable' })
    await site.api('POST', `/api/channel/${first}/copy`)
    await site.api('DELETE', '/api/log/?target_timestamp=86400')
    const read = async (language: 'en' | 'zh') => {
      await using visit = await site.visit({ as: rootAccount, language })
      await visit.open('/setting?tab=audit')
      await rowsOf(visit.page).nth(4).waitFor()
      const details = await rowsOf(visit.page).evaluateAll((rows) => rows.map((row) => row.children[4]?.textContent))
      // The first rows may be logins of these visits. Logins have no details, so rows are skipped until the first row
      // with details.
      return details.slice(details.findIndex((detail) => detail !== ''))
    }
    const en = await read('en')
    expect(en[0]).toStartWith('0 log entries older than')
    expect(en[0]).toContain('1970-01-02')
    expect(en[1]).toStartWith('older than')
    expect(en.slice(2, 5)).toEqual([
      `of channel ${first}`,
      `(${first}); status: 2 → 1 (${second})`,
      `priority: 0 → 3, weight: 0 → 4 (${first} ${second})`,
    ])
    const zh = await read('zh')
    expect([zh[0], zh[1]].map((each) => /早于 1970-01-02/.test(each ?? ''))).toEqual([true, true])
    expect(zh.slice(2, 5)).toEqual([
      `复制自渠道 ${first}`,
      `(${first})；状态：2 → 1 (${second})`,
      `优先级：0 → 3，权重：0 → 4 (${first} ${second})`,
    ])
  })

  test('shows an error if it cannot be loaded, and can be reloaded', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await page.route('**/api/audit/*', (route) => route.abort())
    await visit.open('/setting?tab=audit')
    await page.getByText('Could not load the list').waitFor()
    await page.unroute('**/api/audit/*')
    await button(page, 'Retry').click()
    await rowsOf(page).first().waitFor()
  })
})

describe('options that are tables', () => {
  const table = (page: Page, key: OptionKey) => page.locator(`[id="${key}"]`)

  test('limits of groups are edited in cells, budgets in dollars; an invalid value shows an error at its cell', async () => {
    await put('GroupLimits', '{"vip":{"rpm_limit":60,"daily_budget":500000}}')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation#GroupLimits')
    const limits = table(page, 'GroupLimits')
    const cell = (name: string) => limits.getByLabel(name, { exact: true })
    await eventually(() => cell('Daily budget ($) of vip').inputValue()).toBe('1')
    await cell('Requests per minute of vip').fill('1.5')
    await limits.getByText('Enter a whole number of at least 0.').waitFor()
    await cell('Requests per minute of vip').fill('90')
    await cell('Daily budget ($) of vip').fill('2.5')
    await limits.getByPlaceholder('New group').fill('trial')
    await limits.getByPlaceholder('New group').press('Enter')
    await cell('Concurrent requests of trial').fill('2')
    await save(page)
    await toastShown(page, 'success', done)
    expect(JSON.parse((await stored('GroupLimits')) ?? '')).toEqual({
      vip: { rpm_limit: 90, daily_budget: 1_250_000 },
      trial: { concurrency_limit: 2 },
    })
    await limits.getByRole('button', { name: 'Remove vip' }).click()
    await limits.getByText('Edit as JSON').click()
    await eventually(() => limits.locator('textarea').inputValue()).toBe(
      JSON.stringify({ trial: { concurrency_limit: 2 } }, null, 2),
    )
    await limits.locator('textarea').fill('{"trial":{"unknown":1}}')
    await limits.getByText('Fix the JSON to use the table.').waitFor()
    await limits.locator('textarea').fill('{}')
    await limits.getByText('No entries').waitFor()
    await save(page)
    await eventually(() => stored('GroupLimits')).toBe('{}')
  })

  test('every other table option can be edited in cells', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    const add = async (key: OptionKey, name: string, placeholder = 'New group') => {
      await table(page, key).getByPlaceholder(placeholder, { exact: true }).fill(name)
      await table(page, key).getByRole('button', { name: 'Add', exact: true }).click()
    }
    await add('GroupChannelOrder', 'vip')
    await table(page, 'GroupChannelOrder').getByLabel('Order of channels of vip').selectOption('latency')
    await add('UserUsableGroups', 'fast')
    await table(page, 'UserUsableGroups').getByLabel('Description of fast').fill('Faster channels')
    await table(page, 'GroupGroupRatio').getByLabel('Group of the user', { exact: true }).fill('vip')
    await add('GroupGroupRatio', 'fast', 'Group of the token')
    await table(page, 'GroupGroupRatio').getByLabel('Multiplier of vip → fast').fill('1.5')
    await add('ModelPrice', 'image-model', 'New entry')
    await table(page, 'ModelPrice').getByLabel('Value of image-model').fill('0.04')
    await save(page)
    await toastShown(page, 'success', done)
    for (const [key, value] of [
      ['GroupChannelOrder', { vip: 'latency' }],
      ['UserUsableGroups', { fast: 'Faster channels' }],
      ['GroupGroupRatio', { vip: { fast: 1.5 } }],
      ['ModelPrice', { 'image-model': 0.04 }],
    ] as const) {
      expect([key, JSON.parse((await stored(key)) ?? '')]).toEqual([key, value])
      await put(key, '{}')
    }
  })
})

describe('the boxes of the settings', () => {
  /** The texts that `aria-describedby` ties to a box, in order. */
  const descriptionOf = (box: Locator) =>
    box.evaluate((it) =>
      (it.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? `no element ${id}`),
    )

  test('a box for a new row of a table is tied to its hint and to its error', async () => {
    await put('GroupLimits', '{"vip":{"rpm_limit":60}}')
    await put('GroupGroupRatio', '{"vip":{"fast":2}}')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation#GroupLimits')
    for (const [key, box, name] of [
      ['GroupLimits', 'New entry in Group limits', 'vip'],
      ['GroupGroupRatio', 'Group of the token', 'vip → fast'],
    ] as const) {
      const option = page.locator(`[id="${key}"]`)
      const add = option.getByLabel(box, { exact: true })
      const hint = await option.locator('p').first().textContent()
      await eventually(() => descriptionOf(add)).toEqual([String(hint)])
      if (key === 'GroupGroupRatio') await option.getByLabel('Group of the user', { exact: true }).fill('vip')
      await add.fill(key === 'GroupLimits' ? 'vip' : 'fast')
      await add.press('Enter')
      const problem = `${name} is already in the table.`
      await option.getByRole('alert').getByText(problem).waitFor()
      expect(await descriptionOf(add)).toEqual([String(hint), problem])
      expect(await add.getAttribute('aria-invalid')).toBe('true')
      await add.fill('other')
      await eventually(() => descriptionOf(add)).toEqual([String(hint)])
      expect(await add.getAttribute('aria-invalid')).toBe(null)
    }
    for (const view of ['Models', 'Groups']) {
      await page
        .locator('label')
        .filter({ hasText: new RegExp(`^${view}$`) })
        .click()
      const add = page.getByLabel(view === 'Models' ? 'New model' : 'New group', { exact: true }).first()
      await eventually(async () => (await descriptionOf(add))[0]).toContain(view === 'Models' ? 'price' : 'group')
    }
    await put('GroupLimits', '{}')
    await put('GroupGroupRatio', '{}')
  })
})
