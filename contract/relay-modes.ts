/** The kinds of relayed calls. A provider serves some of them; a log row and a metric name theirs. */
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

/** Every kind of call that is charged: those that are one request, and sessions. */
export type CallMode = RelayMode | 'realtime'
