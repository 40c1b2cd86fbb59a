import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { isLeased, returnLease } from '../store/ledger/leases.ts'
import type { HoldOp, LeaseOfAccount, LeaseStore } from '../store/schema/ledger-types.ts'
import type { Store } from '../store/store.ts'
import type { Batcher } from './batcher.ts'
import { Draw, type OpenLease } from './draw.ts'
import type { ReturnQueue } from './return-queue.ts'

/** A lease is returned after this time without calls. */
const idleMs = 5_000
const idleCheckMs = 1_000
/** An account gets a lease after this many holds within a second. */
const busyHolds = 3
const busyMs = 1_000
/**
 * The minimum size of a lease, as a multiple of the last call's hold. If the share of the balance that a lease may have
 * is smaller, no lease is taken.
 */
const leastCalls = 8
/** The maximum size of a lease, as a multiple of the last call's hold. A larger lease would have no benefit. */
const mostCalls = 2_000
/** The time until the next attempt if the share of the balance was too small for a lease. */
const tooSmallMs = 5_000
/** The time during which a user gets no new leases after the existing ones were called back. */
const calledBackMs = 10_000
/** A call that would otherwise be refused waits up to this long for leases to be returned. */
const callBackMs = 1_000
const pollMs = 15
/** The time during which other processes may still have leases after leases are switched off. */
const offMs = 60_000
/**
 * If draws (units that calls take from a lease) are pending and the database has confirmed none for this long, calls
 * are not paid from leases until it confirms one.
 */
const stalledMs = 250
const retryDelaysMs = [50, 200, 1_000, 3_000]
/** How long a process that shuts down waits until its leases are returned. Another process returns any that remain. */
const closeMs = 3_000

/**
 * The leases of this process. A lease is a part of a balance that is taken in advance. Calls are paid from it without a
 * round trip to the database.
 */
export interface Leases {
  /** True if this or another process may have a lease. */
  mayBeOut(): boolean
  /** True if there is a lease that covers a call. */
  covers(request: Pick<HoldOp, 'tokenId' | 'amount'>): boolean
  /** Pays for a call from a lease, and sets the lease in the operation. Undefined if no lease covers the call. */
  draw(op: HoldOp): Draw | undefined
  /** Counts a hold that was taken from the balance. An account with many such holds gets a lease. */
  held(op: Pick<HoldOp, 'userId' | 'tokenId' | 'amount'>): void
  /**
   * Makes all processes return their leases of a user. Resolves when all are returned, but after a second at the
   * latest. For some time, the user gets no new leases.
   */
  callBack(userId: number): Promise<void>
  /** Sets the maximum share of a balance that a lease takes, in percent; 0 = no leases. */
  setShare(share: number): void
  /** True if this process knows a lease that the database assigns to it. */
  owns(id: string): boolean
  /** The number of leases that this process has requested. */
  asked(): number
  /** Returns all leases. */
  close(): Promise<void>
}

interface LeasesDeps {
  store: Pick<Store, 'read' | 'write' | 'notices'>
  leases: LeaseStore
  batcher: Batcher
  clock: Clock
  nodeId: string
  /** Called after units of a lease have been returned to an account's balance. */
  returned(userId: number, tokenId: number): void
  warn(message: string): void
}

/** The state of an account that has calls. */
interface Entry extends Pick<HoldOp, 'userId' | 'tokenId'> {
  current: OpenLease | undefined
  taking: boolean
  /** The number of holds since `sinceMs`. */
  holds: number
  sinceMs: number
  /** The process does not try to take a lease before this time. */
  notBeforeMs: number
}

/** The leases of this process; undefined on SQLite, where leases would have no benefit. */
export function createLeases({ store, returns, ...deps }: LeasesParts): Leases | undefined {
  const { leases } = store.ledger
  if (!leases) return undefined
  const returned = (userId: number, tokenId: number) => {
    returns.returned(`t${tokenId}`)
    returns.returned(`u${userId}`)
  }
  return new NodeLeases({ ...deps, store, leases, returned })
}

type LeasesParts = Omit<LeasesDeps, 'store' | 'leases' | 'returned'> & { store: Store; returns: ReturnQueue }

class NodeLeases implements Leases {
  readonly #deps: LeasesDeps
  /** The accounts, by token id. */
  readonly #entries = new Map<number, Entry>()
  /** All leases that have not been returned yet, including those that were just requested. */
  readonly #owned = new Map<string, OpenLease | undefined>()
  readonly #notBefore = new Map<number, number>()
  readonly #callingBack = new Map<number, Promise<void>>()
  #share = 0
  /** The time at which leases were last switched off; 0 = never. */
  #offSinceMs = 0
  #asked = 0
  #isClosed = false
  #timer: ReturnType<typeof setInterval> | undefined
  /** The number of unconfirmed draws, and the time at which a draw was last confirmed or the first one began. */
  readonly #progress = { pending: 0, movedAtMs: 0 }

  constructor(deps: LeasesDeps) {
    this.#deps = deps
    deps.store.notices.subscribe((notice) => {
      if (notice === 'reconnected') return this.#recall(() => true)
      const { topic, id } = notice
      if (topic === 'lease') this.#block(id)
      // After a change to a user, the account may have new limits, so its leases are returned.
      if (topic === 'lease' || topic === 'user') this.#recall(({ userId }) => id === 0 || userId === id)
      if (topic === 'token') this.#recall(({ tokenId }) => id === 0 || tokenId === id)
    })
  }

  mayBeOut(): boolean {
    return this.#share > 0 || (this.#offSinceMs > 0 && this.#nowMs() - this.#offSinceMs < offMs)
  }

  owns(id: string): boolean {
    return this.#owned.has(id)
  }

  asked(): number {
    return this.#asked
  }

  setShare(share: number): void {
    if (share === this.#share) return
    if (share === 0) this.#offSinceMs = this.#nowMs()
    this.#share = share
    this.#recall(() => true)
  }

  covers({ tokenId, amount }: Pick<HoldOp, 'tokenId' | 'amount'>): boolean {
    const lease = this.#entries.get(tokenId)?.current
    return lease !== undefined && lease.free >= amount && amount > 0
  }

  draw(op: HoldOp): Draw | undefined {
    const entry = this.#entries.get(op.tokenId)
    const lease = entry?.current
    if (!lease || !this.covers(op)) return undefined
    const nowMs = this.#nowMs()
    const progress = this.#progress
    if (progress.pending === 0) progress.movedAtMs = nowMs
    else if (nowMs - progress.movedAtMs > stalledMs) return undefined
    progress.pending++
    lease.free -= op.amount
    lease.pending++
    lease.usedAtMs = nowMs
    if (lease.free < lease.size / 4) this.#take(entry, op.amount, nowMs)
    op.lease = lease.id
    return new Draw(this.#deps.batcher, lease, op, (isGone) => this.#confirmed(lease, isGone))
  }

  held({ userId, tokenId, amount }: Pick<HoldOp, 'userId' | 'tokenId' | 'amount'>): void {
    if (this.#share === 0 || amount <= 0) return
    const nowMs = this.#nowMs()
    let entry = this.#entries.get(tokenId)
    if (!entry) {
      entry = { userId, tokenId, current: undefined, taking: false, holds: 0, sinceMs: nowMs, notBeforeMs: 0 }
      this.#entries.set(tokenId, entry)
      this.#watch()
    }
    if (nowMs - entry.sinceMs > busyMs) {
      entry.holds = 0
      entry.sinceMs = nowMs
    }
    const { current } = entry
    const isNeeded = !current || current.free < Math.max(amount, current.size / 4)
    if (++entry.holds >= busyHolds && isNeeded) this.#take(entry, amount, nowMs)
  }

  callBack(userId: number): Promise<void> {
    const running = this.#callingBack.get(userId)
    if (running !== undefined) return running
    const work = this.#callBack(userId).finally(() => this.#callingBack.delete(userId))
    this.#callingBack.set(userId, work)
    return work
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#recall(() => true)
    clearInterval(this.#timer)
    const lateMs = performance.now() + closeMs
    while (this.#owned.size > 0 && performance.now() < lateMs) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async #callBack(userId: number): Promise<void> {
    const { store } = this.#deps
    const lateMs = performance.now() + callBackMs
    try {
      await store.notices.publish({ topic: 'lease', id: userId })
      while ((await isLeased(store.read, userId)) && performance.now() < lateMs)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
    } catch (error) {
      this.#deps.warn(`the leases of user ${userId} could not be called back: ${String(error)}`)
    }
  }

  #nowMs(): number {
    return this.#deps.clock.nowMs()
  }

  #block(userId: number): void {
    const nowMs = this.#nowMs()
    for (const [id, untilMs] of this.#notBefore) if (untilMs < nowMs) this.#notBefore.delete(id)
    this.#notBefore.set(userId, nowMs + calledBackMs)
  }

  #recall(isMeant: (lease: OpenLease) => boolean): void {
    for (const lease of this.#owned.values()) if (lease && isMeant(lease)) this.#end(lease)
  }

  /** Takes a lease in the background. It replaces the current one, which is nearly used up. */
  #take(entry: Entry, amount: number, nowMs: number): void {
    const { userId, tokenId } = entry
    if (entry.taking || this.#isClosed || this.#share === 0) return
    if (nowMs < entry.notBeforeMs || nowMs < (this.#notBefore.get(userId) ?? 0)) return
    entry.taking = true
    const id = randomUUID()
    this.#owned.set(id, undefined)
    this.#asked++
    const request = { id, nodeId: this.#deps.nodeId, userId, tokenId, share: this.#share }
    this.#deps.leases
      .take({ ...request, most: amount * mostCalls, least: amount * leastCalls })
      .then((taken) => {
        if (taken !== undefined) return this.#add(entry, id, taken)
        this.#owned.delete(id)
        entry.notBeforeMs = this.#nowMs() + tooSmallMs
      })
      // The database may have taken the lease although the request failed. The lease then has no owner, and the sweep
      // (`sweep-holds.ts`) returns it.
      .catch((error: unknown) => {
        this.#owned.delete(id)
        entry.notBeforeMs = this.#nowMs() + tooSmallMs
        this.#deps.warn(`a lease could not be taken: ${String(error)}`)
      })
      .finally(() => {
        entry.taking = false
      })
  }

  #add(entry: Entry, id: string, size: number): void {
    const { userId, tokenId, current } = entry
    const nowMs = this.#nowMs()
    const lease: OpenLease = { id, userId, tokenId, size, free: size, pending: 0, isEnding: false, usedAtMs: nowMs }
    this.#owned.set(id, lease)
    entry.current = lease
    if (current) this.#end(current)
    const isUnwanted = this.#isClosed || this.#share === 0 || nowMs < (this.#notBefore.get(userId) ?? 0)
    if (isUnwanted) this.#end(lease)
    this.#watch()
  }

  /** Ends a lease. No more calls are paid from it. It is returned when the database has confirmed all its draws. */
  #end(lease: OpenLease): void {
    const entry = this.#entries.get(lease.tokenId)
    if (entry?.current === lease) entry.current = undefined
    if (lease.isEnding) return
    lease.isEnding = true
    this.#returnIfUnused(lease)
  }

  #confirmed(lease: OpenLease, isGone: boolean): void {
    this.#progress.pending--
    this.#progress.movedAtMs = this.#nowMs()
    lease.pending--
    if (lease.isEnding) this.#returnIfUnused(lease)
    else if (isGone) this.#end(lease)
  }

  #returnIfUnused(lease: OpenLease): void {
    if (lease.pending === 0) void this.#return(lease)
  }

  async #return(lease: LeaseOfAccount): Promise<void> {
    const { store, leases, returned, warn } = this.#deps
    for (let attempt = 0; ; attempt++) {
      try {
        await returnLease(store, lease)
        break
      } catch (error) {
        if (attempt === 0) warn(`a lease could not be returned yet: ${String(error)}`)
        if (this.#isClosed && attempt > 2) return
        const delayMs = retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)]
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      }
    }
    leases.forget(lease.id)
    this.#owned.delete(lease.id)
    returned(lease.userId, lease.tokenId)
  }

  /**
   * Starts the timer that returns leases without calls and forgets accounts without calls. It runs only while there are
   * leases or accounts.
   */
  #watch(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    this.#timer = setInterval(() => {
      const nowMs = this.#nowMs()
      for (const lease of this.#owned.values()) if (lease && nowMs - lease.usedAtMs >= idleMs) this.#end(lease)
      for (const [tokenId, { current, taking, sinceMs }] of this.#entries)
        if (!current && !taking && nowMs - sinceMs >= idleMs) this.#entries.delete(tokenId)
      if (this.#entries.size > 0 || this.#owned.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }, idleCheckMs)
    this.#timer.unref()
  }
}
