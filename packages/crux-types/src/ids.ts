import { randomUUID } from 'node:crypto'

/** Makes fresh identifiers; injected where a test needs to know them. */
export type IdSource = () => string

/** 32 lower-case hex digits: a version 4 UUID without hyphens. */
export const uuidHex: IdSource = () => randomUUID().replaceAll('-', '')
