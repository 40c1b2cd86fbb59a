import type { Job } from './load/job.ts'
import { MESSAGES_MODEL, type TargetName } from './targets.ts'

/** One thing to measure. */
export interface Case {
  readonly id: string
  readonly title: string
  readonly mode: Job['mode']
  readonly model: string
  readonly stream: boolean
  readonly tls: boolean
  readonly bodyBytes: number
  readonly connections: number
  readonly rate?: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** The programs to measure. `peer`, another gateway, is included only if it can run the case. */
  readonly targets: readonly TargetName[]
  /** The number of rounds, if it differs from the usual one. */
  readonly rounds?: number
  /** Additional rounds in a full run. They reduce the effect of noise in the measurements. */
  readonly moreRounds?: number
  /** The connections use the tokens of a hundred users in turn. Without this, all use one token of root. */
  readonly accounts?: boolean
  /** The upstream has Anthropic's API and the client uses OpenAI's API, so the gateway translates. */
  readonly translated?: boolean
  /** Restarts the measured program before each round, so that its memory reflects this case alone. */
  readonly fresh?: boolean
}

const ALL = ['direct', 'bare', 'gateway', 'before', 'peer'] as const
const PLAIN = {
  mode: 'closed',
  model: 'gpt-4o-mini',
  stream: false,
  tls: false,
  bodyBytes: 1_024,
  connections: 32,
  targets: ALL,
} as const

/** Milliseconds between two chunks of a slow stream. This and the number of chunks determine how long it lasts. */
const SLOW_CHUNK_MS = 500

/** All cases, in the order in which they run. */
export function allCases(quick: boolean): Case[] {
  const time = { warmupSeconds: quick ? 0.5 : 2, seconds: quick ? 1.5 : 6 }
  const plain = { ...PLAIN, ...time }
  const stream = { ...plain, stream: true }
  const rate = { mode: 'rate', connections: 256 } as const
  return [
    { ...plain, id: 'plain', title: 'plain, 1 KB body, 32 connections', moreRounds: 2 },
    { ...plain, id: 'plain-100k', title: 'plain, 100 KB body, 32 connections', bodyBytes: 102_400 },
    { ...plain, id: 'plain-1m', title: 'plain, 1 MB body, 8 connections', bodyBytes: 1_048_576, connections: 8 },
    { ...stream, id: 'sse', title: 'stream of 32 chunks in 4 writes, 32 connections', moreRounds: 2 },
    { ...plain, id: 'plain-256', title: 'plain, 1 KB body, 256 connections', connections: 256 },
    { ...stream, id: 'sse-256', title: 'stream of 32 chunks in 4 writes, 256 connections', connections: 256 },
    { ...stream, id: 'sse-each', title: 'stream of 32 chunks in 32 writes, 32 connections', model: 'gpt-4' },
    {
      ...stream,
      id: 'sse-messages',
      title: 'stream of 32 events of an Anthropic upstream in 4 writes, 32 connections',
      model: MESSAGES_MODEL,
      translated: true,
      targets: ['gateway', 'peer'],
    },
    { ...plain, ...rate, id: 'plain-rate', title: 'plain, 1 KB body, 200 per second', rate: 200 },
    { ...stream, ...rate, id: 'sse-rate', title: 'stream of 32 chunks in 4 writes, 150 per second', rate: 150 },
    {
      ...stream,
      ...rate,
      id: 'sse-paced',
      title: 'stream of 32 chunks 5 ms apart, 50 per second',
      model: 'gpt-4o',
      rate: 50,
    },
    {
      ...plain,
      id: 'plain-tls',
      title: 'plain, 1 KB body, 32 connections, TLS upstream',
      tls: true,
      targets: ['gateway', 'peer'],
    },
    {
      ...stream,
      id: 'sse-tls',
      title: 'stream of 32 chunks in 4 writes, 32 connections, TLS upstream',
      tls: true,
      targets: ['gateway', 'peer'],
    },
    {
      ...plain,
      id: 'plain-tls-256',
      title: 'plain, 1 KB body, 256 connections, TLS upstream',
      tls: true,
      connections: 256,
      targets: ['gateway', 'peer'],
    },
    openStreams(quick),
    stalledReaders(quick),
  ]
}

/** The load for a program before its first case. It warms the program up, and its figures are discarded. */
export function warmUps(quick: boolean): Case[] {
  const load = { ...PLAIN, id: 'warm-up', title: 'warm-up', warmupSeconds: 0, seconds: quick ? 2 : 6 }
  return [load, { ...load, stream: true }]
}

function openStreams(quick: boolean): Case {
  const connections = quick ? 500 : 2_000
  return {
    ...PLAIN,
    id: 'open-streams',
    title: `${connections} open streams, a chunk each 500 ms`,
    mode: 'streams',
    model: 'gpt-4-turbo',
    stream: true,
    connections,
    warmupSeconds: quick ? 2 : 5,
    seconds: quick ? 4 : 15,
    targets: ['direct', 'gateway', 'peer'],
    rounds: 1,
    fresh: true,
  }
}

function stalledReaders(quick: boolean): Case {
  return {
    ...PLAIN,
    id: 'stalled-readers',
    title: '50 readers that stop reading an endless stream',
    mode: 'stalled',
    model: 'gpt-3.5-turbo',
    stream: true,
    connections: 50,
    // During the warm-up, the buffers of both connections of each stream fill up. Then memory should stay constant.
    warmupSeconds: quick ? 6 : 12,
    seconds: quick ? 4 : 20,
    targets: ['gateway', 'peer'],
    rounds: 1,
    fresh: true,
  }
}

/**
 * The number of chunks in a slow stream: enough to keep all streams open until the last one has started and while they
 * are measured.
 */
export function slowChunks(quick: boolean): number {
  const { warmupSeconds, seconds } = openStreams(quick)
  return Math.ceil(((warmupSeconds + seconds + 2) * 1000) / SLOW_CHUNK_MS)
}
