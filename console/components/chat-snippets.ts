import { serverAddress } from '../lib/server-address.ts'
import { type ChatRequest, chatCode } from './chat-code.ts'
import type { Snippet } from './snippet.ts'

/** A chat call of this server with a key, written for curl, Python and TypeScript. */
export function chatSnippets(key: string, request: ChatRequest): Snippet[] {
  return chatCode(`${serverAddress()}/v1`, key, request)
}
