/** The service cannot run here, and this one line says why: it is printed without a stack. */
export class Unusable extends Error {}
