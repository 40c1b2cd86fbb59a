// Prints the section of CHANGELOG.md about a version, for the release notes: node tools/changes-of.mjs 0.1.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bun.mjs'

const [version] = process.argv.slice(2)
const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
const section = sections.find((each) => each.split(/[\s,]/, 1)[0] === version)
if (version === undefined || section === undefined) {
  console.error(`CHANGELOG.md says nothing about version ${version ?? '(none given)'}.`)
  process.exit(1)
}
console.log(section.slice(section.indexOf('\n')).trim())
