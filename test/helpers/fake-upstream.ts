/**
 * An upstream for tests that uses OpenAI's dialect. It can also misbehave, down to single TCP segments and HTTP/2
 * frames.
 *
 * ```ts
 * await using upstream = await startFakeUpstream()
 * upstream.next(status(503), okChat({ text: 'Hello' }))
 * upstream.forKey('key-1', resetsBeforeHeaders())
 * ```
 */
export { answerByPath } from './fake-upstream/answer-by-path.ts'
export { BackgroundService } from './fake-upstream/background.ts'
export * from './fake-upstream/chat.ts'
export * from './fake-upstream/errors.ts'
export * from './fake-upstream/faults.ts'
export * from './fake-upstream/faults-http2.ts'
export * from './fake-upstream/faults-stream.ts'
export * from './fake-upstream/faults-usage.ts'
export { H2_ERROR } from './fake-upstream/http2-frames.ts'
export * from './fake-upstream/media.ts'
export { readMultipart } from './fake-upstream/multipart.ts'
export type { RecordedRequest } from './fake-upstream/recorded-request.ts'
export { closedPort, type FakeUpstream, type FakeUpstreamOptions, startFakeUpstream } from './fake-upstream/server.ts'
export type { SseStyle } from './fake-upstream/sse.ts'
export { type Behaviour, behaviour, type Exchange } from './fake-upstream/types.ts'
export * from './fake-upstream/wrappers.ts'
