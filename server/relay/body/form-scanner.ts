import { GatewayError } from '../../errors.ts'

const longestHeaderBytes = 16 * 1024
const longestFieldBytes = 256 * 1024
const mostParts = 200

/** The byte offsets of a field's value in the body. */
export interface FieldRange {
  start: number
  end: number
}

/**
 * Finds the plain fields of a multipart/form-data body (RFC 7578) as its bytes arrive; files are skipped. Keeps at most
 * one field or header in memory. Throws GatewayError invalid_multipart.
 */
export class FormScanner {
  readonly fields = new Map<string, string>()
  readonly ranges = new Map<string, FieldRange>()
  /** How often each name occurs, including the names of files. */
  readonly names = new Map<string, number>()
  /** Offset of the first delimiter. A preamble may precede it. */
  firstDelimiter = 0
  readonly #delimiter: Buffer
  /**
   * Every delimiter except the first has a line break before it. A line break is added before the first one too, so
   * that all delimiters look alike.
   */
  #buffer: Buffer = Buffer.from('\r\n')
  /** Offset of the buffer's first byte in the body. */
  #base = -2
  #state: 'skip' | 'field' | 'after-delimiter' | 'headers' | 'end' = 'skip'
  #name = ''
  #parts = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  push(chunk: Uint8Array): void {
    if (this.#state === 'end') return
    this.#buffer = this.#buffer.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#buffer, chunk])
    while (this.#step());
  }

  /** Must be called when the body has ended. */
  finish(): void {
    if (this.#state !== 'end') throw malformed('the form ends before its closing boundary')
  }

  /** Takes one step; false if more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'skip':
      case 'field':
        return this.#toDelimiter()
      case 'after-delimiter':
        return this.#afterDelimiter()
      case 'headers':
        return this.#headers()
      default:
        return false
    }
  }

  #toDelimiter(): boolean {
    const at = this.#buffer.indexOf(this.#delimiter)
    if (this.#state === 'field' && (at < 0 ? this.#buffer.length : at) > longestFieldBytes)
      throw malformed(`the field ${this.#name} is longer than ${longestFieldBytes} bytes`)
    if (at < 0) {
      if (this.#state === 'skip') this.#drop(Math.max(0, this.#buffer.length - this.#delimiter.length))
      return false
    }
    if (this.#state === 'field') {
      this.fields.set(this.#name, this.#buffer.toString('utf8', 0, at))
      this.ranges.set(this.#name, { start: this.#base, end: this.#base + at })
    }
    if (this.#parts === 0) this.firstDelimiter = this.#base + at + 2
    this.#drop(at + this.#delimiter.length)
    this.#state = 'after-delimiter'
    return true
  }

  #afterDelimiter(): boolean {
    if (this.#buffer.length < 2) return false
    const next = this.#buffer.toString('latin1', 0, 2)
    if (next === '--') this.#state = 'end'
    else if (next === '\r\n') this.#state = 'headers'
    else throw malformed('a boundary is not followed by a line break')
    this.#drop(next === '--' ? this.#buffer.length : 2)
    if (++this.#parts > mostParts) throw malformed(`the form has more than ${mostParts} parts`)
    return this.#state !== 'end'
  }

  #headers(): boolean {
    if (this.#buffer.length < 2) return false
    if (this.#buffer.toString('latin1', 0, 2) === '\r\n') {
      this.#state = 'skip'
      this.#drop(2)
      return true
    }
    const at = this.#buffer.indexOf('\r\n\r\n')
    if ((at < 0 ? this.#buffer.length : at) > longestHeaderBytes) throw malformed('the headers of a part are too long')
    if (at < 0) return false
    const { name, isFile } = partOf(this.#buffer.toString('utf8', 0, at))
    this.#name = name ?? ''
    if (name !== undefined) this.names.set(name, (this.names.get(name) ?? 0) + 1)
    this.#state = isFile || name === undefined ? 'skip' : 'field'
    this.#drop(at + 4)
    return true
  }

  #drop(bytes: number): void {
    this.#buffer = this.#buffer.subarray(bytes)
    this.#base += bytes
  }
}

/**
 * The name and kind of a part, from its headers. Headers that are folded, repeated or encoded are refused, because
 * parsers disagree about them and the upstream must not read a request that differs from the one that was charged.
 */
function partOf(headers: string): { name: string | undefined; isFile: boolean } {
  const lines = headers.split('\r\n')
  if (lines.some((line) => /^[ \t]|[\r\n]|^[^:]*$/.test(line)))
    throw malformed('the headers of a part are folded or broken')
  const dispositions = lines.filter((line) => /^content-disposition\s*:/i.test(line))
  if (dispositions.length > 1) throw malformed('a part has two Content-Disposition headers')
  const parameters = [...(dispositions[0] ?? '').matchAll(/;\s*([\w*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g)]
  const names = parameters.filter(([, key = '']) => /^name\*?$/i.test(key))
  if (names.length > 1 || names[0]?.[1]?.endsWith('*')) throw malformed('a part has more than one name')
  const [, , quoted, plain] = names[0] ?? []
  return {
    name: quoted?.replace(/\\(.)/g, '$1') ?? plain,
    isFile: parameters.some(([, key = '']) => /^filename\*?$/i.test(key)),
  }
}

function malformed(message: string): GatewayError {
  return new GatewayError('invalid_multipart', message)
}
