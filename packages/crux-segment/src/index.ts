export { crc32, crc32c } from './checksum.js'
export { type Hashes, loadHashes } from './hashes.js'
