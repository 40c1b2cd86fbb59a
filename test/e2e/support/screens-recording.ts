import type { Capture } from '../../../contract/api/capture.ts'
import { rootAccount } from './console.ts'
import { seededRequest } from './log-rows.ts'
import type { Screen } from './screen.ts'
import { failed } from './screen-steps.ts'

const root = rootAccount

const text = (words: string) => ({ type: 'text' as const, text: words, name: '' })
const body = (words: string, turns: Capture['request']['turns'] = []) => ({
  text: words,
  size: 2_000,
  truncated: turns.length === 0,
  turns,
})

/** A recorded request with every kind of part. */
const capture: Capture = {
  request_id: seededRequest,
  created_at: 1_800_000_000,
  user_id: 1,
  token_id: 1,
  path: '/v1/messages',
  dialect: 'anthropic-messages',
  headers: [{ name: 'user-agent', value: 'claude-cli/2.1' }],
  status: 200,
  request: body('{}', [
    { role: 'system', parts: [text('Be brief.')] },
    { role: 'user', parts: [text('Where is this?'), { type: 'media', text: 'image/png, 5000 bytes', name: 'image' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', text: '{"place":"here"}', name: 'look_up' }] },
    { role: 'user', parts: [{ type: 'tool_result', text: 'a-very-long-word-'.repeat(20), name: '' }] },
  ]),
  response: body('{}', [
    { role: 'assistant', parts: [{ type: 'reasoning', text: 'The user asks …', name: '' }, text('In Paris.')] },
  ]),
  attempts: [
    {
      channel_id: 1,
      channel_name: 'first channel',
      dialect: 'openai-chat',
      status: 500,
      request: body('{"model":"gpt-4o","messages":[{"role":"user"'),
      response: body('data: {"choices":[]}\n\n'.repeat(20)),
    },
    { channel_id: 2, channel_name: '', dialect: '', status: 0, request: body('{}'), response: body('') },
  ],
}

const recorded =
  (data: Capture | null, then?: string): Screen['prepare'] =>
  async (page) => {
    await page.route('**/api/capture/*', (route) => route.fulfill({ json: { success: true, message: '', data } }))
    await page.locator('main button:has(.lucide-eye)').click()
    await page
      .locator(data ? 'main ol article' : 'main section [role="status"]')
      .first()
      .waitFor()
    if (then) await page.locator(then).click()
  }

/** The page with recordings, and the content of a request. */
export const recording: readonly Screen[] = [
  {
    path: '/recording?target=token&id=1',
    as: root,
    prepare: (page) => page.locator('[data-field="target_id"] input[role="combobox"]').waitFor(),
  },
  { path: '/recording', state: 'failed', as: root, fails: '**/api/capture/rule/', prepare: failed },
  {
    path: '/recording',
    state: 'refused',
    as: root,
    async prepare(page) {
      await page.locator('textarea[name="words"]').fill('@anything')
      await page.locator('main button[type="submit"]').click()
      await page.locator('[aria-invalid="true"]').first().waitFor()
    },
  },
  { path: `/log/${seededRequest}`, state: 'with its content', as: root, prepare: recorded(capture) },
  {
    path: `/log/${seededRequest}`,
    state: 'with its content as it was sent',
    as: root,
    prepare: recorded(capture, 'main fieldset:nth-of-type(2) label:last-of-type'),
  },
  { path: `/log/${seededRequest}`, state: 'without content', as: root, prepare: recorded(null) },
]
