/**
 * Recorded traffic of real services as test data, and servers that replay it.
 *
 * ```ts
 * describe('anthropic streams', () => {
 *   for (const entry of listCases({ provider: 'anthropic', kind: 'sse', status: 'ok' })) {
 *     test(entry.id, async () => {
 *       await using upstream = await startReplay(entry, { chunking: 'byte' })
 * ```
 */
export {
  leastCases,
  listCases,
  listSequences,
  loadCase,
  type RecordingCase,
  type RecordingEntry,
  type RecordingFilter,
  recordingsAvailable,
  sseData,
} from './fake-upstream/recorded-cases.ts'
export { replay, startReplay, startWebSocketReplay } from './fake-upstream/replay.ts'
