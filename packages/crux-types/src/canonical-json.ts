import { runNow, type Steps } from './slices.js'

/** Values written between two pauses. */
const VALUES_A_STEP = 256

/**
 * JSON text that two programs write alike: no white space, the members of every object in the order of their
 * names' UTF-8 bytes. Numbers and strings are written as `JSON.stringify` does.
 *
 * @param value - A JSON value; members that are undefined are left out.
 */
export function canonicalJson(value: unknown): string {
  return runNow(canonicalJsonSteps(value))
}

/** The same with pauses, for values of any size. */
export function canonicalJsonSteps(value: unknown): Steps<string> {
  return writeSteps(value, sortNames)
}

/** What `JSON.stringify` writes of a JSON value, with pauses; any depth will do. */
export function compactJsonSteps(value: unknown): Steps<string> {
  return writeSteps(value, (names) => names)
}

function* writeSteps(value: unknown, order: (names: string[]) => string[]): Steps<string> {
  const done: string[] = []
  let pieces: string[] = []
  let written = 0
  // What is still to be written, the next last; an object put together in order would not do, since it moves
  // whole numbers to the front.
  const open: (string | { readonly value: unknown })[] = [{ value }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      pieces.push(next)
      continue
    }
    const given = next.value
    if (typeof given !== 'object' || given === null) {
      pieces.push(JSON.stringify(given) ?? 'null')
    } else if (Array.isArray(given)) {
      pieces.push('[')
      open.push(']')
      for (let i = given.length - 1; i >= 0; i--) {
        open.push({ value: given[i] })
        if (i > 0) open.push(',')
      }
    } else {
      pieces.push('{')
      open.push('}')
      const members = new Map(Object.entries(given).filter(([, member]) => member !== undefined))
      const names = order([...members.keys()])
      for (let i = names.length - 1; i >= 0; i--) {
        const name = names[i] ?? ''
        open.push({ value: members.get(name) }, `${i > 0 ? ',' : ''}${JSON.stringify(name)}:`)
      }
    }
    if (++written % VALUES_A_STEP !== 0) continue
    // Put together here: a text that grew piece by piece is copied in one go when somebody looks at it.
    done.push(pieces.join(''))
    pieces = []
    yield
  }
  done.push(pieces.join(''))
  return done.join('')
}

/** The order of UTF-16 units is that of UTF-8 bytes, but for surrogates. */
function sortNames(names: string[]): string[] {
  if (!names.some((name) => SURROGATE.test(name))) return names.sort()
  return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

const SURROGATE = /[\ud800-\udfff]/
