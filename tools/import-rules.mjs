// Building blocks of the rules in .dependency-cruiser.mjs.
import { rooms } from './rooms.mjs'

export const tests = '\\.test\\.tsx?$|^test/|^bench/|^tools/'
export const heads = ['server/context.ts', 'server/app.ts', 'server/listen.ts', 'server/serve.ts', 'server/main.ts']
/** Modules for counting and logging, which all code with side effects may import. Pure code returns values instead. */
export const cross = ['server/events.ts', 'server/log.ts', 'server/metrics.ts']
export const ground = ['contract', 'server/lib', 'server/errors.ts']

/**
 * The folders that `server/import`, which imports the data of other programs, may import from. It comes after the
 * management API in the order of folders, because it uses that API's checks of channels.
 */
export const importParts = [
  ...['server/api/channel', 'server/http', 'server/jobs', 'server/providers'],
  ...['server/billing', 'server/store', 'server/settings'],
]

const literal = (text) => text.replaceAll('.', '\\.')
/**
 * The pattern for a path. A folder matches everything in it, and a file matches itself. A "*" does not match across
 * path segments.
 */
export const pathPattern = (path) => `^${literal(path).replaceAll('*', '[^/]*')}${/\.[a-z]+$/.test(path) ? '$' : '/'}`
export const pathPatterns = (paths) => paths.map(pathPattern).join('|')
export const packages = (names) => `(?:^|/)node_modules/(?:@types/)?(?:${names.map(literal).join('|')})/`
export const anyPackage = '(?:^|/)node_modules/'
export const bunModule = '^bun(?::|$)'

export const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** The complete list of what a folder may import. Tests next to the code are exempt. */
export function only(path, comment, { own = [], npm, core = false, except = [] }) {
  const name = path.replace(/^server\//, '').replace(/\.ts$/, '')
  const not = [tests, ...except.map(pathPattern)].join('|')
  const from = { path: pathPattern(path), pathNot: not }
  const rules = [
    rule(`${name}-own`, comment, from, {
      pathNot: `${pathPatterns([path, ...own])}|${anyPackage}`,
      dependencyTypesNot: ['core', 'unknown'],
    }),
  ]
  if (npm) {
    const pathNot = npm.length > 0 ? packages(npm) : '^$'
    rules.push(rule(`${name}-npm`, comment, from, { path: anyPackage, pathNot }))
  }
  if (!core) rules.push(rule(`${name}-core`, comment, from, { dependencyTypes: ['core'] }))
  return rules
}

/** Each external package has one owner, so that it can be replaced in a single file or folder. */
export function owner(names, owners, comment) {
  return rule(`owner-${names[0]}`, comment, { pathNot: `${pathPatterns(owners)}|${tests}` }, { path: packages(names) })
}

/** Each room of a folder may import only the rooms that are listed before it in `rooms.mjs`. */
export function roomRules(base) {
  const order = rooms[base].map(([room]) => room)
  const inside = (room) => (room === '.' ? `^${base}/[^/]+\\.ts$` : `^${base}/${room}/`)
  const comment = 'Rooms stand on each other, in the order of tools/rooms.mjs.'
  return order.slice(0, -1).map((room, at) => {
    const name = `${base.split('/')[1]}-room-${room === '.' ? 'itself' : room}`
    const to = {
      path: order
        .slice(at + 1)
        .map(inside)
        .join('|'),
    }
    return rule(name, comment, { path: inside(room), pathNot: tests }, to)
  })
}

/** The rooms that several dialects share. */
export const dialectRooms = rooms['server/dialects']
  .map(([room]) => room)
  .filter((room) => !['.', 'openai-chat'].includes(room))
