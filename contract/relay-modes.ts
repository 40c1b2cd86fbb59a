/** The kinds of relayed calls. Each provider serves some of them. Log rows and metrics contain the kind. */
export const relayModes = [
  'chat',
  'completions',
  'embeddings',
  'moderations',
  'rerank',
  'images',
  'image-edits',
  'image-variations',
  'speech',
  'transcriptions',
  'translations',
] as const

export type RelayMode = (typeof relayModes)[number]

/** Every kind of call that is charged: single requests, and sessions. */
export type CallMode = RelayMode | 'realtime'
