/** T with these fields always present, although the SDK's type makes them optional. */
export type Always<T, K extends keyof T> = Omit<T, K> & { [N in K]-?: Exclude<T[N], undefined> }

/** An SDK's interface as a type that allows any other fields, like parsed JSON. */
export type Plain<T> = { [K in keyof T]: T[K] }
