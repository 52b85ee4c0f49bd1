import { ANONYMOUS } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { altered, BACKENDS, openOn, request, text } from './testing/document-stores.js'

describe.each(BACKENDS)('expand on %s', (_name, backend) => {
  it('gives chunk text with all that was ingested about it (RET-11.10-expand-fields, RET-11.10-handle)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(
      ANONYMOUS,
      request({
        documents: [
          {
            docId: 'guide.md',
            title: 'Guide',
            url: 'https://example.org/guide',
            sourceTimestamp: '2026-01-01T00:00:00Z',
            chunks: [
              { chunkId: 'c0', text: 'preface' },
              {
                chunkId: 'c1',
                text: 'zeppelin maintenance',
                chunkIndex: 4,
                headingPath: ['Ships', 'Air'],
                metadata: { page: 12 },
              },
            ],
          },
        ],
      }),
    )
    const query = { tenant: 'acme', query: 'zeppelin', limit: 10 }
    const { hits } = await documents.search(ANONYMOUS, query)
    const [hit] = hits
    const positional = `${hit?.segmentIndex}:${hit?.docId}`
    const chunkRef = hit?.chunkRef ?? ''
    expect(chunkRef).toMatch(/^[0-9a-f]{32}:2$/)
    const expanded = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [positional, chunkRef],
      includeText: true,
    })
    const chunk = {
      segmentIndex: 0,
      docId: 2,
      chunkRef,
      frameOffset: hit?.frameOffset,
      tokenCount: 2,
    }
    expect(expanded).toMatchObject({ chunks: [chunk, chunk], tokensLoaded: 4, errors: [] })
    expect(expanded.content[0]).toEqual({
      id: positional,
      chunkRef,
      text: 'zeppelin maintenance',
      title: 'Guide',
      source: 'https://example.org/guide',
      docId: 'guide.md',
      corpus: 'notes',
      headingPath: ['Ships', 'Air'],
      chunkIndex: 4,
      metadata: { page: 12 },
      isCut: false,
      fromByte: 0,
    })
    expect(expanded.content[1]?.id).toBe(chunkRef)
    const bare = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [positional],
      includeText: false,
    })
    expect(bare).toMatchObject({ chunks: [chunk], content: [], textTokens: 0, leftOut: 0 })
  })

  it('shifts positional handles when an earlier segment goes, and not chunk refs (RET-11.10-handle-positional)', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'badger one')] }))
    await documents.ingest(ANONYMOUS, request({ documents: [text('b', 'badger two')] }))
    const query = { tenant: 'acme', query: 'two', limit: 1 }
    const { hits } = await documents.search(ANONYMOUS, query)
    const handles = [`${hits[0]?.segmentIndex}:${hits[0]?.docId}`, hits[0]?.chunkRef ?? '']
    expect(handles[0]).toBe('1:1')
    await documents.close()
    const reopened = await reopen()
    const [first] = await reopened.list()
    if (first !== undefined) await reopened.remove(first)
    const again = await openOn(reopened)
    const expanded = await again.expand(ANONYMOUS, { tenant: 'acme', handles, includeText: true })
    expect(expanded.errors).toMatchObject([{ handle: '1:1', kind: 'evicted' }])
    expect(expanded.content.map((content) => content.text)).toEqual(['badger two'])
    const moved = await again.search(ANONYMOUS, query)
    expect(moved.hits[0]).toMatchObject({ segmentIndex: 0, chunkRef: handles[1] })
  })

  it('goes on at the byte where a budget ended a text', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const texts = ['größer und kleiner', 'ibex', 'heron']
    for (const [i, each] of texts.entries()) {
      await documents.ingest(ANONYMOUS, request({ documents: [text(`${i}`, each)] }))
    }
    const handles = ['0:1', 'nonsense', '1:1', '2:1']
    const all: string[] = []
    let place = { handle: 0, byte: 0 }
    for (;;) {
      const answer = await documents.expand(ANONYMOUS, {
        tenant: 'acme',
        handles: handles.slice(place.handle),
        includeText: true,
        tokenBudget: 2,
        firstByte: place.byte,
      })
      for (const { text: piece, fromByte } of answer.content) {
        if (fromByte === 0) all.push(piece)
        else all.push(`${all.pop()}${piece}`)
      }
      const { next } = answer
      if (next === undefined) break
      expect(answer.textTokens).toBeLessThanOrEqual(2)
      place = { handle: place.handle + next.handle, byte: next.byte }
    }
    expect(all).toEqual(texts)
    const none = { tenant: 'acme', handles, includeText: true, tokenBudget: 0 }
    expect(await documents.expand(ANONYMOUS, none)).not.toHaveProperty('next')
    await expect(
      documents.expand(ANONYMOUS, { tenant: 'acme', handles, includeText: true, firstByte: -1 }),
    ).rejects.toThrow('firstByte: expected an integer from 0, got -1')
  })

  it('answers each wrong handle by its kind (RET-11.10-err-format, RET-11.10-err-evicted, RET-11.10-err-tenant)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'mine')] }))
    await documents.ingest(
      ANONYMOUS,
      request({ tenant: 'rival', documents: [text('a', 'an otter')] }),
    )
    const { hits } = await documents.search(ANONYMOUS, {
      tenant: 'rival',
      query: 'otter',
      limit: 1,
    })
    const theirs = hits[0]?.chunkRef ?? ''
    const unknown = `${'0'.repeat(32)}:0`
    const errors: [string, string, string][] = [
      ['abc', 'invalid_format', 'invalid result_id format'],
      ['1:2:3', 'invalid_format', 'invalid result_id format'],
      ['a:b', 'invalid_format', 'invalid result_id format'],
      ['9999:0', 'evicted', 'segment not found'],
      [unknown, 'evicted', 'segment not found'],
      ['0:99', 'evicted', 'doc_id out of range'],
      ['0:99999999999999999999', 'evicted', 'doc_id out of range'],
      ['0:0', 'evicted', 'doc_id out of range'],
      ['1:1', 'tenant_mismatch', 'tenant mismatch'],
      [theirs, 'tenant_mismatch', 'tenant mismatch'],
    ]
    const answer = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [...errors.map(([handle]) => handle), '0:1'],
      includeText: true,
    })
    expect(answer.errors).toEqual(errors.map(([handle, kind, error]) => ({ handle, kind, error })))
    expect(answer.content.map((content) => content.text)).toEqual(['mine'])
  })

  it('refuses to give text that is not what was stored', async () => {
    const { segments } = await backend.open()
    const flipped = altered(segments, {
      readRange: async (ref, offset, length) => {
        const bytes = await segments.readRange(ref, offset, length)
        // Checksums cover the payload only: that the header was changed is seen by its hash.
        const at = Buffer.from(bytes).indexOf('2026-01-31')
        bytes[at] = (bytes[at] ?? 0) ^ 1
        return bytes
      },
    })
    const documents = await openOn(flipped)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'precious')] }))
    const expansion = { tenant: 'acme', handles: ['0:1'], includeText: true }
    await expect(documents.expand(ANONYMOUS, expansion)).rejects.toMatchObject({
      code: 'SEGMENT_CORRUPT',
    })
  })

  it('charges text against the budget and cuts only the first chunk', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const passages = ['é'.repeat(50), 'b'.repeat(40), 'c'.repeat(40), 'dd']
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', ...passages)] }))
    const expandWithin = async (tokenBudget?: number) => {
      const { content, textTokens, leftOut, chunks } = await documents.expand(ANONYMOUS, {
        tenant: 'acme',
        handles: ['0:1', '0:2', '0:3', '0:4'],
        includeText: true,
        ...(tokenBudget === undefined ? {} : { tokenBudget }),
      })
      expect(chunks).toHaveLength(4)
      return { lengths: content.map((one) => one.text.length), textTokens, leftOut, content }
    }
    const all = { lengths: [50, 40, 40, 2], textTokens: 46, leftOut: 0 }
    expect(await expandWithin()).toMatchObject(all)
    expect(await expandWithin(46)).toMatchObject(all)
    // The last would fit, but the one before it did not.
    expect(await expandWithin(44)).toMatchObject({ lengths: [50, 40], textTokens: 35, leftOut: 2 })
    expect(await expandWithin(25)).toMatchObject({ lengths: [50], textTokens: 25, leftOut: 3 })
    const cut = await expandWithin(5)
    expect(cut).toMatchObject({ lengths: [10], textTokens: 5, leftOut: 3 })
    expect(cut.content[0]?.isCut).toBe(true)
    expect(await expandWithin(0)).toMatchObject({ lengths: [], textTokens: 0, leftOut: 4 })
    await expect(expandWithin(-1)).rejects.toThrow(RangeError)
  })
})
