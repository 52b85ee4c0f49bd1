/** Stands where a secret was. */
export const REDACTED = '[redacted]'

interface Rule {
  readonly pattern: RegExp
  /** What to put instead; `$1` and so on name groups. */
  readonly replacement: string
}

const SECRET_NAME =
  '(?:token|secret|passwd|password|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|credentials?|authorization|cookie)'

// Every pattern starts at a place that a run of characters has only once, and repeats without limit
// only what nothing after it can give back: time grows with the text and not with its square.
const RULES: readonly Rule[] = [
  // user:password@ in an address
  { pattern: /(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}@/g, replacement: `$1${REDACTED}@` },
  // Authorization: Bearer …
  {
    pattern: /\b(bearer|basic|digest)([ \t]{1,8})[A-Za-z0-9._~+/=-]{6,}/gi,
    replacement: `$1$2${REDACTED}`,
  },
  // name = value, "name": "value", name=>'value'; an open quote hides the rest of the text
  {
    pattern: new RegExp(
      `(${SECRET_NAME}[\\w-]{0,40}\\\\?["']?\\s{0,8}(?:=>|[:=])\\s{0,8})` +
        `(?:"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*"?|'[^'\\\\]*(?:\\\\[^][^'\\\\]*)*'?|(?!\\[redacted\\])(?!(?:bearer|basic|digest)[ \\t])[^\\s"',;&(){}\\]]+)`,
      'gi',
    ),
    replacement: `$1${REDACTED}`,
  },
  // a long run of key characters soon after such a name
  {
    pattern: new RegExp(
      `(${SECRET_NAME}[^\\w\\n]{1,16}(?:(?:is|was|of|for)[^\\w\\n]{1,4})?)[A-Za-z0-9+/_=-]{20,}`,
      'gi',
    ),
    replacement: `$1${REDACTED}`,
  },
  // JSON Web Tokens
  {
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g,
    replacement: REDACTED,
  },
  // keys that tell by their start whose they are
  { pattern: /(?<![A-Za-z0-9_-])(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{20,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{20,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_-])glpat-[A-Za-z0-9_-]{16,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{20,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_-])xox[abeoprs]-[A-Za-z0-9-]{10,}/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])/g, replacement: REDACTED },
  { pattern: /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{30,}/g, replacement: REDACTED },
]

/**
 * Replace what looks like a secret by `[redacted]`, for text that enters a log or an error.
 *
 * Covers bearer tokens, passwords in addresses, values of names such as `password` or `api_key`, keys
 * of well-known shapes, JSON Web Tokens and PEM blocks. It errs on the side of hiding too much, cannot
 * know every secret, and takes time linear in the text.
 */
export function redactSecrets(text: string): string {
  let redacted = redactPem(text)
  for (const { pattern, replacement } of RULES) redacted = redacted.replace(pattern, replacement)
  return redacted
}

const PEM_START = '-----BEGIN '
const PEM_END = '-----END '
const PEM_TAIL = /^[A-Z0-9 ]{0,64}-----/
const MAX_PEM_TAIL = 80

/** A block without an end hides the rest of the text: it was cut in the middle of a key. */
function redactPem(text: string): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf(PEM_START); at !== -1; at = text.indexOf(PEM_START, from)) {
    kept += text.slice(from, at) + REDACTED
    const end = text.indexOf(PEM_END, at)
    if (end === -1) return kept
    const tailStart = end + PEM_END.length
    const tail = PEM_TAIL.exec(text.slice(tailStart, tailStart + MAX_PEM_TAIL))
    from = tailStart + (tail === null ? 0 : tail[0].length)
  }
  return kept + text.slice(from)
}
