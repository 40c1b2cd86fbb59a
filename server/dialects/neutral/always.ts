/** The type T, but the fields K are always present although the SDK's type makes them optional. */
export type Always<T, K extends keyof T> = Omit<T, K> & { [N in K]-?: Exclude<T[N], undefined> }

/** An SDK's interface as a type that, unlike the interface itself, can be used as JSON with arbitrary fields. */
export type Plain<T> = { [K in keyof T]: T[K] }
