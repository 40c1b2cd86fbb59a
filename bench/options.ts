/** The command line options. */
export interface Options {
  readonly quick: boolean
  /** Cases to run by id or id prefix; empty means all. */
  readonly only: readonly string[]
  /** The number of rounds from the command line; if undefined, each case uses its own number. */
  readonly rounds: number | undefined
  readonly gateway: boolean
  readonly peer: boolean
  /** Run even if the machine is busy. */
  readonly force: boolean
  /** Write docs/performance.md and bench/results.json. */
  readonly write: boolean
}

const USAGE = `npm run bench -- [options]
  --quick        short rounds; prints only, unless --write is given
  --only a,b     cases by id or beginning (plain, sse, plain-tls, open-streams, stalled-readers, shapes, …)
  --rounds n     rounds per case (default 3, and 5 for plain and sse)
  --no-gateway   without the gateway      --no-peer   without the peer
  --force        although the machine is busy
  --write        write docs/performance.md and bench/results.json (default for a full run)
  --no-write     do not`

/** Reads the command line; exits on --help and on an unknown option. */
export function readOptions(args: readonly string[]): Options {
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const name = args[at] ?? ''
    const takesValue = name === '--only' || name === '--rounds'
    if (!KNOWN.has(name)) {
      console.log(USAGE)
      process.exit(name === '--help' ? 0 : 2)
    }
    flags.set(name, takesValue ? (args[++at] ?? '') : '')
  }
  const quick = flags.has('--quick')
  const only = (flags.get('--only') ?? '').split(',').filter((id) => id !== '')
  const full = !quick && only.length === 0 && !flags.has('--no-gateway') && !flags.has('--no-peer')
  return {
    quick,
    only,
    rounds: flags.has('--rounds') ? Math.max(1, Number(flags.get('--rounds'))) : undefined,
    gateway: !flags.has('--no-gateway'),
    peer: !flags.has('--no-peer'),
    force: flags.has('--force'),
    write: flags.has('--write') || (full && !flags.has('--no-write')),
  }
}

const KNOWN = new Set([
  '--quick',
  '--only',
  '--rounds',
  '--no-gateway',
  '--no-peer',
  '--force',
  '--write',
  '--no-write',
])
