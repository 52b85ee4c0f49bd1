import { describe, expect, it } from 'vitest'
import { formatChunkRef, parseHandle } from './handle.js'

describe('parseHandle', () => {
  it('reads an index and a document', () => {
    expect(parseHandle('3:14')).toEqual({ kind: 'positional', segmentIndex: 3, docId: 14 })
  })

  it('reads a segment id and a document, even if the id is all digits', () => {
    const segmentId = '01000000000000000200000000000000'
    expect(parseHandle(formatChunkRef(segmentId, 5))).toEqual({
      kind: 'stable',
      segmentId,
      docId: 5,
    })
    expect(parseHandle(`${'af'.repeat(16)}:0`)?.kind).toBe('stable')
  })

  it('refuses everything else', () => {
    for (const text of [
      '',
      'abc',
      '1:2:3',
      'a:b',
      '1:',
      ':1',
      '-1:0',
      '+1:0',
      '1.5:0',
      ' 1:0',
      '1:0\n',
    ]) {
      expect(parseHandle(text), JSON.stringify(text)).toBeUndefined()
    }
    expect(parseHandle(`${'AF'.repeat(16)}:0`)).toBeUndefined()
    expect(parseHandle(`${'af'.repeat(17)}:0`)).toBeUndefined()
  })
})
