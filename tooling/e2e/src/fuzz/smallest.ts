import fc from 'fast-check'

/** A generated value that knows smaller ones of its kind. */
export interface Shrinkable<T> {
  readonly value: T
  smaller(): Iterable<Shrinkable<T>>
}

/** Says what is wrong with a value; undefined when nothing is. */
export type Judge<T> = (value: T) => Promise<string | undefined>

const MAX_TRIES = 2000

/** The same values, each with its way down: so that one of many that were sent together can be made smaller alone. */
export function shrinkable<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Shrinkable<T>> {
  return new ShrinkableArbitrary(arbitrary)
}

/**
 * The smallest value that is found wrong by itself.
 *
 * @returns Undefined when the value is not wrong by itself: it takes the others that it was among.
 */
export async function findSmallest<T>(
  start: Shrinkable<T>,
  judge: Judge<T>,
): Promise<{ readonly value: T; readonly problem: string } | undefined> {
  let problem = await judge(start.value)
  if (problem === undefined) return undefined
  let smallest = start
  let tries = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of smallest.smaller()) {
      tries += 1
      if (tries > MAX_TRIES) break
      const found = await judge(candidate.value)
      if (found === undefined) continue
      problem = found
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return { value: smallest.value, problem }
}

class ShrinkableArbitrary<T> extends fc.Arbitrary<Shrinkable<T>> {
  constructor(private readonly inner: fc.Arbitrary<T>) {
    super()
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<Shrinkable<T>> {
    return new fc.Value(this.wayDown(this.inner.generate(random, bias)), undefined)
  }

  override canShrinkWithoutContext(_value: unknown): _value is Shrinkable<T> {
    return false
  }

  override shrink(): fc.Stream<fc.Value<Shrinkable<T>>> {
    return fc.Stream.nil()
  }

  private wayDown({ value_: value, context }: fc.Value<T>): Shrinkable<T> {
    return {
      value,
      smaller: () => this.inner.shrink(value, context).map((candidate) => this.wayDown(candidate)),
    }
  }
}
