import { createPauser } from 'crux-types'
import { invalidArguments } from '../parse-arguments.js'

// A multiple of four signs, so that every piece but the last stands for whole bytes.
const PIECE_LENGTH = 1024 * 1024
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Bytes of standard base64 with its padding and nothing else, decoded in slices.
 *
 * @throws {CruxError} `ARGUMENTS_INVALID` with what is wrong.
 */
export async function decodeBase64(text: string): Promise<Uint8Array> {
  if (text.length % 4 !== 0) {
    throw invalid(`its length is ${text.length}, which is no multiple of 4 with padding`)
  }
  const pause = createPauser()
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    const piece = text.slice(at, at + PIECE_LENGTH)
    const isLast = at + PIECE_LENGTH >= text.length
    const bytes = Buffer.from(piece, 'base64')
    if (!ALPHABET.test(piece) || (piece.endsWith('=') && !isLast)) {
      throw invalid('it holds a sign that is not of the alphabet, or padding before the end')
    }
    if (
      isLast &&
      bytes.toString('base64', bytes.length - (bytes.length % 3 || 3)) !== piece.slice(-4)
    ) {
      throw invalid('its last signs hold bits that stand for nothing')
    }
    pieces.push(bytes)
    await pause()
  }
  if (pieces.length === 0) throw invalidArguments('content_bytes_base64 decoded to zero bytes')
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces) // there is one
}

function invalid(why: string): Error {
  return invalidArguments(`content_bytes_base64 is not valid base64: ${why}`)
}
