import { encodeCcxv } from 'crux-segment'
import { type CompanionKind, type SegmentRef, segmentStem } from 'crux-storage'
import { ANONYMOUS, CruxError } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { altered, BACKENDS, find, openOn, request, text } from '../testing/document-stores.js'

describe.each(BACKENDS)('DocumentStore.verifyCompanions on %s', (_name, backend) => {
  const openTwo = async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    for (const name of ['a', 'b']) {
      const passages = [`${name} otter`, 'another one']
      await documents.ingest(ANONYMOUS, request({ documents: [text(name, ...passages)] }))
    }
    const [one, two] = await segments.list()
    if (one === undefined || two === undefined) throw new Error('two segments were sealed')
    return { segments, documents, one, two }
  }
  const fileOf = (ref: SegmentRef, kind: string) => `${segmentStem(ref.seq, ref.id)}.${kind}`

  it('finds nothing wrong with what ingests and merges write', async () => {
    const { documents } = await openTwo()
    const progress: unknown[] = []
    const onProgress = (done: unknown) => progress.push(done)
    const sound = await documents.verifyCompanions({ onProgress })
    expect(sound).toEqual({ segments: 2, checked: 6, problems: [] })
    expect(progress).toEqual([
      { segments: 1, of: 2 },
      { segments: 2, of: 2 },
    ])
    await documents.merge()
    expect(await documents.verifyCompanions()).toEqual({ segments: 1, checked: 3, problems: [] })
  })

  it('names files that are damaged, of another segment, or missing, and mends nothing', async () => {
    const { segments, documents, one, two } = await openTwo()
    const read = async (ref: SegmentRef, kind: CompanionKind) =>
      (await segments.readCompanion(ref, kind)) ?? new Uint8Array()
    const reasons = async () => {
      const { problems } = await documents.verifyCompanions()
      return problems.map(({ segment, file, reason }) => [segment, file, reason])
    }
    for (const kind of ['ccxi', 'ccxm'] as const) {
      const sound = await read(one, kind)
      const flipped = sound.slice()
      flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 4
      for (const wrong of [await read(two, kind), flipped, sound.slice(0, 90), new Uint8Array()]) {
        await segments.writeCompanion(one, { kind, bytes: wrong })
        expect(await reasons()).toEqual([[one.id, fileOf(one, kind), expect.any(String)]])
        expect(await read(one, kind)).toEqual(wrong)
      }
      await segments.writeCompanion(one, { kind, bytes: sound })
    }
    expect(await reasons()).toEqual([])
    const without = altered(segments, {
      readCompanion: async (ref, kind) =>
        ref.id === two.id ? undefined : segments.readCompanion(ref, kind),
    })
    const { problems } = await (await openOn(without)).verifyCompanions()
    expect(problems.map(({ file, reason }) => [file, reason])).toEqual([
      [fileOf(two, 'ccxm'), expect.stringContaining('missing')],
      [fileOf(two, 'ccxi'), expect.stringContaining('ccxi rebuild')],
    ])
  })

  it('checks vectors, profiles and words where there are any', async () => {
    const { segments, documents, one } = await openTwo()
    const put = (kind: CompanionKind, bytes: Uint8Array) =>
      segments.writeCompanion(one, { kind, bytes })
    const problems = async () =>
      (await documents.verifyCompanions()).problems.map(({ file }) => file)
    const vectors = (docId: number) =>
      encodeCcxv({
        dim: 2,
        docIds: Uint32Array.of(docId),
        vectors: Float32Array.of(0.6, 0.8),
      })
    await put('ccxv', vectors(1))
    expect(await problems()).toEqual([])
    expect(await documents.verifyCompanions()).toMatchObject({ checked: 7 })
    await put('ccxv', vectors(one.frameCount))
    expect(await problems()).toEqual([fileOf(one, 'ccxv')])
    await put('ccxv', vectors(1).slice(0, -1))
    expect(await problems()).toEqual([fileOf(one, 'ccxv')])
    await put('ccxv', vectors(1))
    await put('ccxp', Buffer.from('{}'))
    await put('ccxf', Buffer.from('CCXF'))
    expect(await problems()).toEqual([fileOf(one, 'ccxp'), fileOf(one, 'ccxf')])
  })

  it('names a segment that is damaged itself, with the byte', async () => {
    const { segments, one } = await openTwo()
    const documents = await openOn(segments)
    const damaged = altered(segments, {
      read: async (ref) => {
        if (ref.id !== one.id) return segments.read(ref)
        throw new CruxError('SEGMENT_CORRUPT', 'the frame is damaged', { data: { offset: 4096 } })
      },
    })
    await documents.close()
    const { problems } = await (await openOn(damaged)).verifyCompanions()
    expect(problems).toEqual([
      {
        segment: one.id,
        file: fileOf(one, 'ccxseg'),
        offset: 4096,
        reason: 'the frame is damaged',
      },
    ])
  })

  it('stops when it is aborted', async () => {
    const { documents } = await openTwo()
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(documents.verifyCompanions({ signal })).rejects.toThrow('enough')
  })
})

describe.each(BACKENDS)('DocumentStore.rebuildCompanions on %s', (_name, backend) => {
  it('builds usable indexes again when all are asked for', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'an otter')] }))
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'a younger otter')] }))
    let written = 0
    const counting = altered(segments, {
      writeCompanion: async (ref, companion) => {
        written++
        await segments.writeCompanion(ref, companion)
      },
    })
    const again = await openOn(counting)
    expect(await again.rebuildCompanions()).toEqual({ rebuilt: 0, segments: 2 })
    expect(written).toBe(0)
    expect(await again.rebuildCompanions({ all: true })).toEqual({ rebuilt: 2, segments: 2 })
    expect(written).toBe(4)
    expect(await find(again, 'otter')).toEqual(['a younger otter'])
  })
})
