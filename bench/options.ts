/** The command line options. */
export interface Options {
  readonly quick: boolean
  /** Cases to run by id or id prefix; empty means all. */
  readonly only: readonly string[]
  /** The number of rounds from the command line; if undefined, each case uses its own number. */
  readonly rounds: number | undefined
  /** The gateway's database. */
  readonly database: 'sqlite' | 'postgres'
  /** On PostgreSQL: the gateway is measured with each of these numbers of processes. */
  readonly processes: readonly number[]
  /** On PostgreSQL: the number of log rows that the database contains before the measurement. */
  readonly calls: number
  /** On PostgreSQL: `QuotaLeaseShare` (percent) of a second gateway that is also measured; 0 = no second gateway. */
  readonly leases: number
  /** A folder with another checkout, whose gateway is measured in addition to this one. */
  readonly before: string | undefined
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
  --database d   sqlite (default) or postgres: the PostgreSQL of the tests, or the server in TEST_POSTGRES_URL
  --processes n  with postgres: numbers of processes (default 1,2,4)
  --calls n      with postgres: calls in the log from the beginning (default 0)
  --leases n     with postgres: measures a gateway with QuotaLeaseShare=n as well
  --before dir   measures the gateway of another checkout as well
  --no-gateway   without the gateway      --no-peer   without the peer
  --force        although the machine is busy
  --write        write docs/performance.md and bench/results.json (default for a full run)
  --no-write     do not`

/** Reads the command line; exits on --help and on an unknown option. */
export function readOptions(args: readonly string[]): Options {
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const name = args[at] ?? ''
    const takesValue = WITH_VALUE.has(name)
    if (!KNOWN.has(name)) {
      console.log(USAGE)
      process.exit(name === '--help' ? 0 : 2)
    }
    flags.set(name, takesValue ? (args[++at] ?? '') : '')
  }
  const quick = flags.has('--quick')
  const only = (flags.get('--only') ?? '').split(',').filter((id) => id !== '')
  const database = flags.get('--database') === 'postgres' ? 'postgres' : 'sqlite'
  const full =
    !quick &&
    database === 'sqlite' &&
    !flags.has('--before') &&
    only.length === 0 &&
    !flags.has('--no-gateway') &&
    !flags.has('--no-peer')
  return {
    quick,
    only,
    rounds: flags.has('--rounds') ? Math.max(1, Number(flags.get('--rounds'))) : undefined,
    database,
    processes: (flags.get('--processes') ?? '1,2,4').split(',').map(Number),
    calls: Number(flags.get('--calls') ?? 0),
    leases: Number(flags.get('--leases') ?? 0),
    before: flags.get('--before'),
    gateway: !flags.has('--no-gateway'),
    peer: !flags.has('--no-peer'),
    force: flags.has('--force'),
    write: flags.has('--write') || (full && !flags.has('--no-write')),
  }
}

const WITH_VALUE = new Set(['--only', '--rounds', '--database', '--processes', '--calls', '--leases', '--before'])

const KNOWN = new Set([...WITH_VALUE, '--quick', '--no-gateway', '--no-peer', '--force', '--write', '--no-write'])
