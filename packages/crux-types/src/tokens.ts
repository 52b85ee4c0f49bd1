/**
 * Store estimator: UTF-8 bytes over four, rounded up. Charged against token budgets.
 *
 * About four characters a token; comparable between calls to one daemon, not with a model's own count.
 */
export function storeTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** Dispatch estimator: UTF-8 bytes over four, rounded down, at least 1. Used for accounting. */
export function dispatchTokens(text: string): number {
  return Math.max(Math.floor(Buffer.byteLength(text) / 4), 1)
}
