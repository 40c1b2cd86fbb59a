import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from './install.ts'
import type { Client } from './programs.ts'

const run = (program: string, args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' })

/**
 * The name of a program or module that the libraries from PyPI need and this machine lacks. Undefined if nothing is
 * missing.
 */
export function missingForPython(): string | undefined {
  if (run('python3', ['--version']).status !== 0) return 'python3'
  // Some systems have Python's modules `venv` and `ensurepip` in separate packages.
  return ['venv', 'ensurepip'].find((name) => run('python3', ['-c', `import ${name}`]).status !== 0)
}

const pythonOf = (folder: string) => join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')

/** Installs a library into its own virtual environment and returns the folder. Throws with pip's output if it fails. */
export function installPythonClient({ id, packages }: Client): string {
  const folder = join(cache, id)
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`)
  const list = join(folder, 'installed.txt')
  const text = wanted.map((line) => `${line}\n`).join('')
  if (existsSync(list) && readFileSync(list, 'utf8') === text) return folder
  rmSync(folder, { recursive: true, force: true })
  mustRun('python3', ['-m', 'venv', folder])
  mustRun(pythonOf(folder), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted])
  writeFileSync(list, text)
  return folder
}

function mustRun(program: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = run(program, args)
  if (status === 0) return
  throw new Error(`${args[1]} failed: ${(error ? String(error) : stderr || stdout).trim().slice(-300)}`)
}

/** Starts a script with a folder's library, and leaves no compiled files beside the script. */
export function pythonCommand(folder: string, script: string): string[] {
  return [pythonOf(folder), '-B', script]
}
