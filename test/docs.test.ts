// Compares the lists in the documentation with the code, so that pages cannot become outdated.
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { api } from '../contract/api/index.ts'
import { withDrawings } from '../tools/draw-rooms.mjs'
import { configSchemaText } from '../tools/make-config-schema.ts'
import { optionsPage } from '../tools/make-options-page.ts'
import { differences, repositoryFiles } from '../tools/repo-rules.ts'

const root = resolve(import.meta.dir, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '')

/** The anchors of a page's headings, as GitHub generates them. */
function anchors(markdown: string): string[] {
  const headings = all(markdown.replaceAll(/^```.*?^```/gms, ''), /^#+ (.*)$/gm)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}

function brokenLinks(page: string): string[] {
  return all(read(page), /\]\(((?!https?:)[^)]+)\)/g).flatMap((link) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(root, target))) return [`${page}: ${link}`]
    if (anchor === undefined || anchors(read(target)).includes(anchor)) return []
    return [`${page}: ${link} has no such heading`]
  })
}

describe('the pages', () => {
  test('config.schema.json is the output of tools/make-config-schema.ts', () => {
    expect(read('docs/config.schema.json')).toBe(configSchemaText())
  })

  test('options.md is the output of tools/make-options-page.ts', () => {
    expect(read('docs/options.md')).toBe(optionsPage())
  })

  test('api.md lists exactly the existing endpoints of the management API, with the role that each requires', () => {
    const rows = [...read('docs/api.md').matchAll(/^\| `([A-Z]+ \/api\/\S+)` \| (\w+) \|/gm)]
    const served = Object.values(api).flatMap((group) =>
      Object.values(group).map((endpoint) => `${endpoint.method} ${endpoint.path}: ${endpoint.access}`),
    )
    expect(
      differences(
        served,
        rows.map(([, call, access]) => `${call}: ${access}`),
      ),
    ).toEqual([])
  })

  test('install.md and .env.example list exactly the variables that config.ts reads', () => {
    const known = [...new Set(all(read('server/config.ts'), /(?:value|integer|choice)\('([A-Z_]+)'/g))]
    expect(known.length).toBeGreaterThan(10)
    expect(differences(known, all(read('docs/install.md'), /^\| `([A-Z_]+)` \|/gm))).toEqual([])
    expect(differences(known, all(read('.env.example'), /^#?([A-Z_]+)=/gm))).toEqual([])
  })

  test('CONTRIBUTING.md has fewer than 150 lines', () => {
    expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThan(150)
  })

  test('decisions have the parts Decision, Why and Consequences', () => {
    const folder = 'docs/decisions'
    for (const name of readdirSync(join(root, folder)).filter((each) => each !== 'README.md')) {
      const page = read(join(folder, name))
      for (const part of ['**Decision.**', '**Why.**', '**Consequences.**']) {
        expect([name, page.includes(part)]).toEqual([name, true])
      }
    }
  })

  test('contain no broken links', () => {
    const pages = repositoryFiles(root).filter((path) => path.endsWith('.md'))
    expect(pages.flatMap(brokenLinks)).toEqual([])
  })
})

describe('the module diagrams in ARCHITECTURE.md', () => {
  const page = read('docs/ARCHITECTURE.md')

  test('match the current imports (node tools/draw-rooms.mjs)', () => {
    expect(withDrawings(page)).toBe(page)
  })

  test('change if an import is added', () => {
    const base = mkdtempSync(join(tmpdir(), 'tollgate-rooms-'))
    try {
      cpSync(join(root, 'server'), join(base, 'server'), { recursive: true })
      const file = join(base, 'server/lib/network/ip-network.ts')
      writeFileSync(file, `import '../secrets/ids.ts'\n${readFileSync(file, 'utf8')}`)
      expect(withDrawings(page, base)).toContain('  network --> secrets')
      expect(page).not.toContain('  network --> secrets')
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  })
})

test('the index lists each decision once, under its title', () => {
  const index = read('docs/decisions/README.md')
  const listed = [...index.matchAll(/^\| (\d{4}) \| \[(.+)\]\((.+)\) \| accepted/gm)].map(([, number, title, file]) => [
    file,
    `# ${number} ${title}`,
  ])
  const files = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')
  const titles = files.map((file) => [file, read(`docs/decisions/${file}`).split('\n')[0]])
  expect(listed.sort()).toEqual(titles.sort())
})
