import { createConnection, Socket } from 'node:net'
import { blake3 } from '@noble/hashes/blake3.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { cosine } from './embedder.js'
import { createLocalHashEmbedder } from './local-hash-embedder.js'

const embedder = createLocalHashEmbedder()

async function vectorOf(text: string, dims = 256): Promise<Float32Array> {
  const [vector] = await createLocalHashEmbedder({ dims }).embed([text])
  if (vector === undefined) throw new Error('one text gives one vector')
  return vector
}

/** Where a feature goes and with which sign, by another BLAKE3. */
function placeOf(feature: string, dims = 256): { bucket: number; sign: number } {
  const hash = blake3(new TextEncoder().encode(feature))
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0] = hash
  const number = b0 + b1 * 2 ** 8 + b2 * 2 ** 16 + b3 * 2 ** 24
  return { bucket: number % dims, sign: b4 % 2 === 0 ? 1 : -1 }
}

function expectedVector(features: readonly string[], dims: number): number[] {
  const sums = Array.from({ length: dims }, () => 0)
  for (const feature of features) {
    const { bucket, sign } = placeOf(feature, dims)
    sums[bucket] = (sums[bucket] ?? 0) + sign
  }
  const norm = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0))
  return sums.map((value) => Math.fround(norm > 0 ? value / norm : 0))
}

describe('createLocalHashEmbedder', () => {
  it('names itself and has 256 dimensions (RET-11.5-hash-identity)', async () => {
    expect(embedder.profile).toMatchObject({ id: 'crux-local-hash-v1', dims: 256 })
    expect(await vectorOf('anything')).toHaveLength(256)
  })

  it('hashes each word and each neighbouring pair, lower-cased (RET-11.5-hash-features)', async () => {
    const features = ['foo', 'bar', 'baz', 'foo_bar', 'bar_baz']
    // With 4,096 places the five features of the check text fall apart.
    expect(new Set(features.map((feature) => placeOf(feature, 4096).bucket)).size).toBe(5)
    expect([...(await vectorOf('Foo bar-baz', 4096))]).toEqual(expectedVector(features, 4096))
  })

  it('puts a word at its bucket with its sign (RET-11.5-hash-bucket)', async () => {
    for (const word of ['alpha', 'beta', 'gamma', 'delta', 'größe', '東京']) {
      const { bucket, sign } = placeOf(word)
      const vector = await vectorOf(word)
      expect(vector[bucket]).toBe(sign)
      expect(vector.filter((value) => value !== 0)).toHaveLength(1)
    }
  })

  it('gives vectors of length 1, and of length 0 for no words (RET-11.5-hash-norm)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 30 }),
        async (words) => {
          const vector = await vectorOf(words.join(' '))
          const norm = Math.hypot(...vector)
          // Features with opposite signs may cancel out altogether.
          if (vector.some((value) => value !== 0)) expect(Math.abs(norm - 1)).toBeLessThan(1e-6)
        },
      ),
    )
    expect(Math.hypot(...(await vectorOf(' -- ')))).toBe(0)
  })

  it('measures shared wording only (RET-11.5-hash-lexical)', async () => {
    const near = cosine(
      await vectorOf('deploy the service'),
      await vectorOf('deploy the service now'),
    )
    const far = cosine(await vectorOf('car repair'), await vectorOf('automobile maintenance'))
    expect(near).toBeGreaterThan(0.5)
    expect(Math.abs(far)).toBeLessThan(0.2)
  })

  it('opens no connection (RET-11.5-hash-offline)', async () => {
    const connect = vi.spyOn(Socket.prototype, 'connect').mockImplementation(() => {
      throw new Error('the network is blocked')
    })
    onTestFinished(() => connect.mockRestore())
    expect(() => createConnection(9)).toThrow('the network is blocked')
    connect.mockClear()
    expect((await vectorOf('deploy the service')).some((value) => value !== 0)).toBe(true)
    expect(connect).not.toHaveBeenCalled()
  })

  it('gives one vector per text in order and the same each time', async () => {
    const [first, second] = await embedder.embed(['one text', 'another text'])
    expect(first).toEqual(await vectorOf('one text'))
    expect(second).toEqual(await vectorOf('another text'))
    expect(await embedder.embed([])).toEqual([])
  })

  it('stops when told to', async () => {
    const stopped = AbortSignal.abort(new Error('stop'))
    await expect(embedder.embed(['a text'], stopped)).rejects.toThrow('stop')
  })

  it('refuses a number of dimensions that is none', () => {
    expect(() => createLocalHashEmbedder({ dims: 0 })).toThrow(RangeError)
    expect(() => createLocalHashEmbedder({ dims: 1.5 })).toThrow(RangeError)
  })
})

describe('cosine', () => {
  const vector = (...values: number[]) => Float32Array.from(values)

  it('is the cosine of the angle', () => {
    expect(cosine(vector(1, 0), vector(0, 2))).toBe(0)
    expect(cosine(vector(3, 4), vector(6, 8))).toBeCloseTo(1, 12)
    expect(cosine(vector(1, 1), vector(-1, -1))).toBeCloseTo(-1, 12)
  })

  it('is 0 for lengths that differ, nothing, and zero vectors', () => {
    expect(cosine(vector(1), vector(1, 0))).toBe(0)
    expect(cosine(vector(), vector())).toBe(0)
    expect(cosine(vector(0, 0), vector(1, 1))).toBe(0)
  })
})
