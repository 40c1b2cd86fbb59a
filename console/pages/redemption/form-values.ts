import * as z from 'zod/mini'
import { codePrefix, createRedemptionBody, redemptionCount } from '../../../contract/api/redemption.ts'

/** Form values of an existing code. */
export interface RedemptionValues {
  name: string
  quota: number
  /** Epoch seconds; 0 = never. */
  expired_time: number
}

/** Form values of new codes. */
export interface NewCodes extends RedemptionValues {
  count: number
  prefix: string
}

/** Initial values for new codes. */
export const newCodes: NewCodes = { name: '', quota: 100_000, expired_time: 0, count: 1, prefix: '' }

const expiry = z
  .custom<number>((value) => Number.isInteger(value), { error: 'redemption.form.expiry.invalid' })
  .check(z.gte(0, { error: 'redemption.form.expiry.invalid' }))

/** The rules of the contract, without its defaults. An empty number box is therefore an error. */
export const newCodesSchema = z.extend(createRedemptionBody, {
  count: redemptionCount,
  expired_time: expiry,
  prefix: codePrefix,
})
export const redemptionSchema = z.extend(z.pick(createRedemptionBody, { name: true, quota: true }), {
  expired_time: expiry,
})
