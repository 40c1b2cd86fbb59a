import { type RefusalCode, refusals } from '../../contract/refusals.ts'

type Texts = { readonly [C in RefusalCode as `refusal.${C}`]: (typeof refusals)[C] }

/** The server's refusals. In English they are the server's own texts. */
export const refusalEn = Object.fromEntries(
  Object.entries(refusals).map(([code, sentence]) => [`refusal.${code}`, sentence]),
) as Texts
