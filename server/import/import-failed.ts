/** An import that is not possible. The message is a whole sentence for the operator that says what to do. */
export class ImportFailed extends Error {}
