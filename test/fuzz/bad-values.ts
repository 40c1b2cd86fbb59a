import type { Random } from './random.ts'

/** A value as JSON text, including texts that JSON.stringify could not produce. */
export type JsonText = string

const q = (text: string): JsonText => JSON.stringify(text)

const wrongTypes: readonly JsonText[] = [
  'null',
  'true',
  'false',
  '""',
  '" "',
  '"x"',
  '0',
  '-0',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[{}]',
  '["x"]',
  '{"x":1}',
]

const numbers: readonly JsonText[] = [
  '-1',
  '0.1',
  '1.5',
  '-1.5',
  '2147483648',
  '-2147483649',
  '4294967296',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '18446744073709551616',
  '1000000000000001',
  '-1000000000000001',
  '1e308',
  '-1e308',
  '1e400',
  '-1e400',
  '1e-400',
  '9'.repeat(400),
  `0.${'0'.repeat(400)}1`,
]

const numberLikeTexts = ['1', '-1', '0', '1e3', '0x10', '٣', ' 7 ', '1,5', 'NaN', 'Infinity', '-Infinity', 'undefined']

/** Tokens that are not JSON at all. */
const tokens: readonly JsonText[] = ['NaN', 'Infinity', '-Infinity', 'undefined', '+1', '01', '.5', "'x'", '0x10', '1n']

/** Strings that are written with escapes, because JSON.stringify would change or drop these characters. */
const escapes: readonly JsonText[] = [
  '"\\ud800"',
  '"a\\udc00b"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\u0001\\u0008\\u001f\\u007f\\u0085"',
  '"\\r\\nSet-Cookie: a=b\\r\\n\\r\\n"',
]

const texts = [
  '\u202egnp.exe\u202c',
  '\u2066\u202b right to left \u2069',
  '\u200b\u200d\ufeff',
  '\uffff\ufffe',
  '\u2028\u2029',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  'Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308',
  'İıſßŒﬁ',
  '𝒳𝔘',
  'مرحبا بالعالم',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  "' OR '1'='1' --",
  "'; DROP TABLE users; --",
  '$1 $2 ?1 :id @id',
  '%',
  '%_\\%',
  '\\',
  '{{7*7}}<%= 7 %>#{7*7}',
  '../../../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '=cmd|calc!A0',
  'http://127.0.0.1:1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://0x7f.1:1/',
  'http://a:b@127.0.0.1:1/',
  'file:///etc/passwd',
  '10.0.0.0/8,::/0',
  '999.999.999.999/99',
  'a@b',
  'a@b.c,d@e.f',
  'a\r\nbcc: x@example.com',
  ',,,',
  'a,'.repeat(50),
]

const prototypes: readonly JsonText[] = [
  '{"__proto__":{"role":100,"success":true}}',
  '{"constructor":{"prototype":{"role":100}}}',
  '{"toString":1,"valueOf":2}',
  '{"length":1000000000}',
  '{"then":1}',
  '{"toJSON":{}}',
  '{"$gt":""}',
]

function nested(random: Random): JsonText {
  const depth = random.pick([10, 1_000, 40_000])
  return random.pick([
    () => '['.repeat(depth) + ']'.repeat(depth),
    () => ['{"a":'.repeat(depth), '}'.repeat(depth)].join('null'),
    () => `[${'0,'.repeat(depth)}0]`,
    () => `{${Array.from({ length: Math.min(depth, 5_000) }, (_, at) => `"k${at}":${at}`).join(',')}}`,
  ])()
}

/** A long value. Most of these values fit into a body of 1 MiB, and some do not. */
function long(random: Random): JsonText {
  const unit = random.pick(['a', '9', '%', '\\\\', '😀', ' ', 'é', ','])
  const size = random.pick([129, 1_001, 20_001, 200_001, 200_001, 1_000_000, 1_048_577])
  return `"${unit.repeat(Math.ceil(size / unit.length))}"`
}

/** A value that no field expects. */
export function badValue(random: Random): JsonText {
  const kind = random.int(100)
  if (kind < 20) return random.pick(wrongTypes)
  if (kind < 40) return random.pick(numbers)
  if (kind < 50) return q(random.pick(numberLikeTexts))
  if (kind < 54) return random.pick(tokens)
  if (kind < 64) return random.pick(escapes)
  if (kind < 84) return q(random.pick(texts))
  if (kind < 91) return random.pick(prototypes)
  if (kind < 96) return nested(random)
  return long(random)
}

/** A bad value for a URL parameter, correctly or wrongly encoded. */
export function badParameter(random: Random): string {
  if (random.chance(0.3)) {
    return random.pick([
      '%',
      '%zz',
      '%0',
      '%00',
      'a%00b',
      '%ff%fe',
      '%ed%a0%80',
      '%c0%af',
      '%f8%88%80%80%80',
      '%u0041',
      '+',
      '%2e%2e%2f',
      '%0d%0aX-Injected:%201',
      '%252525',
      ';',
      '=',
      '[]',
    ])
  }
  if (random.chance(0.03)) return 'k'.repeat(random.pick([5_000, 100_000, 1_000_000]))
  const text = random.pick([...texts, ...numberLikeTexts, ...numbers, ...wrongTypes])
  return encodeURIComponent(text.slice(0, 2_000))
}

/** Names that no query or body expects, with their values. */
export const strayNames = [
  '__proto__',
  'constructor',
  'toString',
  'id[]',
  'id[$gt]',
  '$where',
  'role',
  'granted_quota',
  '',
]
