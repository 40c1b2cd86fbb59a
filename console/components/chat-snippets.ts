import { serverAddress } from '../lib/server-address.ts'
import { type ChatRequest, chatCode } from './chat-code.ts'
import type { Snippet } from './snippet.ts'

/** Code that sends a chat request to this server: for curl, Python and TypeScript. */
export function chatSnippets(key: string, request: ChatRequest): Snippet[] {
  return chatCode(`${serverAddress()}/v1`, key, request)
}
