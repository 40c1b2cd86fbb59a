import type { MiddlewareHandler } from 'hono'
import type ipaddr from 'ipaddr.js'
import { type Address, isWithin, type Network, parseAddress, parseNetwork } from '../lib/network/ip-network.ts'
import type { AppEnv } from './app-env.ts'

/** The origin of a request. */
export interface Origin {
  address: string
  secure: boolean
}

/**
 * Returns a function that finds the caller behind the operator's proxies. `X-Forwarded-*` is trusted only if the
 * socket's peer is in `trusted` (addresses or CIDRs). The caller is the right-most entry of `X-Forwarded-For` that is
 * not a trusted proxy. The entries to the left of it are ignored, because the caller may have invented them.
 */
export function originReader(
  trusted: readonly string[],
): (request: Request, socketAddress: string | undefined) => Origin {
  const networks = trusted.map(parseNetwork).filter((network) => network !== undefined)
  const isTrusted = (address: Address) => networks.some((network: Network) => isWithin(address, network))

  return (request, socketAddress = '') => {
    const tls = request.url.startsWith('https:')
    const socket = parseAddress(socketAddress)
    if (!socket) return { address: socketAddress, secure: tls }
    if (networks.length === 0 || !isTrusted(socket)) return { address: socket.toString(), secure: tls }
    let caller = socket
    const chain = (request.headers.get('x-forwarded-for') ?? '').split(',').reverse()
    for (const entry of chain) {
      const address = parseAddress(withoutPort(entry.trim()))
      if (!address) break
      caller = address
      if (!isTrusted(address)) break
    }
    const protocol = request.headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase()
    return { address: caller.toString(), secure: protocol === undefined ? tls : protocol === 'https' }
  }
}

/** Sets `clientAddress` and `secure`. If the middleware is mounted twice, the second call does nothing. */
export function clientAddress(trusted: readonly string[]): MiddlewareHandler<AppEnv> {
  const read = originReader(trusted)
  return async (c, next) => {
    if (c.get('clientAddress') === undefined) {
      const origin = read(c.req.raw, c.env?.socketAddress)
      c.set('clientAddress', origin.address)
      c.set('secure', origin.secure)
    }
    await next()
  }
}

/**
 * The part of an address that identifies one customer of a network provider: a whole IPv4 address, or the /64 of an
 * IPv6 address. Rate limits count requests by this key. If they counted by address, the owner of a /64 would have 2^64
 * separate limits.
 */
export function addressKey(address: string): string {
  const parsed = parseAddress(address)
  if (!parsed || parsed.kind() === 'ipv4') return address
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)
  if (bracketed?.[1] !== undefined) return bracketed[1]
  const plain = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)
  return plain?.[1] ?? entry
}
