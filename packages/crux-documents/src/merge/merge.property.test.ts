import { ANONYMOUS } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentStore } from '../document-store.js'
import { BACKENDS, openOn, request, text } from '../testing/document-stores.js'

const WORDS = 8
const DOC_IDS = ['a', 'b', 'c', 'd', 'e']

const ingestion = fc.record({
  documents: fc.uniqueArray(
    fc.record({
      docId: fc.constantFrom(...DOC_IDS),
      words: fc.array(fc.array(fc.nat(WORDS - 1), { minLength: 1, maxLength: 4 }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { selector: ({ docId }) => docId, maxLength: 3 },
  ),
  remove: fc.constantFrom<readonly string[]>([], [], ['a'], ['b', 'c'], ['e']),
  after: fc.constantFrom('nothing', 'nothing', 'merge', 'restart', 'merge and restart'),
})

type StepsAndPolicy = typeof history extends fc.Arbitrary<infer Value> ? Value : never

const history = fc.record({
  steps: fc.array(ingestion, { minLength: 1, maxLength: 12 }),
  merge: fc.constantFrom('background' as const, 'manual' as const),
  minSegments: fc.constantFrom(2, 3),
  maxFrames: fc.constantFrom(6, 16, 1000),
})

/** The removal of a document that no other segment holds is left out by a merge, which is then smaller than planned. */
const REMOVALS_LEFT_OUT: StepsAndPolicy = {
  steps: ['b', 'a', 'e e', '-a', 'd', '-b', ''].map((step) => {
    const [docId = '', ...more] = step.split(' ')
    const isStored = DOC_IDS.includes(docId)
    return {
      documents: isStored ? [{ docId, words: [[0], ...more.map(() => [0])] }] : [],
      remove: step.startsWith('-') ? [step.slice(1)] : [],
      after: 'nothing' as const,
    }
  }),
  merge: 'manual',
  minSegments: 2,
  maxFrames: 6,
}

interface Given {
  readonly docId: string
  readonly version: number
  readonly passage: string
}

const passageOf = (words: readonly number[]) => words.map((word) => `word${word}`).join(' ')

/** Every chunk that shares a word with `word0 .. word7`: what it is, its score and its reference. */
async function answers(documents: DocumentStore, query: string) {
  const { hits } = await documents.search(ANONYMOUS, { tenant: 'acme', query, limit: 1000 })
  const handles = hits.map(({ chunkRef }) => chunkRef)
  const { content, errors } = await documents.expand(ANONYMOUS, {
    tenant: 'acme',
    handles,
    includeText: true,
  })
  expect(errors).toEqual([])
  return content.map(({ docId, chunkIndex, text: passage }, i) => ({
    name: `${docId}/${chunkIndex}`,
    docId,
    passage,
    score: hits[i]?.score ?? 0,
    ref: handles[i] ?? '',
  }))
}

async function scoresOf(documents: DocumentStore, query: string) {
  const all = await answers(documents, query)
  return new Map(all.map(({ name, score }) => [name, score]))
}

describe.each(BACKENDS)('merging on %s', (_name, backend) => {
  it('changes no answer, and no reference, under any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ steps, merge, minSegments, maxFrames }) => {
        const { segments, reopen } = await backend.open()
        const policy = { minSegments, maxFrames, maxBytes: 1024 * 1024 }
        const warnings: string[] = []
        const open = async (from: typeof segments) =>
          openOn(from, true, warnings, { merge, mergePolicy: policy })
        let documents = await open(segments)
        const model = new Map<string, { version: number; passages: readonly string[] }>()
        let versions = 0
        const given = new Map<string, Given>()
        const refOf = new Map<string, string>()

        const look = async () => {
          const query = Array.from({ length: WORDS }, (_, i) => `word${i}`).join(' ')
          for (const { docId, name, passage, ref } of await answers(documents, query)) {
            const version = model.get(docId)?.version ?? 0
            // One chunk has one reference, for ever.
            expect(refOf.get(`${name}@${version}`) ?? ref).toBe(ref)
            refOf.set(`${name}@${version}`, ref)
            given.set(ref, { docId, version, passage })
          }
        }

        for (const { documents: changed, remove, after } of steps) {
          const named = new Set(changed.map(({ docId }) => docId))
          const taken = remove.filter((docId) => !named.has(docId))
          await documents.ingest(
            ANONYMOUS,
            request({
              documents: changed.map(({ docId, words }) => text(docId, ...words.map(passageOf))),
              remove: taken,
            }),
          )
          for (const docId of taken) model.delete(docId)
          for (const { docId, words } of changed) {
            const passages = words.map(passageOf)
            if (model.get(docId)?.passages.join('|') === passages.join('|')) continue
            versions += 1
            model.delete(docId)
            model.set(docId, { version: versions, passages })
          }
          await look()
          if (after.startsWith('merge')) await documents.merge()
          if (after.endsWith('restart')) {
            await documents.close()
            documents = await open(await reopen())
          }
          await look()
        }
        const before = documents.stats()
        await documents.merge()
        expect(await documents.merge()).toMatchObject({ merged: 0 })
        expect(documents.stats()).toMatchObject({
          documents: before.documents,
          chunks: before.chunks,
        })
        await look()

        const fresh = await openOn((await backend.open()).segments)
        for (const [docId, { passages }] of model) {
          await fresh.ingest(ANONYMOUS, request({ documents: [text(docId, ...passages)] }))
        }
        for (const query of ['word0', 'word1 word2', 'word3 word3 word7', 'word4 word5 word6']) {
          const want = await scoresOf(fresh, query)
          const got = await scoresOf(documents, query)
          expect([...got.keys()].sort()).toEqual([...want.keys()].sort())
          for (const [name, score] of want) expect(got.get(name)).toBeCloseTo(score, 5)
        }

        const handles = [...given.keys()]
        const expanded = await documents.expand(ANONYMOUS, {
          tenant: 'acme',
          handles,
          includeText: true,
        })
        const texts = new Map(expanded.content.map((one) => [one.id, one]))
        const evicted = new Map(expanded.errors.map(({ handle, kind }) => [handle, kind]))
        for (const [ref, { docId, version, passage }] of given) {
          const isCurrent = model.get(docId)?.version === version
          expect(evicted.get(ref)).toBe(isCurrent ? undefined : 'evicted')
          expect(texts.get(ref)?.text).toBe(isCurrent ? passage : undefined)
          if (isCurrent) expect(texts.get(ref)?.chunkRef).toBe(ref)
        }
        const verified = await documents.verifyCompanions()
        expect(verified.problems).toEqual([])
        expect(warnings).toEqual([])
        await documents.close()
        await fresh.close()
      }),
      { numRuns: backend.runs, examples: [[REMOVALS_LEFT_OUT]] },
    )
  })
})
