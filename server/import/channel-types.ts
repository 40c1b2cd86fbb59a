import type { ProgramName } from './program.ts'

/**
 * Channel types whose number in Tollgate differs from the number in the source program. Maps the program's number to
 * Tollgate's; null = Tollgate has no such type.
 */
const numbers: Readonly<Record<ProgramName, Readonly<Record<number, number | null>>>> = {
  'one-api': {},
  // Types read from LiteLLM already have Tollgate's numbers.
  litellm: {},
  laisky: { 53: null, 58: 16, 59: null, 60: null },
  'new-api': {
    2: null,
    4: 30,
    5: null,
    26: 16,
    27: 58,
    34: 35,
    35: 27,
    36: null,
    37: null,
    38: null,
    39: 37,
    40: 44,
    41: 42,
    42: 28,
    43: 36,
    44: 50,
    45: 40,
    46: 47,
    47: 50,
    48: 45,
    49: 34,
    50: null,
    51: null,
    52: null,
    53: 50,
    54: null,
    55: null,
    56: 46,
    57: null,
  },
  'one-hub': {
    24: null,
    25: 24,
    28: 36,
    29: 25,
    30: 28,
    31: 29,
    32: 33,
    33: 31,
    34: null,
    35: 37,
    36: 35,
    37: null,
    38: 34,
    39: 30,
    40: 23,
    41: null,
    43: 50,
    44: null,
    45: 44,
    46: null,
    47: null,
    48: null,
    49: null,
    51: null,
    52: 46,
    53: null,
    54: null,
    55: 3,
    56: 45,
  },
}

/** The highest type number of each program when this table was written. The meaning of higher numbers is unknown. */
const last: Readonly<Record<ProgramName, number>> = {
  'one-api': 51,
  laisky: 60,
  'new-api': 57,
  'one-hub': 56,
  litellm: 61,
}

/** Converts a program's channel type to Tollgate's; undefined if Tollgate has no such type. */
export function channelType(program: ProgramName, type: number): number | undefined {
  const mapped = numbers[program][type]
  if (mapped !== undefined) return mapped ?? undefined
  return type >= 1 && type <= last[program] ? type : undefined
}
