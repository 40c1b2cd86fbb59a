type Pair = readonly [name: string, value: string]

/**
 * Code lengths for the ASCII half of the canonical Huffman code (RFC 7541, appendix B). Callers send no other
 * characters.
 */
const CODE_LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
]

/** The static table (RFC 7541, appendix A) as `name value`, split at the first space. */
const STATIC_TABLE = [
  ':authority',
  ':method GET',
  ':method POST',
  ':path /',
  ':path /index.html',
  ':scheme http',
  ':scheme https',
  ':status 200',
  ':status 204',
  ':status 206',
  ':status 304',
  ':status 400',
  ':status 404',
  ':status 500',
  'accept-charset',
  'accept-encoding gzip, deflate',
  'accept-language',
  'accept-ranges',
  'accept',
  'access-control-allow-origin',
  'age',
  'allow',
  'authorization',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expect',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'link',
  'location',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'range',
  'referer',
  'refresh',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'www-authenticate',
].map(asPair)

function asPair(entry: string): Pair {
  const blank = entry.indexOf(' ')
  return blank < 0 ? [entry, ''] : [entry.slice(0, blank), entry.slice(blank + 1)]
}

/**
 * Maps length → code → character. The code is canonical: among codes of one length, codes count up in the order of the
 * symbols.
 */
const CODES = buildCodes()

function buildCodes(): Map<number, string> {
  const codes = new Map<number, string>()
  let code = 0
  let previous = 5
  const symbols = CODE_LENGTHS.map((length, symbol) => ({ length, symbol })).filter(({ length }) => length <= 15)
  for (const { length, symbol } of symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol)) {
    code <<= length - previous
    previous = length
    codes.set(length * 65536 + code, String.fromCharCode(symbol))
    code++
  }
  return codes
}

function decodeHuffman(bytes: Uint8Array): string {
  let text = ''
  let code = 0
  let length = 0
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1)
      length++
      const character = length <= 15 ? CODES.get(length * 65536 + code) : undefined
      if (character === undefined) continue
      text += character
      code = 0
      length = 0
    }
  }
  return text
}

/** Decodes the header blocks of one connection (RFC 7541). */
export class HpackDecoder {
  #dynamic: Pair[] = []
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #capacity = 4096

  decode(block: Uint8Array): Pair[] {
    this.#bytes = block
    this.#at = 0
    const headers: Pair[] = []
    while (this.#at < block.length) {
      const first = block[this.#at] ?? 0
      if (first & 0x80) headers.push(this.#lookUp(this.#integer(7)))
      else if (first & 0x40) headers.push(this.#remember(this.#literal(6)))
      else if (first & 0x20) this.#capacity = this.#integer(5)
      else headers.push(this.#literal(4))
    }
    return headers
  }

  #literal(prefix: number): Pair {
    const index = this.#integer(prefix)
    const name = index === 0 ? this.#string() : this.#lookUp(index)[0]
    return [name, this.#string()]
  }

  #remember(pair: Pair): Pair {
    this.#dynamic.unshift(pair)
    const size = () => this.#dynamic.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
    while (this.#dynamic.length > 0 && size() > this.#capacity) this.#dynamic.pop()
    return pair
  }

  #lookUp(index: number): Pair {
    return (
      STATIC_TABLE[index - 1] ?? this.#dynamic[index - 1 - STATIC_TABLE.length] ?? ['x-unknown-index', String(index)]
    )
  }

  #integer(prefix: number): number {
    const limit = (1 << prefix) - 1
    let value = (this.#bytes[this.#at++] ?? 0) & limit
    if (value < limit) return value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 0x7f) << shift
      if (!(byte & 0x80)) return value
    }
  }

  #string(): string {
    const huffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0
    const length = this.#integer(7)
    const raw = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return huffman ? decodeHuffman(raw) : String.fromCharCode(...raw)
  }
}

/** Encodes headers as plain literals, so that neither side needs a dynamic table. */
export function encodeHeaders(headers: readonly Pair[]): Uint8Array {
  const out: number[] = []
  const string = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    let rest = bytes.length
    if (rest < 127) out.push(rest)
    else {
      out.push(127)
      rest -= 127
      for (; rest >= 128; rest >>= 7) out.push((rest & 0x7f) | 0x80)
      out.push(rest)
    }
    for (const byte of bytes) out.push(byte)
  }
  for (const [name, value] of headers) {
    out.push(0)
    string(name.toLowerCase())
    string(value)
  }
  return Uint8Array.from(out)
}
