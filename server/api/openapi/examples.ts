/** Complete, working bodies by operation. A test proves that each conforms to its schema. */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  authLogin: { username: 'root', password: 'the password' },
  authRegister: { username: 'alice', password: 'a good one' },
  authReset: { email: 'alice@example.com', token: 'from the mail' },
  userUpdateSelf: { display_name: 'Alice' },
  usageSetStatementEmails: { wanted: false },
  userCreate: { username: 'bob', password: 'a good one', display_name: 'Bob' },
  userUpdate: { id: 2, quota_delta: 500_000, group: 'vip' },
  userManage: { username: 'bob', action: 'disable' },
  tokenCreate: { name: 'laptop', remain_quota: 500_000, expired_time: -1 },
  tokenUpdate: { id: 1, name: 'laptop', models: 'gpt-4o,gpt-4o-mini' },
  tokenRotate: { keep_seconds: 3600 },
  tokenFind: { key: 'sk-0123456789abcdef0123456789abcdef0123456789abcdef' },
  channelProbe: { type: 1, key: 'sk-upstream', models: 'gpt-4o' },
  channelCreate: { type: 1, name: 'main', key: 'sk-upstream', models: 'gpt-4o', group: 'default' },
  channelUpdate: { id: 1, priority: 5 },
  channelCopy: { name: 'second' },
  channelSetCosts: { multiplier: 0.8, models: { 'gpt-4o': { input: 2, output: 8, cached: 1 } } },
  channelSetFeed: { feed: { kind: 'gateway', url: 'https://gateway.example.com/api/pricing', every_hours: 24 } },
  channelDecideHeld: { use: ['gpt-4o'] },
  channelPreviewCosts: { kind: 'gateway', url: 'https://gateway.example.com/api/pricing' },
  channelBatch: { ids: [1], action: 'edit', priority: 5 },
  alertCreateRule: { kind: 'error_rate', name: 'Many failed requests', threshold: 10, destinations: [1] },
  alertUpdateRule: { id: 1, enabled: false },
  alertCreateDestination: { kind: 'webhook', name: 'On-call', url: 'https://example.com/alerts' },
  alertUpdateDestination: { id: 1, name: 'On-call team' },
  alertSelfCreateRule: { kind: 'own_balance', name: 'Low balance', threshold: 500_000 },
  alertSelfUpdateRule: { id: 1, remind_hours: 24 },
  alertSelfCreateDestination: { kind: 'ntfy', name: 'Phone', to: 'my-secret-topic' },
  alertSelfUpdateDestination: { id: 1, name: 'My phone' },
  virtualModelCreate: {
    name: 'assistant',
    steps: [{ model: 'gpt-4o', first_token_timeout: 20 }, { model: 'claude-sonnet-4-5' }],
    failures: ['no_channel', 'overloaded', 'rate_limited', 'timeout', 'server_error', 'context_too_long'],
  },
  virtualModelUpdate: { id: 1, price: { input: 2.5, output: 10 } },
  virtualModelDryRun: { model: 'assistant', group: 'vip' },
  optionUpdate: { key: 'RetryTimes', value: '2' },
  optionTestMail: { email: 'alice@example.com' },
  importUpload: 'SQLite format 3…',
  importStart: { address: 'mysql://reader:password@10.0.0.5:3306/oneapi', dry_run: true },
  importAgain: { dry_run: false },
  configApply: { version: 1, options: { SystemName: 'Acme' }, prices: { 'house-model': { ratio: 0.5 } } },
  captureAddRule: {
    target: 'user',
    target_id: 1,
    until: 1_800_000_000,
    redactions: ['@email', 'Acme*'],
    size_limit: 65_536,
  },
  redemptionCreate: { name: 'spring', quota: 100_000, count: 2, expired_time: 1_800_000_000, prefix: 'SPRING-' },
  redemptionSwitchBatch: { name: 'spring', status: 2 },
  redemptionUpdate: { id: 1, name: 'summer' },
  redemptionRedeem: { key: '0123456789abcdef0123456789abcdef' },
  redemptionTopUp: { user_id: 2, quota: 100_000, remark: 'paid by invoice' },
}

const message = { role: 'user', content: 'Say hello.' }
const content = { role: 'user', parts: [{ text: 'Say hello.' }] }

/** Working bodies of relay calls, by path. */
export const relayExamples: Readonly<Record<string, unknown>> = {
  '/v1/chat/completions': { model: 'gpt-4o-mini', messages: [message], max_tokens: 100 },
  '/v1/completions': { model: 'gpt-3.5-turbo-instruct', prompt: 'Once upon a time', max_tokens: 50 },
  '/v1/embeddings': { model: 'text-embedding-3-small', input: 'A text.' },
  '/v1/engines/{model}/embeddings': { input: 'A text.' },
  '/v1/rerank': { model: 'rerank-v3.5', query: 'Which is red?', documents: ['The gate is red.', 'The wall is grey.'] },
  '/v1/responses': { model: 'gpt-4o-mini', input: 'Say hello.' },
  '/v1/conversations': { metadata: { topic: 'demo' } },
  '/v1/conversations/{id}': { metadata: { topic: 'demo' } },
  '/v1/conversations/{id}/items': { items: [{ type: 'message', role: 'user', content: 'Hello!' }] },
  '/v1/responses/compact': { model: 'gpt-4o-mini', input: 'A long conversation.' },
  '/v1/messages': { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [message] },
  '/v1/messages/count_tokens': { model: 'claude-sonnet-4-5', messages: [message] },
  '/v1beta/models/{model}:generateContent': { contents: [content] },
  '/v1beta/models/{model}:streamGenerateContent': { contents: [content] },
  '/v1beta/models/{model}:countTokens': { contents: [content] },
  '/v1beta/models/{model}:embedContent': { content },
  '/v1beta/models/{model}:batchEmbedContents': { requests: [{ model: 'models/text-embedding-3-small', content }] },
  '/v1/moderations': { model: 'omni-moderation-latest', input: 'A text.' },
  '/v1/images/generations': { model: 'dall-e-3', prompt: 'A gate at dawn', size: '1024x1024' },
  '/v1/images/edits': {
    model: 'gpt-image-1',
    prompt: 'Paint the gate red',
    images: [{ image_url: 'https://example.com/gate.png' }],
  },
  '/v1/audio/speech': { model: 'tts-1', input: 'Hello.', voice: 'alloy' },
}

const sound = { file: 'speech.mp3', model: 'whisper-1', response_format: 'json' }

/** Fields of forms by path. A file is represented by its name. */
export const formExamples: Readonly<Record<string, unknown>> = {
  '/v1/images/edits': { model: 'gpt-image-1', image: 'gate.png', prompt: 'Paint the gate red' },
  '/v1/images/variations': { model: 'dall-e-2', image: 'gate.png', n: 1, size: '1024x1024' },
  '/v1/audio/transcriptions': sound,
  '/v1/audio/translations': sound,
}
