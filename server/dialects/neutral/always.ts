/** T with these members always there, where the SDK's type lets them be absent. */
export type Always<T, K extends keyof T> = Omit<T, K> & { [N in K]-?: Exclude<T[N], undefined> }

/** An SDK's interface as a type that counts as an object with any members, as parsed JSON does. */
export type Plain<T> = { [K in keyof T]: T[K] }
