import { refusals } from '../../contract/refusals.ts'
import { codedTexts } from '../lib/coded-texts.ts'

/** The code of a refusal with a given text. Undefined if the contract does not contain the text. */
export const refusalOf = codedTexts(refusals)
