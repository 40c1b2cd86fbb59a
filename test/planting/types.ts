/** [project, file, its text, the error code of the compiler] */
export const typeFaults: readonly (readonly [project: string, file: string, text: string, code: string])[] = [
  ['contract', 'contract/p-fetch.ts', "export const a = () => fetch('/')\n", 'TS2304'],
  ['contract', 'contract/p-timeout.ts', 'export const a = () => setTimeout(() => {}, 1)\n', 'TS2304'],
  ['contract', 'contract/p-document.ts', 'export const a = () => document.title\n', 'TS2584'],
  ['contract', 'contract/p-process.ts', 'export const a = () => process.pid\n', 'TS2591'],
  ['contract', 'contract/p-console.ts', "export const a = () => console.log('a')\n", 'TS2584'],
  ['contract', 'contract/p-bun.ts', 'export const a = () => Bun.version\n', 'TS2868'],
  ['server', 'server/p-document.ts', 'export const a = () => document.title\n', 'TS2584'],
  ['server', 'server/p-window.ts', 'export const a = () => window.innerWidth\n', 'TS2304'],
  ['server', 'server/p-element.ts', 'export const a = (b: HTMLElement) => b\n', 'TS2304'],
  ['server', 'server/p-enum.ts', 'export enum Color {\n  Red,\n}\n', 'TS1294'],
  ['server', 'server/p-property.ts', 'export class A {\n  constructor(readonly b: number) {}\n}\n', 'TS1294'],
  ['server', 'server/p-index.ts', 'export const a = (b: number[]): number => b[0]\n', 'TS2322'],
  ['server', 'server/p-null.ts', 'export const a = (b?: string): number => b.length\n', 'TS18048'],
  ['server', 'server/p-implicit.ts', 'export const a = (b) => b\n', 'TS7006'],
  [
    'server',
    'server/p-type-import.ts',
    "import { Role } from '../contract/roles.ts'\n\nexport const a = (b: Role) => b\n",
    'TS1484',
  ],
  ['server', 'test/p-document.test.ts', 'export const a = () => document.title\n', 'TS2584'],
  ['console', 'console/p-process.ts', 'export const a = () => process.env\n', 'TS2591'],
  ['console', 'console/p-node.ts', "import { sep } from 'node:path'\n\nexport const a = sep\n", 'TS2591'],
  ['console', 'console/p-bun.ts', 'export const a = () => Bun.version\n', 'TS2868'],
  [
    'console',
    'console/p-server.ts',
    "import type { A } from '../server/shape.ts'\n\nexport const a = (b: A) => b\n",
    'TS6307',
  ],
  ['console', 'console/p-enum.ts', 'export enum Color {\n  Red,\n}\n', 'TS1294'],
  ['e2e', 'test/e2e/p-implicit.ts', 'export const a = (b) => b\n', 'TS7006'],
  ['e2e', 'test/e2e/p-enum.ts', 'export enum Color {\n  Red,\n}\n', 'TS1294'],
]

/** Code that each project is meant to allow. */
export const typeClean: Readonly<Record<string, string>> = {
  'contract/roles.ts': 'export type Role = 1 | 10\nexport const roles: readonly Role[] = [1, 10]\n',
  'server/shape.ts': 'export type A = 1\n',
  'server/clean.ts': [
    "import { readFileSync } from 'node:fs'",
    "import { Database } from 'bun:sqlite'",
    "import { roles } from '../contract/roles.ts'",
    'export type A = (typeof roles)[number]',
    'export const stack = new AsyncDisposableStack()',
    "export const all = [readFileSync, Database, Bun.version, process.env, fetch, new Response('a').body]",
    '',
  ].join('\n'),
  'server/clean.test.ts': "import { expect, test } from 'bun:test'\n\ntest('a', () => {\n  expect(1).toBe(1)\n})\n",
  'console/clean.ts':
    "import type { Role } from '../contract/roles.ts'\n\nexport const a = (b: Role) => [document.title, fetch, b]\n",
  // Browser tests run in Bun and also contain code that runs in pages.
  'test/e2e/clean.ts': 'export const a = () => [document.title, process.pid, Bun.version]\n',
}
