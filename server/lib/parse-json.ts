import { type JsonOutline, OutlineMaker } from './json-outline.ts'
import { JsonScan, type JsonShape } from './json-scan.ts'
import type { Turns } from './turns.ts'

/** The limits for the contents of a JSON text. */
export interface JsonLimits {
  /** The maximum number of strings, numbers, true, false, null, lists and objects. */
  values: number
  /** The maximum number of lists and objects. */
  containers: number
  /** The maximum number of different member names. */
  names: number
  /** The deepest nesting of lists and objects. */
  depth: number
}

/** A parsed JSON text. If it has an outline, the text and the value are created on first access. */
export interface ParsedJson {
  readonly text: string
  readonly value: unknown
  readonly shape: JsonShape
  readonly outline?: JsonOutline
}

/** The error for a text that was not parsed. The message completes a sentence that begins with the name of the text. */
export class JsonFault extends Error {
  readonly kind: 'encoding' | 'syntax' | 'limit'

  constructor(kind: JsonFault['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** The number of bytes read in one step, which takes a few milliseconds. */
const stepBytes = 2 * 1024 * 1024
/** A text of up to this size is scanned and parsed in one step. */
const shortBytes = 256 * 1024
/**
 * A shorter text is always decoded and parsed as a whole, because an outline (see `JsonOutline`) would not be cheaper.
 */
const outlinedFromBytes = 64 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Options of `parseJson`. `admit` and `wanted` apply only to long texts. */
export interface ParseOptions {
  limits: JsonLimits
  turns: Turns
  /** Called after a long text has been scanned and before it is parsed. If it rejects, the text is not parsed. */
  admit?: ((scan: JsonScan) => Promise<void>) | undefined
  /** The name, with its quotes, of the top-level member whose value `admit` reads. */
  wanted?: Uint8Array
  /** True to return an outline for a text that consists mostly of long strings. */
  outlines?: boolean
}

/**
 * Parses JSON within limits. A parsed value can be a hundred times as large as its text, and parsing then takes
 * correspondingly long. The text is therefore scanned first. If it exceeds the limits, it is refused without being
 * parsed. A long text is read in steps, and each step waits for its turn. Throws JsonFault for a short text, and
 * rejects with it for a long one.
 */
export function parseJson(bytes: Uint8Array, options: ParseOptions): ParsedJson | Promise<ParsedJson> {
  if (bytes.length > shortBytes) return inSteps(bytes, options)
  const scan = new JsonScan(bytes, undefined, options.outlines && bytes.length >= outlinedFromBytes)
  scan.step(bytes.length)
  scan.end()
  checkShape(scan, options.limits)
  const maker = outlineMaker(bytes, scan)
  maker?.step(bytes.length)
  const outline = maker?.outline()
  return outline ? outlined(outline, scan) : parsed(decoded(bytes), scan)
}

async function inSteps(
  bytes: Uint8Array,
  { limits, turns, admit, wanted, outlines }: ParseOptions,
): Promise<ParsedJson> {
  const scan = new JsonScan(bytes, wanted, outlines)
  while (!scan.isDone) {
    await turns.next()
    scan.step(stepBytes)
    checkShape(scan, limits)
  }
  scan.end()
  await admit?.(scan)
  await turns.next()
  const maker = outlineMaker(bytes, scan)
  while (maker?.step(stepBytes)) await turns.next()
  const outline = maker?.outline()
  if (outline) return outlined(outline, scan)
  const text = decoded(bytes)
  await turns.next()
  return parsed(text, scan)
}

/** Undefined if no outline is requested, or if an outline would not save enough. */
function outlineMaker(bytes: Uint8Array, { longTexts }: JsonScan): OutlineMaker | undefined {
  return longTexts && OutlineMaker.pays(bytes, longTexts) ? new OutlineMaker(bytes, longTexts) : undefined
}

function outlined(outline: JsonOutline, shape: JsonShape): ParsedJson {
  return {
    outline,
    shape,
    get text() {
      return outline.wholeText
    },
    get value() {
      return outline.whole
    },
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new JsonFault('encoding', 'is not valid UTF-8', { cause: error })
  }
}

function parsed(text: string, shape: JsonShape): ParsedJson {
  try {
    return { text, value: JSON.parse(text), shape }
  } catch (error) {
    throw new JsonFault('syntax', 'is not valid JSON', { cause: error })
  }
}

/** Throws JsonFault (limit) for a text whose contents exceed the limits. */
export function checkShape(shape: JsonShape, limits: JsonLimits): void {
  if (shape.depth > limits.depth)
    throw new JsonFault(
      'limit',
      `is nested too deeply: at most ${limits.depth} levels of arrays and objects are allowed`,
    )
  if (shape.containers > limits.containers)
    throw new JsonFault('limit', `contains too many arrays and objects: at most ${limits.containers} are allowed`)
  if (shape.values > limits.values)
    throw new JsonFault('limit', `contains too many values: at most ${limits.values} are allowed`)
  if (shape.names > limits.names)
    throw new JsonFault('limit', `contains too many different member names: at most ${limits.names} are allowed`)
}
