import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { type LogSinkAddress, parseLogSink } from './lib/log-sink-address.ts'
import { messageOf } from './lib/message-of.ts'
import { isPostgresUrl } from './lib/network/database-url.ts'
import { parseNetwork } from './lib/network/ip-network.ts'
import { isExecutableFile } from './lib/program-files.ts'
import { randomHex } from './lib/secrets/ids.ts'

/** All settings from the environment, read once. */
export interface Config {
  port: number
  host: string
  dataDir: string
  /** `postgres://…`, or the path of the SQLite file. */
  databaseUrl: string
  sqliteSynchronous: 'NORMAL' | 'FULL'
  secretKey: string
  /** The path of the secret key file, if this process created it; undefined if the key already existed. */
  madeSecretFile: string | undefined
  initialRootPassword: string | undefined
  initialRootToken: string | undefined
  initialRootAccessToken: string | undefined
  /** CIDRs of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  workers: number
  /** The destination of the log copy; undefined = log rows are not copied. */
  logSink: LogSinkAddress | undefined
  /** The number of months that the log copy keeps, in addition to the current one; 0 = all months. */
  logSinkMonths: number
  /** The bearer token for /metrics; without it, only loopback addresses may read the metrics. */
  metricsToken: string | undefined
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Folder of the built console. */
  consoleDir: string
  /** The path under which clients reach the server, for example '' or '/gateway'. */
  basePath: string
  /** How long a connection may be idle between requests; 0 = no limit. */
  idleTimeoutSeconds: number
  /** How long open calls may continue after SIGTERM. */
  drainTimeoutMs: number
  /** Requests allowed per address: `api` and `web` in three minutes, `critical` in twenty minutes; 0 = no limit. */
  rateLimits: { api: number; web: number; critical: number }
}

/** Invalid configuration, with one sentence per problem. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** The minimum length of a secret key, in characters. */
const shortestKey = 16

type Env = Readonly<Record<string, string | undefined>>

/** Bun reads these variables before it runs any code, so they must be set at the start of the process. */
const runtimeEnv = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535', BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: '1' }
/** Optional variables that save memory for many open streams and prevent recompilation (see `tools/bun.mjs`). */
const engineEnv = {
  BUN_JSC_heapGrowthFunctionThresholdInMB: '0',
  BUN_JSC_heapGrowthMaxIncrease: '0.3',
  BUN_JSC_largeHeapSize: String(64 * 1024 * 1024),
  BUN_JSC_forceCodeBlockLiveness: '1',
}
const workerMark = 'TOLLGATE_WORKER'
const builtConsole = join(import.meta.dirname, isExecutableFile ? 'console' : '../dist/console')

/** How this process was started. */
export interface Launch {
  /** True if a supervisor started this process as one of several workers. */
  isWorker: boolean
  /** True if the environment has all variables that the runtime reads before it runs any code. */
  isComplete: boolean
  /** The current environment plus all variables that the runtime reads. */
  complete(): Record<string, string | undefined>
  /** Environment for a worker. */
  forWorker(index: number): Record<string, string | undefined>
}

/** Reads how this process was started. */
export function readLaunch(env: Env = process.env): Launch {
  const complete = () => ({ ...engineEnv, ...env, ...runtimeEnv })
  return {
    complete,
    isWorker: env[workerMark] !== undefined,
    isComplete: Object.keys(runtimeEnv).every((name) => env[name] !== undefined),
    forWorker: (index) => ({ ...complete(), [workerMark]: String(index) }),
  }
}

/** The part of the configuration that is read without the secret key and without access to the disk. */
type Environment = Omit<Config, 'secretKey' | 'madeSecretFile'>

/** The secret key of an installation. */
export interface ExistingKey {
  key: string
  /** The file from which the key was read; undefined if it was read from SECRET_KEY. */
  file: string | undefined
}

/** The part of the configuration that the commands of the command line need. */
export interface CommandConfig extends Omit<Config, 'secretKey' | 'madeSecretFile'> {
  /** The secret key, if there is one. A command never creates it. */
  existingKey: ExistingKey | undefined
  /** The path of the secret key file, which is used if SECRET_KEY is not set. */
  keyFile: string
  /** The new secret key for `rotate-key`. */
  newSecretKey: string | undefined
  /** The passphrase with which backups are encrypted. */
  backupPassphrase: string | undefined
}

/**
 * Reads the configuration, and creates the data folder and the secret key if they do not exist. Throws ConfigError with
 * every problem that it finds.
 */
export function loadConfig(env: Env = process.env): Config {
  const { config, faults } = readEnvironment(env)
  const value = valuesOf(env)
  const secretKey = value('SECRET_KEY')
  // A node that uses PostgreSQL and a key from the environment stores nothing on disk.
  const keepsFiles = secretKey === undefined || !isPostgresUrl(config.databaseUrl)
  if (faults.length === 0 && keepsFiles) makeDataDir(config.dataDir, faults)
  const secret = faults.length === 0 ? readSecretKey(secretKey, config, faults) : noKey
  if (faults.length > 0) throw new ConfigError(faults)
  return { ...config, secretKey: secret.key, madeSecretFile: secret.madeFile }
}

/**
 * Like `loadConfig`, but creates nothing and does not require a secret key, because commands work on an existing
 * installation.
 */
export function loadCommandConfig(env: Env = process.env): CommandConfig {
  const { config, faults } = readEnvironment(env)
  const value = valuesOf(env)
  const keyFile = join(config.dataDir, 'secret.key')
  const newSecretKey = value('TOLLGATE_NEW_SECRET_KEY')
  if (newSecretKey !== undefined && newSecretKey.length < shortestKey)
    faults.push(
      `TOLLGATE_NEW_SECRET_KEY must have at least ${shortestKey} characters (32 random bytes in hex are best).`,
    )
  if (faults.length > 0) throw new ConfigError(faults)
  return {
    ...config,
    existingKey: existingKey(value('SECRET_KEY'), keyFile),
    keyFile,
    newSecretKey,
    // The passphrase is not trimmed, because it is used exactly as typed, like a password.
    backupPassphrase: value('TOLLGATE_BACKUP_PASSPHRASE') && env['TOLLGATE_BACKUP_PASSPHRASE'],
  }
}

function existingKey(secretKey: string | undefined, file: string): ExistingKey | undefined {
  if (secretKey !== undefined) return { key: secretKey, file: undefined }
  try {
    const key = readFileSync(file, 'utf8').trim()
    return key === '' ? undefined : { key, file }
  } catch {
    return undefined
  }
}

/**
 * The secret key of an existing installation, for commands that read or write encrypted values. Throws ConfigError if
 * there is no key. Creates nothing.
 */
export function loadCommandSecretKey(env: Env = process.env): string {
  const { config, faults } = readEnvironment(env)
  const given = valuesOf(env)('SECRET_KEY')
  const file = join(config.dataDir, 'secret.key')
  if (faults.length === 0 && given === undefined && !existsSync(file))
    faults.push(`The secret key is missing: there is neither SECRET_KEY nor ${file}.`)
  const { key } = faults.length === 0 ? readSecretKey(given, config, faults) : noKey
  if (faults.length > 0) throw new ConfigError(faults)
  return key
}

/** The passphrase of exports; undefined if it is not set. */
export function exportPassphrase(env: Env = process.env): string | undefined {
  const value = valuesOf(env)
  // The passphrase is not trimmed, because a passphrase that is read from a file is not trimmed either.
  return value('TOLLGATE_EXPORT_PASSPHRASE') && env['TOLLGATE_EXPORT_PASSPHRASE']
}

/** Variables of the installation itself. Configuration files must not refer to them. */
const ownVariables: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'DATABASE_URL',
  'SQL_DSN',
  'INITIAL_ROOT_PASSWORD',
  'INITIAL_ROOT_TOKEN',
  'INITIAL_ROOT_ACCESS_TOKEN',
  'METRICS_TOKEN',
  'LOG_SINK_URL',
  'TOLLGATE_BACKUP_PASSPHRASE',
  'TOLLGATE_EXPORT_PASSPHRASE',
  'TOLLGATE_NEW_SECRET_KEY',
])

/**
 * The value of a variable that a configuration file names. Throws an error whose message is a sentence if the variable
 * is not set, or if the file must not refer to it.
 */
export function referencedVariable(name: string, env: Env = process.env): string {
  if (ownVariables.has(name)) throw new Error(`A configuration file must not refer to ${name}.`)
  const value = env[name]
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`)
  return value
}

function valuesOf(env: Env): (name: string) => string | undefined {
  return (name) => env[name]?.trim() || undefined
}

function readEnvironment(env: Env): { config: Environment; faults: string[] } {
  const faults: string[] = []
  const value = valuesOf(env)
  const integer = (name: string, fallback: number, min: number, max: number) => {
    const text = value(name)
    if (text === undefined) return fallback
    const number = Number(text)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    faults.push(`${name} is "${text}", but must be a whole number from ${min} to ${max}.`)
    return fallback
  }
  const choice = <T extends string>(name: string, fallback: T, choices: readonly T[]): T => {
    const text = value(name)
    const selected = choices.find((each) => each === text)
    if (text !== undefined && selected === undefined)
      faults.push(`${name} is "${text}", but must be one of ${choices.join(', ')}.`)
    return selected ?? fallback
  }

  const dataDir = resolve(value('DATA_DIR') ?? './data')
  const url = databaseUrl(value, dataDir, faults)
  const isPostgres = isPostgresUrl(url)
  const workers = integer('WORKERS', isPostgres ? availableParallelism() : 1, 1, 256)
  if (!isPostgres && workers > 1) faults.push('WORKERS above 1 needs PostgreSQL: SQLite serves one process.')
  // The password is not trimmed, because its owner types it exactly like this to log in.
  const initialRootPassword = value('INITIAL_ROOT_PASSWORD') && env['INITIAL_ROOT_PASSWORD']
  if (initialRootPassword !== undefined && (initialRootPassword.length < 8 || initialRootPassword.length > 128)) {
    faults.push('INITIAL_ROOT_PASSWORD must have 8 to 128 characters.')
  }
  const initialRootToken = value('INITIAL_ROOT_TOKEN')?.replace(/^sk-/, '')
  if (initialRootToken !== undefined && !/^[A-Za-z0-9_]{16,128}$/.test(initialRootToken)) {
    faults.push('INITIAL_ROOT_TOKEN must be 16 to 128 letters, digits or underscores, with or without sk- before them.')
  }
  const initialRootAccessToken = value('INITIAL_ROOT_ACCESS_TOKEN')
  if (initialRootAccessToken !== undefined && initialRootAccessToken.length < 16) {
    faults.push('INITIAL_ROOT_ACCESS_TOKEN must have at least 16 characters.')
  }
  const config: Environment = {
    port: integer('PORT', 3000, 0, 65_535),
    host: value('HOST') ?? '0.0.0.0',
    dataDir,
    databaseUrl: url,
    sqliteSynchronous: choice('SQLITE_SYNCHRONOUS', 'NORMAL', ['NORMAL', 'FULL']),
    initialRootPassword,
    initialRootToken,
    initialRootAccessToken,
    trustedProxies: proxies(value('TRUSTED_PROXIES'), faults),
    workers,
    metricsToken: value('METRICS_TOKEN'),
    logSink: logSink(value('LOG_SINK_URL'), faults),
    logSinkMonths: integer('LOG_SINK_MONTHS', 0, 0, 1200),
    logLevel: choice('LOG_LEVEL', 'info', ['debug', 'info', 'warn', 'error', 'silent']),
    consoleDir: resolve(value('CONSOLE_DIR') ?? builtConsole),
    basePath: basePath(value('BASE_PATH'), faults),
    // 255 is the runtime's maximum.
    idleTimeoutSeconds: integer('IDLE_TIMEOUT', 120, 0, 255),
    drainTimeoutMs: integer('DRAIN_TIMEOUT', 60, 0, 3600) * 1000,
    rateLimits: {
      api: integer('GLOBAL_API_RATE_LIMIT', 480, 0, 1_000_000),
      web: integer('GLOBAL_WEB_RATE_LIMIT', 1800, 0, 1_000_000),
      critical: integer('CRITICAL_RATE_LIMIT', 20, 0, 1_000_000),
    },
  }
  return { config, faults }
}

function databaseUrl(value: (name: string) => string | undefined, dataDir: string, faults: string[]): string {
  const [name, text] =
    value('DATABASE_URL') === undefined ? ['SQL_DSN', value('SQL_DSN')] : ['DATABASE_URL', value('DATABASE_URL')]
  if (text === undefined) return join(dataDir, 'tollgate.db')
  if (isPostgresUrl(text) && URL.canParse(text)) return text
  // The error does not contain the value, because it may contain a password.
  faults.push(
    isPostgresUrl(text)
      ? `${name} is not a whole address such as postgres://user:password@host:5432/name (special characters of the password must be percent-encoded).`
      : `${name} must begin with postgres:// (leave it out for SQLite in DATA_DIR; MySQL is not supported).`,
  )
  return join(dataDir, 'tollgate.db')
}

function logSink(text: string | undefined, faults: string[]): LogSinkAddress | undefined {
  try {
    return text === undefined ? undefined : parseLogSink(text)
  } catch (error) {
    // The error does not contain the value, because it may contain a password.
    faults.push(`LOG_SINK_URL ${messageOf(error)}.`)
    return undefined
  }
}

function basePath(text: string | undefined, faults: string[]): string {
  const path = (text ?? '').replace(/\/+$/, '')
  if (path === '' || /^(?:\/(?!\.+(?:\/|$))[\w.~-]+)+$/.test(path)) return path
  faults.push(`BASE_PATH is "${path}", but must be a path such as /gateway.`)
  return ''
}

function proxies(text: string | undefined, faults: string[]): string[] {
  const list = (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  for (const item of list) {
    if (!parseNetwork(item))
      faults.push(`TRUSTED_PROXIES has "${item}", which is neither a whole address nor a CIDR of one.`)
  }
  return list
}

function makeDataDir(dataDir: string, faults: string[]): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    faults.push(`DATA_DIR is "${dataDir}", a folder that cannot be made or written to: ${messageOf(error)}.`)
  }
}

/** A secret key, and the path of its file if the file was just created. */
interface SecretKey {
  key: string
  madeFile: string | undefined
}

const noKey: SecretKey = { key: '', madeFile: undefined }

function readSecretKey(given: string | undefined, { dataDir, databaseUrl }: Environment, faults: string[]): SecretKey {
  if (given !== undefined) {
    if (given.length < shortestKey)
      faults.push('SECRET_KEY must have at least 16 characters (32 random bytes in hex are best).')
    return { key: given, madeFile: undefined }
  }
  const file = join(dataDir, 'secret.key')
  try {
    const isMissing = !existsSync(file)
    // An existing database was encrypted with an earlier key. A new key could not decrypt anything in it.
    if (isMissing && isFilled(databaseUrl)) {
      faults.push(lostKeyText(file))
      return noKey
    }
    if (isMissing) writeFileSync(file, `${randomHex(32)}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(file, 0o600)
    const key = readFileSync(file, 'utf8').trim()
    if (key.length < shortestKey) faults.push(`${file} is too short to be a secret key; restore it from a backup.`)
    return { key, madeFile: isMissing ? file : undefined }
  } catch (error) {
    faults.push(`The secret key ${file} cannot be read or made: ${messageOf(error)}.`)
    return noKey
  }
}

/** True if a SQLite database has data. For PostgreSQL, this is known only after connecting, so the result is false. */
function isFilled(databaseUrl: string): boolean {
  return !isPostgresUrl(databaseUrl) && existsSync(databaseUrl) && statSync(databaseUrl).size > 0
}

function lostKeyText(file: string): string {
  return `The secret key is missing: there is neither SECRET_KEY nor ${file}, but the database holds what was encrypted under a key. Restore the key from a backup; nothing was made.`
}

/**
 * Removes a secret key that this process created, because the database was encrypted with another key. Returns the
 * error to report.
 */
export function takeBackSecretKey(madeFile: string): Error {
  rmSync(madeFile, { force: true })
  return new ConfigError([lostKeyText(madeFile)])
}
