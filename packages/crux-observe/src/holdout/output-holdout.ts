import { isControl } from './assign-arm.js'
import { pairedSavings, type Savings, unpairedSavings } from './savings.js'

/** Most samples of an arm; the oldest give way. */
const MAX_SAMPLES = 5_000
// Tells the draw for compaction apart from the one for the arm.
const COMPACTION = ':m3'

/** What the hold-out measured. Tokens are sums over the kept samples. */
export interface HoldoutSnapshot {
  /** The same answers, indented and compact: what leaving out white space saves. Never below 0. */
  readonly compaction: Savings & {
    readonly n: number
    readonly prettyTokens: number
    readonly compactTokens: number
  }
  /** Answers of both arms: white space and what budgets let through together. May be below 0. */
  readonly net: Savings & {
    readonly nControl: number
    readonly nTreatment: number
    readonly controlTokens: number
    readonly treatmentTokens: number
  }
}

/**
 * Compares shaped answers with a share of unshaped ones.
 *
 * A control request is answered the way of old: a budget drops what does not fit, and JSON is
 * indented. Keeps at most 5,000 samples of each arm, in memory.
 */
export class OutputHoldout {
  private readonly control = new Samples<number>()
  private readonly treatment = new Samples<number>()
  private readonly pairs = new Samples<readonly [pretty: number, compact: number]>()

  /** @param fraction - Share of control requests; 0 is off, and then nothing is ever kept. */
  constructor(readonly fraction: number) {}

  get isOn(): boolean {
    return this.fraction > 0
  }

  /** Whether the request with this key is a control. */
  isControl(key: string): boolean {
    return isControl(key, this.fraction)
  }

  /** Whether the answer to the request with this key is to be measured in both forms. */
  measuresCompaction(key: string): boolean {
    return isControl(key + COMPACTION, this.fraction)
  }

  /** Keep what an answer came to, in tokens. */
  addAnswer(arm: 'control' | 'treatment', tokens: number): void {
    if (this.isOn) this[arm].add(tokens)
  }

  /** Keep what one answer comes to in both forms, in tokens. */
  addPair(prettyTokens: number, compactTokens: number): void {
    if (this.isOn) this.pairs.add([prettyTokens, compactTokens])
  }

  snapshot(): HoldoutSnapshot {
    const { control, treatment, pairs } = this
    return {
      compaction: {
        ...pairedSavings(pairs.values),
        prettyTokens: sum(pairs.values.map(([pretty]) => pretty)),
        compactTokens: sum(pairs.values.map(([, compact]) => compact)),
      },
      net: {
        ...unpairedSavings(control.values, treatment.values),
        nControl: control.values.length,
        nTreatment: treatment.values.length,
        controlTokens: sum(control.values),
        treatmentTokens: sum(treatment.values),
      },
    }
  }
}

/** The newest samples. */
class Samples<T> {
  readonly values: T[] = []
  private oldest = 0

  add(sample: T): void {
    if (this.values.length < MAX_SAMPLES) {
      this.values.push(sample)
      return
    }
    this.values[this.oldest] = sample
    this.oldest = (this.oldest + 1) % MAX_SAMPLES
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
