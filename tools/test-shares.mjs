// Distributes test files over parallel processes, according to the time that each took in the last run.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The time assumed for a file without a recorded time. */
const unknownSeconds = 2

/** The test files below these folders, as paths that begin with `./`, in alphabetical order. */
export function testFiles(base, folders) {
  return folders
    .flatMap((folder) => readdirSync(join(base, folder), { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => /\.test\.tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => `./${path.replaceAll('\\', '/').replace(/^\.\//, '')}`)
    .toSorted()
}

/**
 * Browser tests that every run executes: the first minutes of a user, and the screens. Each run tests only a sample of
 * the screens.
 */
const always = new Set(['./test/e2e/first-call.test.ts', './test/e2e/screens.test.ts'])

/**
 * The tests that take long in relation to what they find: browser tests, and tests that fill, copy and start whole
 * installations, most of them in several processes.
 */
const long = [
  ...['./test/e2e/', './test/backup/', './test/import/', './test/ways/', './server/commands/export/'],
  './server/commands/doctor/',
]

/**
 * The files that a run during development executes: all short tests, and a third of the long tests, chosen by the seed.
 * The long tests take half of the time of a complete run.
 */
export function sampledFiles(files, seed) {
  return files.filter(
    (file) =>
      !long.some((beginning) => file.startsWith(beginning)) ||
      always.has(file) ||
      createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE() % 3 === 0,
  )
}

/** Files that run the same test on very many cases (a sweep). A run during development executes a tenth of them. */
const sweeps = /^\.\/test\/(?:e2e\/screens|matrix\/recorded|sdk\/recorded)/

/** Estimates the times of the files in a run during development from their times in complete runs. */
export function sampledSeconds(seconds) {
  // A part of the time does not depend on the number of cases.
  const sampled = ([file, time]) => [file, sweeps.test(file) ? 5 + time / 10 : time]
  return Object.fromEntries(Object.entries(seconds).map(sampled))
}

/**
 * Distributes the files over `count` lists that take about the same time. Each file is added to the list that is
 * shortest so far, starting with the longest file.
 */
export function deal(files, seconds, count) {
  const shares = Array.from({ length: count }, () => ({ files: /** @type {string[]} */ ([]), seconds: 0 }))
  const timed = files.map((file) => ({ file, seconds: seconds[file] ?? unknownSeconds }))
  for (const each of timed.toSorted((one, other) => other.seconds - one.seconds)) {
    const shortest = shares.reduce((best, share) => (share.seconds < best.seconds ? share : best))
    shortest.files.push(each.file)
    shortest.seconds += each.seconds
  }
  return shares.map((share) => share.files).filter((share) => share.length > 0)
}

/** Seconds that each test file took, from a JUnit report of "bun test". */
export function fileSeconds(junit) {
  const found = {}
  // The suite of a group is inside the suite of its file. Both have the file's name in "file", but only the file's
  // suite also has it in "name".
  for (const [tag] of junit.matchAll(/<testsuite [^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1]
    const seconds = Number(/ time="([^"]*)"/.exec(tag)?.[1])
    if (name !== undefined && / file="([^"]*)"/.exec(tag)?.[1] === name && Number.isFinite(seconds))
      found[`./${name}`] = Math.round(seconds * 10) / 10
  }
  return found
}

/** The times of earlier runs, read from this file; empty if it cannot be read. */
export function readTimes(path) {
  try {
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  } catch {
    return {}
  }
}

/** Adds the times of this run to the times of earlier runs. */
export function keepTimes(path, seconds) {
  mkdirSync(dirname(path), { recursive: true })
  writeTimes(path, { ...readTimes(path), ...seconds })
}

/** Replaces the saved times, sorted by file name. */
export function writeTimes(path, seconds) {
  const entries = Object.entries(seconds).toSorted(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

/** The slowest files as lines to print, the slowest first. */
export function slowest(seconds, count) {
  return Object.entries(seconds)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([file, time]) => `${time.toFixed(1).padStart(7)} s  ${file.slice(2)}`)
}

/** A line to print with the time of each process. If the times differ much, the recorded times are out of date. */
export function balance(seconds) {
  return `The processes took ${seconds.map((each) => `${Math.round(each)} s`).join(', ')}.`
}

/** The slow files without a recorded time, without their `./`. */
export function filesWithoutTime(seconds, recorded) {
  return Object.entries(seconds)
    .filter(([file, time]) => time > 2 * unknownSeconds && recorded[file] === undefined)
    .map(([file]) => file.slice(2))
}
