const lines = (count: number, line: string) => `${Array.from({ length: count }, () => line).join('\n')}\n`
const longFunction = `export function long(): number {\n  let n = 0\n${lines(81, '  n += 1')}  return n\n}\n`
const longFile = Array.from({ length: 401 }, (_, index) => `export const a${index} = 1\n`).join('')

/** [file, its text, the rule that must reject it] */
export const faults: readonly (readonly [file: string, text: string, rule: string])[] = [
  ['server/lib/camelCase.ts', 'export const a = 1\n', 'lint/style/useFilenamingConvention'],
  ['server/lib/Pascal.ts', 'export const a = 1\n', 'lint/style/useFilenamingConvention'],
  ['server/lib/default.ts', 'export default 1\n', 'lint/style/noDefaultExport'],
  ['server/lib/barrel.ts', "export { a } from './clean.ts'\n", 'lint/performance/noBarrelFile'],
  ['server/lib/re-export.ts', "export * from './clean.ts'\n", 'lint/performance/noReExportAll'],
  ['server/lib/any.ts', 'export const a = (b: any): string => String(b)\n', 'lint/suspicious/noExplicitAny'],
  ['server/lib/bang.ts', 'export const a = (b: string[]): string => b[0]!\n', 'lint/style/noNonNullAssertion'],
  ['server/lib/enum.ts', 'export enum Color {\n  Red,\n}\n', 'lint/style/noEnum'],
  ['server/lib/namespace.ts', 'export namespace N {\n  export const a = 1\n}\n', 'lint/style/noNamespace'],
  ['server/lib/console.ts', "export const a = (): void => console.log('a')\n", 'lint/suspicious/noConsole'],
  ['server/lib/env.ts', 'export const a = process.env.A\n', 'lint/style/noProcessEnv'],
  ['server/main.ts', 'export const a = process.env.A\n', 'lint/style/noProcessEnv'],
  [
    'server/lib/floating.ts',
    'async function a(): Promise<void> {}\nexport function b(): void {\n  a()\n}\n',
    'lint/nursery/noFloatingPromises',
  ],
  [
    'server/lib/misused.ts',
    'async function a(): Promise<boolean> {\n  return true\n}\nexport function b(): number {\n  if (a()) return 1\n  return 0\n}\n',
    'lint/nursery/noMisusedPromises',
  ],
  ['server/lib/long-file.ts', longFile, 'lint/style/noExcessiveLinesPerFile'],
  ['server/lib/long-function.ts', longFunction, 'lint/complexity/noExcessiveLinesPerFunction'],
  ['server/lib/bun-value.ts', "export const a = Bun.hash('a')\n", 'lint/style/noRestrictedGlobals'],
  ['server/jobs/bun-global.ts', 'export const a = (): number => Bun.nanoseconds()\n', 'lint/style/noRestrictedGlobals'],
  ['server/lib/bun-type.ts', 'export type A = Bun.BunFile\n', 'lint/style/noRestrictedGlobals'],
  ['contract/bun.ts', 'export const a = Bun.version\n', 'lint/style/noRestrictedGlobals'],
  [
    'server/lib/unused-import.ts',
    "import { a } from './clean.ts'\n\nexport const b = 1\n",
    'lint/correctness/noUnusedImports',
  ],
  [
    'server/lib/extension.ts',
    "import { a } from './clean'\n\nexport const b = a\n",
    'lint/correctness/useImportExtensions',
  ],
  [
    'server/lib/node-protocol.ts',
    "import { sep } from 'path'\n\nexport const a = sep\n",
    'lint/style/useNodejsImportProtocol',
  ],
  ['server/lib/ts-ignore.ts', "// @ts-ignore\nexport const a: number = 'a'\n", 'lint/suspicious/noTsIgnore'],
  [
    'server/lib/parameter-property.ts',
    'export class A {\n  constructor(readonly b: number) {}\n}\n',
    'lint/style/noParameterProperties',
  ],
  ['server/lib/format.ts', 'export const a = "a";\n', 'format'],
  ['tools/format.mjs', 'export const a = {b: 1}\n', 'format'],
  ['docs/format.json', '{"a":1}\n', 'format'],
  [
    'console/pages/log/Default.tsx',
    'export default function Page(): null {\n  return null\n}\n',
    'lint/style/noDefaultExport',
  ],
]

/** Files for which the rules have exceptions. These files must pass. */
export const exceptions: Readonly<Record<string, string>> = {
  'server/lib/clean.ts': 'export const a = 1\n',
  'server/config.ts': 'export const port = process.env.PORT\n',
  'server/store/connection/process-settings.ts': 'export const a = Bun.version\n',
  'server/store/ledger/ledger-sqlite.ts': 'export const a = Bun.version\n',
  'server/relay/upstream/send.ts': 'export const a = Bun.version\n',
  'server/lib/secrets/password.ts': 'export const a = Bun.password\n',
  'server/store/migrations/0001-init.ts': longFunction,
  'server/store/default-prices.gen.ts': longFile,
  'server/lib/long.test.ts': longFunction,
  'tools/print.mjs': "console.log(process.env.HOME, 'a')\n",
  'bench/run.ts': "console.log(Bun.nanoseconds(), 'a')\n",
  'vite.config.ts': 'export default {}\n',
  'test/helpers/door.ts': "export * from '../../server/lib/clean.ts'\n",
}
