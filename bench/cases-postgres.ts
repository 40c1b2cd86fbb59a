import type { Case } from './cases.ts'

/** Cases for `--database postgres`: the cost of the ledger under different loads, with one, two and four processes. */
export function postgresCases(quick: boolean): Case[] {
  const plain = {
    mode: 'closed',
    model: 'gpt-4o-mini',
    stream: false,
    tls: false,
    bodyBytes: 1_024,
    connections: 32,
    warmupSeconds: quick ? 0.5 : 2,
    seconds: quick ? 2 : 6,
    targets: ['bare', 'gateway', 'leases', 'before', 'gateway-2', 'gateway-4', 'peer'],
  } as const
  const single = { ...plain, targets: ['bare', 'gateway', 'leases', 'before', 'peer'] } as const
  return [
    { ...plain, id: 'pg-plain', title: 'plain, 1 KB body, 32 connections, one account', moreRounds: 2 },
    { ...plain, id: 'pg-accounts', title: 'plain, 1 KB body, 32 connections, 100 accounts', accounts: true },
    { ...plain, id: 'pg-256', title: 'plain, 1 KB body, 256 connections, one account', connections: 256 },
    { ...plain, id: 'pg-sse', title: 'stream of 32 chunks in 4 writes, 32 connections, one account', stream: true },
    { ...single, id: 'pg-one', title: 'plain, 1 KB body, one connection', connections: 1 },
    { ...plain, id: 'pg-rate', title: 'plain, 1 KB body, 100 per second', mode: 'rate', connections: 256, rate: 100 },
  ]
}
