/** BLAKE3-256 over pieces; `Hashes` of crux-segment is one. */
export interface Blake3 {
  /** Several may be open at once. */
  blake3Stream(): { update(bytes: Uint8Array): void; digest(): Uint8Array }
}
