import { z } from 'zod'

/** One setting: where it is read, what it may be, what it does. */
export interface Variable<T> {
  /** Environment variable. */
  readonly name: string
  /** Further environment variables, looked at when `name` is unset. */
  readonly aliases: readonly string[]
  /** Dotted keys of the YAML file, the first one found counts; empty when only the environment is read. */
  readonly yaml: readonly string[]
  /** From the text of the variable to its value. */
  readonly schema: z.ZodType<T, string>
  /** What is accepted, as a noun phrase: `an integer from 0 to 65535`. */
  readonly expected: string
  /** Value when it is set nowhere. */
  readonly fallback: T
  /** The default as the documentation shows it. */
  readonly fallbackText: string
  /** What it does, in one or two sentences. */
  readonly meaning: string
  readonly isSecret: boolean
  /** Whether the example files show it. */
  readonly isInExamples: boolean
  /** Text that the example files set; undefined leaves the default there, as a comment. */
  readonly example: string | undefined
  /** Whether an empty environment variable is a value; otherwise it counts as unset. */
  readonly takesEmpty: boolean
  /** A warning about text that is read in a documented way but is likely a mistake. */
  readonly doubt: (text: string) => string | undefined
}

/** What a definition says besides its kind. */
export interface VariableFacts {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly yaml?: string | readonly string[]
  readonly meaning: string
  readonly isSecret?: boolean
  readonly isInExamples?: boolean
  readonly example?: string
  readonly takesEmpty?: boolean
}

// Exactly these spellings switch on what is off by default; other text leaves it off.
const TRUE = new Set(['1', 'true', 'TRUE', 'yes', 'YES'])
const FALSE = new Set(['0', 'false', 'no', 'off'])

/** On or off. Text that is neither means the default, with a warning. */
export function flag(
  facts: VariableFacts & { fallback: boolean; alsoTrue?: readonly string[] },
): Variable<boolean> {
  const { fallback, alsoTrue = [] } = facts
  const isTrue = (word: string): boolean => TRUE.has(word) || alsoTrue.includes(word)
  return variable({
    ...facts,
    schema: z.string().transform((text) => {
      const word = text.trim()
      // With `takesEmpty`, empty text switches off, like 0.
      if (word === '') return false
      return fallback ? !FALSE.has(word.toLowerCase()) : isTrue(word)
    }),
    expected: '1 or 0',
    fallback,
    fallbackText: fallback ? '1' : '0',
    doubt: (text) => {
      const word = text.trim()
      if (word === '' || isTrue(word) || FALSE.has(word.toLowerCase())) return undefined
      return `is neither 1 nor 0, so it counts as ${fallback ? 'on' : 'off'}`
    },
  })
}

/** Off until set: any text but empty, 0, false, no and off switches it on. */
export function optIn(facts: VariableFacts): Variable<boolean> {
  return variable({
    ...facts,
    schema: z.string().transform((text) => {
      const word = text.trim()
      return word !== '' && !FALSE.has(word.toLowerCase())
    }),
    expected: '1 or 0',
    fallback: false,
    fallbackText: '0',
  })
}

/** On until set: then only 1 and true leave it on. */
export function strictlyOn(facts: VariableFacts): Variable<boolean> {
  return variable({
    takesEmpty: true,
    ...facts,
    schema: z.string().transform((text) => ['1', 'true'].includes(text.trim())),
    expected: '1 or 0',
    fallback: true,
    fallbackText: '1',
  })
}

/** Off until it says true, in any letter case; nothing else switches it on. */
export function onlyTrue(facts: VariableFacts): Variable<boolean> {
  const isTrue = (raw: string): boolean => raw.trim().toLowerCase() === 'true'
  return variable({
    ...facts,
    schema: z.string().transform(isTrue),
    expected: 'true or false',
    fallback: false,
    fallbackText: 'false',
    doubt: (raw) =>
      isTrue(raw) || FALSE.has(raw.trim().toLowerCase())
        ? undefined
        : 'is not true, so it counts as off',
  })
}

/** A whole number within bounds, both included. */
export function integer(
  facts: VariableFacts & { fallback: number; min: number; max: number },
): Variable<number> {
  return variable({
    ...facts,
    schema: z
      .string()
      .trim()
      .regex(/^-?\d{1,16}$/)
      .transform(Number)
      .pipe(z.number().int().min(facts.min).max(facts.max)),
    expected: `an integer from ${facts.min} to ${facts.max}`,
    fallbackText: String(facts.fallback),
  })
}

/** A decimal number from 0 to 1; other text refuses the start. */
export function fraction(facts: VariableFacts & { fallback: number }): Variable<number> {
  return variable({
    ...facts,
    schema: z
      .string()
      .trim()
      .regex(/^\d{1,4}(?:\.\d{1,16})?$/)
      .transform(Number)
      .pipe(z.number().min(0).max(1)),
    expected: 'a number from 0 to 1',
    fallbackText: String(facts.fallback),
  })
}

/** A whole number from 0; text that is none means the default, with a warning. */
export function lenientInteger(facts: VariableFacts & { fallback: number }): Variable<number> {
  const { fallback } = facts
  const isNumber = (raw: string): boolean => /^\d{1,15}$/.test(raw.trim())
  return variable({
    ...facts,
    schema: z.string().transform((raw) => (isNumber(raw) ? Number(raw) : fallback)),
    expected: 'an integer from 0',
    fallbackText: String(fallback),
    doubt: (raw) =>
      isNumber(raw) ? undefined : `is no integer from 0, so it counts as ${fallback}`,
  })
}

/** A whole number that is moved into bounds, both included, when it lies outside. */
export function clampedInteger(
  facts: VariableFacts & { fallback: number; min: number; max: number },
): Variable<number> {
  const { min, max } = facts
  return variable({
    ...facts,
    schema: z
      .string()
      .trim()
      .regex(/^-?\d{1,15}$/)
      .transform((digits) => Math.min(Math.max(Number(digits), min), max)),
    expected: `an integer from ${min} to ${max}`,
    fallbackText: String(facts.fallback),
    doubt: (text) => {
      const number = Number(text)
      if (number >= min && number <= max) return undefined
      return `is moved to the nearest of ${min} to ${max}`
    },
  })
}

/** A whole number within bounds, or nothing. */
export function optionalInteger(
  facts: VariableFacts & { min: number; max: number; example?: string },
): Variable<number | undefined> {
  return variable<number | undefined>({
    ...facts,
    schema: z
      .string()
      .trim()
      .regex(/^\d{1,16}$/)
      .transform(Number)
      .pipe(z.number().int().min(facts.min).max(facts.max)),
    expected: `an integer from ${facts.min} to ${facts.max}`,
    fallback: undefined,
    fallbackText: 'unset',
  })
}

/** A whole number within bounds; text that is none means the default, with a warning. */
export function forgivingInteger<const Fallback extends number | undefined>(
  facts: VariableFacts & {
    fallback: Fallback
    min: number
    max: number
    /** Whether 0 is a way to say the default. */
    takesZero?: boolean
  },
): Variable<number | Fallback> {
  const { fallback, min, max, takesZero = false } = facts
  const read = (raw: string): number | undefined => {
    const number = /^\d{1,15}$/.test(raw.trim()) ? Number(raw) : undefined
    return number !== undefined && number >= min && number <= max ? number : undefined
  }
  return variable<number | Fallback>({
    ...facts,
    schema: z.string().transform((raw) => read(raw) ?? fallback),
    expected: `an integer from ${takesZero ? 0 : min} to ${max}`,
    fallbackText: fallback === undefined ? 'unset' : String(fallback),
    doubt: (raw) => {
      if (read(raw) !== undefined || (takesZero && Number(raw) === 0)) return undefined
      return `is not an integer from ${min} to ${max}, so it counts as ${fallback ?? 'unset'}`
    },
  })
}

/** A share from 0 to 1; other numbers are moved there, and text that is none is 0, with a warning. */
export function share(facts: VariableFacts): Variable<number> {
  const read = (raw: string): number => {
    const number = raw.trim() === '' ? Number.NaN : Number(raw)
    return Number.isNaN(number) ? 0 : Math.min(Math.max(number, 0), 1)
  }
  return variable({
    ...facts,
    schema: z.string().transform(read),
    expected: 'a number from 0 to 1',
    fallback: 0,
    fallbackText: '0',
    doubt: (raw) => (read(raw) === Number(raw) ? undefined : `counts as ${read(raw)}`),
  })
}

/** Any text; `accepts` checks it. */
export function text(
  facts: VariableFacts & {
    fallback: string
    expected?: string
    accepts?: (text: string) => boolean
  },
): Variable<string> {
  const { accepts = () => true } = facts
  return variable({
    ...facts,
    schema: z.string().trim().min(1).refine(accepts),
    expected: facts.expected ?? 'text',
    fallbackText: facts.fallback,
  })
}

/** Text that may stay unset; `check` names what is wrong with a value. */
export function optionalText(
  facts: VariableFacts & { expected?: string; accepts?: (text: string) => boolean; unset?: string },
): Variable<string | undefined> {
  const { accepts = () => true } = facts
  return variable<string | undefined>({
    ...facts,
    schema: z.string().trim().min(1).refine(accepts),
    expected: facts.expected ?? 'text',
    fallback: undefined,
    fallbackText: facts.unset ?? 'unset',
  })
}

/** One of a few words, in any letter case; `spellings` maps further ones. */
export function choice<const Word extends string>(
  facts: VariableFacts & {
    words: readonly Word[]
    fallback: Word
    spellings?: Readonly<Record<string, Word>>
  },
): Variable<Word> {
  return variable<Word>({
    ...facts,
    schema: wordSchema(facts.words, facts.spellings ?? {}),
    expected: `one of ${facts.words.join(', ')}`,
    fallbackText: facts.fallback,
  })
}

/** Like {@link choice}, but text that is none of the words means the default, with a warning. */
export function lenientChoice<const Word extends string>(
  facts: VariableFacts & { words: readonly Word[]; fallback: Word },
): Variable<Word> {
  const { words, fallback } = facts
  const find = (raw: string): Word | undefined => {
    const given = raw.trim().toLowerCase()
    return words.find((word) => word === given)
  }
  return variable<Word>({
    takesEmpty: true,
    ...facts,
    schema: z.string().transform((raw) => find(raw) ?? fallback),
    expected: `one of ${words.join(', ')}`,
    fallbackText: fallback,
    doubt: (raw) =>
      raw.trim() === '' || find(raw) !== undefined
        ? undefined
        : `is none of ${words.join(', ')}, so it counts as ${fallback}`,
  })
}

/** Like {@link choice}, with a default that depends on other settings. */
export function optionalChoice<const Word extends string>(
  facts: VariableFacts & {
    words: readonly Word[]
    spellings?: Readonly<Record<string, Word>>
    unset: string
  },
): Variable<Word | undefined> {
  return variable<Word | undefined>({
    ...facts,
    schema: wordSchema(facts.words, facts.spellings ?? {}),
    expected: `one of ${facts.words.join(', ')}`,
    fallback: undefined,
    fallbackText: facts.unset,
  })
}

/** Items between commas, trimmed, empty ones dropped; `accepts` checks each. */
export function list(
  facts: VariableFacts & {
    fallback: readonly string[]
    item: string
    accepts?: (item: string) => boolean
  },
): Variable<readonly string[]> {
  const { accepts = () => true } = facts
  return variable<readonly string[]>({
    takesEmpty: true,
    ...facts,
    schema: z
      .string()
      .transform((raw) =>
        raw
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      )
      .refine((items) => items.every(accepts)),
    expected: `${facts.item}, separated by commas`,
    fallbackText: facts.fallback.join(',') || 'empty',
  })
}

/** Numbers by name, such as `one=0.5,two=3`; names that are left out are absent. */
export function optionalNumbers<const Name extends string>(
  facts: VariableFacts & {
    names: readonly Name[]
    expected: string
    accepts: (numbers: NumbersOf<Name>) => boolean
    unset: string
  },
): Variable<NumbersOf<Name> | undefined> {
  return variable<NumbersOf<Name> | undefined>({
    ...facts,
    schema: z.string().transform((raw, context) => {
      const numbers: { [Key in Name]?: number } = {}
      for (const item of raw.split(',')) {
        const [word = '', value = '', ...rest] = item.split('=').map((part) => part.trim())
        const name = facts.names.find((one) => one === word)
        const isNew = name !== undefined && numbers[name] === undefined
        if (!isNew || rest.length > 0 || !/^\d+(?:\.\d+)?$/.test(value)) {
          context.addIssue({ code: 'custom', message: 'not a number by name' })
          return z.NEVER
        }
        numbers[name] = Number(value)
      }
      if (facts.accepts(numbers)) return numbers
      context.addIssue({ code: 'custom', message: 'not accepted' })
      return z.NEVER
    }),
    fallback: undefined,
    fallbackText: facts.unset,
  })
}

/** Some of these names with a number each. */
export type NumbersOf<Name extends string> = { readonly [Key in Name]?: number }

function wordSchema<Word extends string>(
  words: readonly Word[],
  spellings: Readonly<Record<string, Word>>,
): z.ZodType<Word, string> {
  return z.string().transform((raw, context) => {
    const given = raw.trim().toLowerCase()
    const word = words.find((candidate) => candidate === given) ?? spellings[given]
    if (word === undefined) {
      context.addIssue({ code: 'custom', message: 'not one of the words' })
      return z.NEVER
    }
    return word
  })
}

function variable<T>(
  facts: VariableFacts &
    Pick<Variable<T>, 'schema' | 'expected' | 'fallback' | 'fallbackText'> & {
      doubt?: (text: string) => string | undefined
    },
): Variable<T> {
  const { yaml = [] } = facts
  return {
    name: facts.name,
    aliases: facts.aliases ?? [],
    yaml: typeof yaml === 'string' ? [yaml] : yaml,
    schema: facts.schema,
    expected: facts.expected,
    fallback: facts.fallback,
    fallbackText: facts.fallbackText,
    meaning: facts.meaning,
    isSecret: facts.isSecret ?? false,
    isInExamples: facts.isInExamples ?? true,
    example: facts.example,
    takesEmpty: facts.takesEmpty ?? false,
    doubt: facts.doubt ?? (() => undefined),
  }
}
