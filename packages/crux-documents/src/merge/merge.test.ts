import { decodeSegment, loadHashes } from 'crux-segment'
import type { SegmentStore } from 'crux-storage'
import { ANONYMOUS, CruxError } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentStore } from '../document-store.js'
import { altered, BACKENDS, find, openOn, request, text } from '../testing/document-stores.js'
import { DEFAULT_MERGE_POLICY } from './plan-merge.js'

/** One segment a document. */
async function ingestEach(documents: DocumentStore, ...names: readonly string[]) {
  for (const name of names) {
    await documents.ingest(ANONYMOUS, request({ documents: [text(name, `${name} otter`)] }))
  }
}

const otters = (documents: DocumentStore) =>
  documents.search(ANONYMOUS, { tenant: 'acme', query: 'otter', limit: 100 })

async function refsOf(documents: DocumentStore) {
  return (await otters(documents)).hits.map(({ chunkRef }) => chunkRef)
}

const expand = (documents: DocumentStore, handles: readonly string[]) =>
  documents.expand(ANONYMOUS, { tenant: 'acme', handles, includeText: true })

/** Frames of all segments but those of a merged segment's own: stream, number, and bytes. */
async function framesIn(segments: SegmentStore) {
  const frames: { name: string; bytes: string }[] = []
  for (const ref of await segments.list()) {
    const { bytes } = await segments.read(ref)
    for (const { header, entry } of (
      await decodeSegment(bytes, await loadHashes(), { verify: 'full' })
    ).frames()) {
      if (header.eventType === 'crux.segment.origins.v1') continue
      const { offset, frameLength } = entry
      frames.push({
        name: `${header.streamId}/${header.seq}`,
        bytes: Buffer.from(bytes.subarray(offset, offset + frameLength)).toString('base64'),
      })
    }
  }
  return frames
}

/** Resolves once what runs in the background has brought the segments down to `count`. */
async function untilSegments(documents: DocumentStore, count: number) {
  while (documents.stats().segments > count) await new Promise((resolve) => setTimeout(resolve, 1))
}

describe.each(BACKENDS)('DocumentStore.merge on %s', (_name, backend) => {
  it('makes one segment of many, with frames as they were and none that is dead', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b', 'c')
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'another otter')] }))
    await documents.ingest(ANONYMOUS, request({ remove: ['b'] }))
    const before = await framesIn(segments)
    const answer = await otters(documents)
    const progress: unknown[] = []
    const onProgress = (done: unknown) => progress.push(done)
    expect(await documents.merge({ onProgress })).toEqual({ merged: 5, segments: 1 })
    expect(progress).toEqual([{ segments: 5, of: 5 }])
    // Two of `c`, and the second revision of `a`; nothing is left that the removal of `b` would hide.
    const after = await framesIn(segments)
    expect(after.map(({ name }) => name)).toEqual(['c/1', 'c/2', 'a/3', 'a/4'])
    for (const frame of after) expect(before).toContainEqual(frame)
    const merged = await otters(documents)
    const facts = ({ hits }: typeof answer) =>
      hits.map(({ chunkRef, score }) => ({ chunkRef, score }))
    expect(facts(merged)).toEqual(facts(answer))
    expect(documents.stats()).toMatchObject({ segments: 1, documents: 2, chunks: 2, warnings: [] })
    expect(await documents.merge()).toEqual({ merged: 0, segments: 1 })
    const again = await openOn(await reopen())
    expect(facts(await otters(again))).toEqual(facts(merged))
    // Streams go on from where they were.
    await again.ingest(ANONYMOUS, request({ documents: [text('a', 'a third otter')] }))
    expect(await find(again, 'otter')).toEqual(['c otter', 'a third otter'])
  })

  it('keeps references valid over merges of merges, and evicts what is dead', async () => {
    const { segments, reopen } = await backend.open()
    let documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b', 'c')
    const refs = await refsOf(documents)
    const [first] = await segments.list()
    for (const round of [1, 2, 3]) {
      await documents.merge()
      await documents.ingest(ANONYMOUS, request({ documents: [text(`x${round}`, 'an otter')] }))
      documents = await openOn(await reopen())
      expect((await refsOf(documents)).slice(0, 3)).toEqual(refs)
      const { content, errors } = await expand(documents, refs)
      expect(errors).toEqual([])
      expect(content.map(({ text, chunkRef }) => [text, chunkRef])).toEqual(
        ['a', 'b', 'c'].map((name, i) => [`${name} otter`, refs[i]]),
      )
    }
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [text('a', 'no longer')], remove: ['b'] }),
    )
    const dead = { kind: 'evicted' }
    expect((await expand(documents, refs)).errors).toMatchObject([dead, dead])
    await documents.merge()
    const { errors, content } = await expand(documents, [...refs, `${first?.id}:99`])
    expect(errors).toMatchObject([dead, dead, dead])
    expect(content.map(({ text }) => text)).toEqual(['c otter'])
    // The id of a merged segment is no address of a chunk, or it would change with the next merge.
    const [merged] = await segments.list().catch(async () => (await reopen()).list())
    expect((await expand(documents, [`${merged?.id}:1`])).errors).toMatchObject([dead])
  })

  it('lets result ids lead to the same chunks over merges of merges, while the store is open', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b', 'c')
    const given = new Map<string, string>()
    const note = async () => {
      for (const { segmentIndex, docId, chunkRef } of (await otters(documents)).hits) {
        given.set(`${segmentIndex}:${docId}`, chunkRef)
      }
    }
    await note()
    await documents.merge()
    await note()
    await ingestEach(documents, 'd', 'e')
    await note()
    await documents.merge()
    await note()
    const { chunks, errors } = await expand(documents, [...given.keys()])
    expect(errors).toEqual([])
    expect(chunks.map(({ chunkRef }) => chunkRef)).toEqual([...given.values()])
  })

  it('keeps a removal for as long as another segment holds what it takes out', async () => {
    const { segments, reopen } = await backend.open()
    // So few frames that the first segment is neither small enough to be merged nor dead enough alone.
    const mergePolicy = { ...DEFAULT_MERGE_POLICY, minSegments: 2, maxFrames: 7 }
    const merging = { merge: 'background', mergePolicy } as const
    let documents = await openOn(segments, true, [], merging)
    const full = [text('a', 'old otter'), text('keep', 'one', 'two', 'three')]
    await documents.ingest(ANONYMOUS, request({ documents: full }))
    await documents.ingest(ANONYMOUS, request({ remove: ['a'] }))
    await ingestEach(documents, 'b')
    await untilSegments(documents, 2)
    const kept = (await framesIn(segments)).map(({ name }) => name)
    expect(kept).toEqual([
      'a/1',
      'a/2',
      'keep/1',
      'keep/2',
      'keep/3',
      'keep/4',
      'a/3',
      'b/1',
      'b/2',
    ])
    const check = async () => {
      expect(await find(documents, 'otter')).toEqual(['b otter'])
      expect(documents.stats()).toMatchObject({ documents: 2 })
    }
    await check()
    await documents.close()
    documents = await openOn(await reopen())
    await check()
    // With what it takes out it goes as well.
    expect(await documents.merge()).toEqual({ merged: 2, segments: 1 })
    expect((await framesIn(await reopen())).map(({ name }) => name)).not.toContain('a/3')
    await documents.close()
    documents = await openOn(await reopen())
    await check()
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'new otter')] }))
    expect((await find(documents, 'otter')).sort()).toEqual(['b otter', 'new otter'])
  })

  it('drops segments of which nothing is left', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b')
    await documents.ingest(ANONYMOUS, request({ remove: ['a', 'b'] }))
    expect(await documents.merge()).toEqual({ merged: 3, segments: 0 })
    expect(await segments.list()).toEqual([])
    expect(await otters(documents)).toMatchObject({ isEmpty: true, hits: [] })
    const again = await openOn(await reopen())
    await ingestEach(again, 'a')
    expect(await find(again, 'otter')).toEqual(['a otter'])
  })

  it('keeps what another writer stored, each run by itself', async () => {
    const { segments } = await backend.open()
    const foreign = (eventId: string) => ({
      tenantId: 'acme',
      streamType: 'notes',
      streamId: 'sea.md',
      eventId,
      eventType: 'corecrux.prose.chunk.v1',
      contentType: 'text/plain; charset=utf-8',
      occurredAt: '2025-01-01T00:00:00Z',
      payload: Buffer.from(`otter ${eventId}`),
    })
    await segments.seal({ frames: [foreign('1'), foreign('2')] })
    await segments.seal({ frames: [foreign('3')] })
    const documents = await openOn(segments)
    await documents.rebuildCompanions()
    const refs = await refsOf(documents)
    const before = await expand(documents, refs)
    expect(await documents.merge()).toEqual({ merged: 2, segments: 1 })
    expect((await expand(documents, refs)).content).toEqual(before.content)
    expect(before.content.map(({ chunkIndex }) => chunkIndex)).toEqual([0, 1, 0])
  })

  it('leaves alone what cannot be searched, and merges nothing when it is off', async () => {
    const { segments } = await backend.open()
    const unindexed = await openOn(segments, false)
    await ingestEach(unindexed, 'a', 'b')
    expect(await unindexed.merge()).toEqual({ merged: 0, segments: 2 })
    await unindexed.rebuildCompanions()
    expect(await unindexed.merge()).toEqual({ merged: 2, segments: 1 })
    expect(await find(unindexed, 'otter')).toEqual(['a otter', 'b otter'])
    const off = await openOn(segments, true, [], { merge: 'off' })
    await expect(off.merge()).rejects.toMatchObject({ code: 'MERGE_OFF' })
  })

  it('stops when it is aborted, or the store is closed, and leaves what there was', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b', 'c')
    const before = await segments.list()
    const signal = AbortSignal.abort(new Error('not now'))
    await expect(documents.merge({ signal })).rejects.toThrow('not now')
    const merging = documents.merge()
    await documents.close()
    await expect(merging).rejects.toMatchObject({ code: 'DOCUMENT_STORE_CLOSED' })
    expect(await segments.list()).toEqual(before)
  })

  it('keeps the old segments when the new one cannot be committed', async () => {
    const { segments, reopen } = await backend.open()
    const warnings: string[] = []
    const full = altered(segments, {
      replace: (refs, by) =>
        segments.replace(
          refs,
          by && {
            ...by,
            companions: async (sealed) => {
              await by.companions(sealed)
              throw new Error('no space left on device')
            },
          },
        ),
    })
    const documents = await openOn(full, true, warnings)
    await ingestEach(documents, 'a', 'b')
    await expect(documents.merge()).rejects.toThrow('no space left')
    expect(await find(documents, 'otter')).toEqual(['a otter', 'b otter'])
    const again = await openOn(await reopen())
    expect(await find(again, 'otter')).toEqual(['a otter', 'b otter'])
    expect(again.stats().segments).toBe(2)
  })

  it('answers from the old segments or the new one while they are merged, never less', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await ingestEach(documents, 'a', 'b', 'c', 'd')
    const refs = await refsOf(documents)
    let isDone = false
    const merging = (async () => {
      for (let round = 0; round < 5; round++) {
        await documents.merge()
        await ingestEach(documents, `x${round}`)
      }
      isDone = true
    })()
    let answers = 0
    while (!isDone) {
      const [{ hits }, { content, errors }] = await Promise.all([
        otters(documents),
        expand(documents, refs),
      ])
      expect(hits.length).toBeGreaterThanOrEqual(4)
      expect(new Set(hits.map(({ chunkRef }) => chunkRef)).size).toBe(hits.length)
      expect(errors).toEqual([])
      expect(content).toHaveLength(4)
      answers++
      await new Promise((resolve) => setImmediate(resolve))
    }
    await merging
    expect(answers).toBeGreaterThan(3)
  })
})

describe.each(BACKENDS)('merging in the background on %s', (_name, backend) => {
  it('keeps the number of segments down without being asked, also of what was there before', async () => {
    const { segments, reopen } = await backend.open()
    const warnings: string[] = []
    const merging = {
      merge: 'background',
      mergePolicy: { ...DEFAULT_MERGE_POLICY, minSegments: 4 },
    } as const
    const documents = await openOn(segments, true, warnings, merging)
    const names = Array.from({ length: 11 }, (_, i) => `d${i}`)
    await ingestEach(documents, ...names)
    await untilSegments(documents, 3)
    expect(await refsOf(documents)).toHaveLength(11)
    await documents.close()
    const manual = await openOn(await reopen())
    await ingestEach(manual, 'e1', 'e2', 'e3')
    await manual.close()
    const again = await openOn(await reopen(), true, warnings, merging)
    await untilSegments(again, 3)
    expect(await refsOf(again)).toHaveLength(14)
    expect(warnings).toEqual([])
  })

  it('lets ingests go first, and comes to an end all the same', async () => {
    const { segments } = await backend.open()
    let given = 0
    // Each merge meets an ingest that has come meanwhile.
    const busy = altered(segments, {
      read: async (ref) => {
        given++
        await new Promise((resolve) => setTimeout(resolve, 2))
        return segments.read(ref)
      },
    })
    const merging = {
      merge: 'background',
      mergePolicy: { ...DEFAULT_MERGE_POLICY, minSegments: 2 },
    } as const
    const documents = await openOn(busy, true, [], merging)
    for (let i = 0; i < 30; i++) await ingestEach(documents, `d${i}`)
    await untilSegments(documents, 1)
    expect(given).toBeGreaterThan(0)
    expect(await refsOf(documents)).toHaveLength(30)
  })

  it('warns when it cannot, and does not read what is damaged again and again', async () => {
    const { segments } = await backend.open()
    const warnings: string[] = []
    let reads = 0
    const damaged = altered(segments, {
      read: async (ref) => {
        if (ref.seq > 1) return segments.read(ref)
        reads++
        throw new CruxError('SEGMENT_CORRUPT', 'segment 1 is damaged')
      },
    })
    const merging = {
      merge: 'background',
      mergePolicy: { ...DEFAULT_MERGE_POLICY, minSegments: 2 },
    } as const
    const documents = await openOn(damaged, true, warnings, merging)
    await ingestEach(documents, 'a', 'b', 'c', 'd')
    await untilSegments(documents, 2)
    await ingestEach(documents, 'e')
    await untilSegments(documents, 2)
    expect(reads).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('could not be merged and stay')])
    expect(await refsOf(documents)).toHaveLength(5)
  })
})
