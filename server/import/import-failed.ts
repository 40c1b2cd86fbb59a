/** An import that cannot be made. The message is a whole sentence for the operator, which says what to do. */
export class ImportFailed extends Error {}
