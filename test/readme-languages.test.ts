// Each README in another language must match the English one: the same sections, code, pictures, tables and links.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (name: string) => readFileSync(join(import.meta.dir, '..', name), 'utf8')
const english = 'README.md'

/** The parts of a page that do not depend on its language. */
function shapeOf(page: string) {
  // Comments in code are translated, so they are not compared.
  const code = [...page.matchAll(/^```.*?^```$/gms)].map(([block]) => block.replace(/ +# .*$/gm, ''))
  const prose = page.replace(/^```.*?^```$/gms, '')
  const links = [...prose.matchAll(/\]\(([^)#][^)]*)\)/g)].map(([, target]) => target ?? '')
  return {
    code,
    headings: prose.match(/^#+ /gm),
    rows: prose.match(/^\|/gm)?.length,
    points: prose.match(/^- /gm)?.length,
    names: [...new Set(prose.match(/`[^`]*`/g)?.filter((name) => !/[…<]/.test(name)))].sort(),
    // The line that links the languages contains all languages except the page's own.
    links: links.filter((target) => !/^README/.test(target)),
    languages: links.filter((target) => /^README/.test(target)).length,
  }
}

for (const name of ['README.zh.md', 'README.ja.md']) {
  test(`${name} matches ${english}`, () => {
    expect(shapeOf(read(name))).toEqual(shapeOf(read(english)))
    for (const other of [english, 'README.zh.md', 'README.ja.md'].filter((each) => each !== name))
      expect(read(other)).toContain(`](${name})`)
  })

  test(`${name} links to its own sections`, () => {
    const page = read(name)
    const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replace(/ /g, '-'),
    )
    const missing = [...page.matchAll(/\]\(#([^)]+)\)/g)]
      .map(([, anchor = '']) => anchor)
      .filter((each) => !anchors.includes(each))
    expect(missing).toEqual([])
  })
}
