import { redactSecrets } from 'crux-text'
import type { HorizonClass } from '../fact.js'

/** Something that a text states, and that might be worth remembering. */
export interface Statement {
  readonly entity: string
  readonly key: string
  readonly value: string
  /** Which rule read it. */
  readonly rule: string
  /** 0..1: how sure the rule is that this was meant as a fact. */
  readonly confidence: number
  readonly decayClass: HorizonClass
  /** The sentence. */
  readonly evidence: string
}

/** What a text states. */
export interface Extraction {
  readonly statements: readonly Statement[]
  /** Sentences that a rule matches and that speak of a secret. */
  readonly withheld: number
}

/** Longest sentence that is read, in UTF-16 units. */
const MAX_SENTENCE = 500
const MAX_SLUG_WORDS = 8
const MAX_SLUG_LENGTH = 60

// What is told as a fact and is none to keep: it is secret by its name, whatever stands there.
const SECRET_WORDS =
  /\b(?:tokens?|secrets?|passwords?|passwd|passphrases?|pwd|credentials?|api[ _-]?keys?|(?:private|access|signing)[ _-]?keys?)\b/i

const REMEMBER = /^(?:please\s+)?(?:remember|note)(?:\s+that\b)?\s*[:,]?\s+(\S.*)$/i
const PROPERTY =
  /^(?:the|our|my)\s+([a-z][\w -]{0,39}?)\s+(?:of|for)\s+(?:the\s+|our\s+|my\s+)?(\w[\w ./-]{0,60}?)\s+(?:is|are)\s+(?:now\s+)?(\S.{0,199})$/i
const DECISION =
  /^(?:decision:\s*(\S.*)|(?:we|i)(?:'ve|\s+have)?\s+(?:decided|agreed)\s+(?:to|that|on)\s+(\S.*))$/i
const PREFERENCE =
  /^(?:please\s+)?((?:always|never)\s+\S.*|(?:i|we)\s+(?:strongly\s+)?prefer\s+\S.*)$/i
// Answers to nothing: what is unknown, or goes on in another sentence.
const NO_VALUE = /^(?:not|unknown|unclear|what|where|how|why|this|that|these|those|it)\b/i

/**
 * Read what a person states plainly in a text: that something is to be remembered, a property of a thing,
 * a decision, a preference. English only, by fixed rules, one sentence at a time; what no rule matches is passed over, and so
 * are questions, hypotheses and whatever speaks of a secret. Most of what a text says is not found, and some of what is
 * found was not meant: a person decides.
 */
export function extractStatements(text: string): Extraction {
  const statements: Statement[] = []
  let withheld = 0
  for (const sentence of sentencesOf(text)) {
    const statement = readSentence(sentence)
    if (statement === undefined) continue
    if (SECRET_WORDS.test(sentence) || redactSecrets(sentence) !== sentence) withheld++
    else statements.push(statement)
  }
  return { statements, withheld }
}

function sentencesOf(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?])\s+/)
    .map((part) => part.replace(/^[\s>*•-]+/, '').trim())
    .filter((part) => part !== '' && part.length <= MAX_SENTENCE && !part.endsWith('?'))
}

function readSentence(evidence: string): Statement | undefined {
  const sentence = evidence.replace(/[.!\s]+$/, '')
  const asked = REMEMBER.exec(sentence)?.[1]
  const said = asked ?? sentence
  const [, name, thing, value] = PROPERTY.exec(said) ?? []
  if (name !== undefined && thing !== undefined && value !== undefined && !NO_VALUE.test(value)) {
    const confidence = asked === undefined ? 0.6 : 0.8
    const at = { entity: slug(thing), key: slug(name), value, evidence }
    return whole({ ...at, rule: 'property', confidence, decayClass: 'medium' })
  }
  const [, headed, told] = DECISION.exec(said) ?? []
  const decision = headed ?? told
  if (decision !== undefined) {
    const at = { entity: 'decision', key: slug(decision), value: said, evidence }
    return whole({ ...at, rule: 'decision', confidence: 0.7, decayClass: 'stable' })
  }
  const preference = PREFERENCE.exec(said)?.[1]
  if (preference !== undefined) {
    const at = { entity: 'preference', key: slug(preference), value: preference, evidence }
    return whole({ ...at, rule: 'preference', confidence: 0.7, decayClass: 'stable' })
  }
  if (asked === undefined) return undefined
  const at = { entity: 'note', key: slug(asked), value: asked, evidence }
  return whole({ ...at, rule: 'remember', confidence: 0.8, decayClass: 'medium' })
}

/** A statement that has a name; undefined for one of signs alone. */
function whole(statement: Statement): Statement | undefined {
  return statement.entity === '' || statement.key === '' ? undefined : statement
}

/** Lower-case words joined by hyphens, the first eight. */
function slug(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.slice(0, MAX_SLUG_WORDS).join('-').slice(0, MAX_SLUG_LENGTH).replace(/-$/, '')
}
