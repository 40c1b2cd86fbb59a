// Writes the tables and diagrams of the rooms (parts of the server's large folders) into docs/ARCHITECTURE.md. They are
// made from tools/rooms.mjs and from the actual imports.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rooms } from './rooms.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const page = 'docs/ARCHITECTURE.md'

/** The TypeScript files of a folder, without tests, as paths relative to it. */
function sources(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => String(path).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
}

/** The room of a path within a folder. Dialects and other folders that are not rooms are 'others'. */
function roomOf(path, names) {
  const [first, ...rest] = path.split('/')
  if (rest.length === 0) return '.'
  return names.includes(first) ? first : 'others'
}

/** The other rooms that each room of a folder imports, including type imports. */
function importsOf(base, folder) {
  const names = rooms[folder].map(([room]) => room)
  const found = new Map()
  for (const path of sources(join(base, folder))) {
    const from = roomOf(path, names)
    const text = readFileSync(join(base, folder, path), 'utf8')
    for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const to = posix.join(posix.dirname(path), target)
      if (to.startsWith('..')) continue
      const room = roomOf(to, names)
      if (room !== from) found.set(from, (found.get(from) ?? new Set()).add(room))
    }
  }
  return found
}

/** The arrows that are not implied by a longer path. */
function reduced(arrows) {
  const reaches = (from, to, seen = new Set()) => {
    for (const next of arrows.get(from) ?? []) {
      if (next === to) return true
      if (seen.has(next)) continue
      seen.add(next)
      if (reaches(next, to, seen)) return true
    }
    return false
  }
  const kept = []
  for (const [from, targets] of arrows) {
    for (const to of targets) {
      const others = [...targets].filter((each) => each !== to)
      if (!others.some((each) => reaches(each, to))) kept.push([from, to])
    }
  }
  return kept.sort((one, other) => one.join().localeCompare(other.join()))
}

function drawing(base, folder) {
  const short = folder.split('/')[1]
  const title = (room) => (room === '.' ? `${short}/` : room === 'others' ? 'the other dialects' : room)
  const id = (room) => (room === '.' ? 'itself' : room.replaceAll('-', '_'))
  const arrows = reduced(importsOf(base, folder))
  const drawn = [...new Set(arrows.flat())].sort()
  return [
    '```mermaid',
    'flowchart TD',
    ...drawn.map((room) => `  ${id(room)}["${title(room)}"]`),
    ...arrows.map(([from, to]) => `  ${id(from)} --> ${id(to)}`),
    '```',
  ].join('\n')
}

function table(folder) {
  const rows = rooms[folder].map(
    ([room, purpose]) => `| ${room === '.' ? 'the files themselves' : `\`${room}/\``} | ${purpose} |`,
  )
  return ['| Room | What is in it |', '|---|---|', ...rows].join('\n')
}

/** The page with its current tables and diagrams. */
export function withDrawings(text, base = root) {
  return Object.keys(rooms).reduce((page, folder) => {
    const name = folder.split('/')[1]
    const [start, end] = [`<!-- rooms of ${name}: start -->`, `<!-- rooms of ${name}: end -->`]
    const [head, rest] = page.split(start)
    const [, tail] = (rest ?? '').split(end)
    if (tail === undefined) throw new Error(`${name}: its marks are missing`)
    return `${head}${start}\n${table(folder)}\n\n${drawing(base, folder)}\n${end}${tail}`
  }, text)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const file = join(root, page)
  writeFileSync(file, withDrawings(readFileSync(file, 'utf8')))
}
