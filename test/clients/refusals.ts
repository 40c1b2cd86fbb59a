import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rig } from '../matrix/support/rig.ts'
import type { Client } from './programs.ts'
import { foldersIn, startClient } from './run.ts'

/** Reasons for refusing a call that a retry cannot fix, in the order of the table's columns. */
export const refusals = ['wrong token', 'token used up', 'account used up'] as const
type Refusal = (typeof refusals)[number]

/** The message from the gateway that the user must see, for each reason. */
const sentences: Readonly<Record<Refusal, RegExp>> = {
  'wrong token': /invalid token/i,
  'token used up': /quota of (?:the token|token .*) is exhausted/i,
  'account used up': /user quota is not enough/i,
}

/** Starts a client with a token that is refused, and checks that it makes one call and prints the gateway's reason. */
export async function runRefusal(
  rig: Rig,
  client: Client,
  refusal: Refusal,
  installed: { folder: string; path: string },
): Promise<{ faults: string[]; printed: string }> {
  const base = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
  const front = startFront(rig.gateway.url)
  try {
    // Without a channel, the call would be refused because nothing serves the model. The channel itself receives no
    // call.
    await rig.gateway.addChannel({ type: 8, models: client.model, base_url: rig.upstream.url })
    const place = { url: front.url, token: await tokenFor(rig, refusal), ...foldersIn(base) }
    const { exit, printed } = await startClient(client, place, installed)
    const faults = [
      ...(exit === 0 ? ['it ended as if all were well'] : []),
      ...(sentences[refusal].test(printed) ? [] : ['it did not say why']),
      ...(front.asked.length === 1 ? [] : [`${front.asked.length} calls: ${[...new Set(front.asked)].join(', ')}`]),
    ]
    return { faults, printed }
  } finally {
    await front.stop()
    rmSync(base, { recursive: true, force: true })
  }
}

async function tokenFor(rig: Rig, refusal: Refusal): Promise<string> {
  if (refusal === 'wrong token') return `sk-${'nobody'.repeat(8)}`
  const plenty = 1_000_000
  const caller = await rig.gateway.addCaller(
    refusal === 'token used up' ? { user: plenty, token: 0 } : { user: 0, token: plenty },
  )
  return caller.token
}

/** Forwards everything to the gateway and records the model calls, as `POST /v1/messages 401`. */
function startFront(gateway: string) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = request.method === 'POST' ? await request.arrayBuffer() : undefined
      const headers = new Headers(request.headers)
      headers.delete('host')
      const answer = await fetch(`${gateway}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(body && { body }),
      })
      if (request.method === 'POST' && pathname.startsWith('/v1')) asked.push(`POST ${pathname} ${answer.status}`)
      return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) }
}
