import * as z from 'zod/mini'
import { createRedemptionBody, redemptionCount } from '../../../contract/api/redemption.ts'

/** Form values of an existing code. */
export interface RedemptionValues {
  name: string
  quota: number
}

/** Form values of new codes. */
export interface NewCodes extends RedemptionValues {
  count: number
}

/** Initial values for new codes. */
export const newCodes: NewCodes = { name: '', quota: 100_000, count: 1 }

/** The rules of the contract. An emptied number box does not fall back to its previous value. */
export const newCodesSchema = z.extend(createRedemptionBody, { count: redemptionCount })
export const redemptionSchema = z.pick(createRedemptionBody, { name: true, quota: true })
