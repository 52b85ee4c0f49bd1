import type { ChunkInput, DocumentInput } from 'crux-documents'
import { createSemanticProfile, loadHashes, type SemanticProfile } from 'crux-segment'
import { createPauser } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'
import { parseInput } from '../validation.js'

const chunkSchema = z.object({
  chunk_id: z.string().describe('Unique within the document.'),
  text: z.string().describe('At most 4 MiB of UTF-8.'),
  chunk_index: z.int().min(0).nullish(),
  heading_path: z.array(z.string()).nullish().describe('Titles around it, outermost first.'),
  dense_vector: z
    .array(z.number())
    .nullish()
    .describe('What an embedder made of the text; of one length throughout the request.'),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})

const documentFacts = {
  doc_id: z.string().describe('Stable name within the corpus, such as a relative path.'),
  title: z.string().nullish(),
  url: z.string().nullish(),
  source_timestamp: z.string().nullish().describe('RFC 3339.'),
}

const embeddingFacts = {
  model: z.string().min(1),
  dimensions: z.int().min(1),
  tokenizer: z.string().default('model_default'),
  prompt_template_version: z.string().default('none'),
  normalisation: z.string().default('none'),
}

const profileSchema = z.looseObject({
  ...embeddingFacts,
  revision: z.string().optional().describe('Of the model.'),
  profile_id: z.string().optional().describe('Held against the other values.'),
})

const requestFacts = {
  tenant_id: z.string(),
  corpus_id: z.string(),
  semantic_profile: profileSchema
    .nullish()
    .describe('The embedder that made the vectors; only vectors of one embedder are compared.'),
  remove: z
    .array(z.string())
    .optional()
    .describe('Ids of documents to take out in the same commit.'),
}

// A request may hold 65,536 chunks. Checking them in one go would hold up every other request, so
// the route's schema checks the frame only, and documents and chunks are checked piece by piece.
const frameSchema = z.object({ ...requestFacts, documents: z.array(z.unknown()) })
const outerDocument = z.object({ ...documentFacts, chunks: z.array(z.unknown()) })
const wholeSchema = z.object({
  ...requestFacts,
  documents: z
    .array(z.object({ ...documentFacts, chunks: z.array(chunkSchema) }))
    .describe('At most 4,096.'),
})

const corpusQuery = z.object({ tenant_id: z.string(), corpus_id: z.string() })

/** Documents: put in, list. */
export function ingestRoutes({
  services,
  config,
}: Pick<HttpDependencies, 'services' | 'config'>): readonly Route[] {
  const requireOn = (): void => {
    if (config.localIngest) return
    throw new ProblemError('not-found', 'local ingest disabled by CORECRUXD_LOCAL_INGEST=0/false')
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/local/ingest',
      summary: 'Put documents in: new ones are added, changed ones replaced, equal ones left.',
      access: ['admin:write'],
      bodyClass: 'bulk',
      isLong: true,
      body: frameSchema,
      documentedBody: wholeSchema,
      replies: {
        202: {
          description: 'Durable and, with the index on, searchable.',
          schema: z.looseObject({
            ingested: z.int().describe('Chunks stored.'),
            documents: z.int().describe('Documents that were new or changed.'),
            unchanged: z.int(),
            removed: z.int(),
            frame_count: z.int(),
            sealed: z.boolean(),
            segment_seq: z.int(),
            receipt_id: z.string().nullable(),
            dense_vectors: z.int().describe('Vectors stored, those made here included.'),
            dense_dim: z.int().nullable().describe('Numbers per vector.'),
            warnings: z.array(z.string()),
          }),
        },
      },
      async run({ body }, { anyTenant, signal }) {
        requireOn()
        const documents = await parseDocuments(body.documents, signal)
        const result = await services.documents.ingest(
          anyTenant(),
          {
            tenant: body.tenant_id,
            corpus: body.corpus_id,
            documents,
            ...(body.remove === undefined ? {} : { remove: body.remove }),
            ...(body.semantic_profile
              ? { semanticProfile: await profileOf(body.semantic_profile) }
              : {}),
          },
          { signal },
        )
        return {
          status: 202,
          json: {
            ingested: result.chunks,
            documents: result.documents,
            unchanged: result.unchanged,
            removed: result.removed,
            frame_count: result.frameCount,
            sealed: result.sealed,
            segment_seq: result.segmentSeq,
            receipt_id: result.receiptId,
            dense_vectors: result.vectors,
            dense_dim: result.vectorDims,
            warnings: result.warnings,
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/local/documents',
      summary: 'The live documents of one corpus, by id.',
      access: ['query:read', 'admin:read'],
      query: corpusQuery,
      replies: {
        200: {
          description: 'All of them.',
          schema: z.object({
            documents: z.array(
              z.object({
                doc_id: z.string(),
                title: z.string().nullable(),
                url: z.string().nullable(),
                revision: z.string().describe('Equal for equal content.'),
                chunks: z.int(),
              }),
            ),
          }),
        },
      },
      async run({ query }, { anyTenant }) {
        requireOn()
        const documents = await services.documents.list(anyTenant(), {
          tenant: query.tenant_id,
          corpus: query.corpus_id,
        })
        return {
          status: 200,
          json: {
            documents: documents.map(({ docId, title, url, revision, chunks }) => ({
              doc_id: docId,
              title,
              url,
              revision,
              chunks,
            })),
          },
        }
      },
    }),
  ]
}

/** The profile that the values of the client give. */
async function profileOf(given: z.output<typeof profileSchema>): Promise<SemanticProfile> {
  const { model, dimensions, tokenizer, prompt_template_version, normalisation } = given
  const profile = createSemanticProfile(
    { model, dimensions, tokenizer, prompt_template_version, normalisation },
    await loadHashes(),
    given.revision,
  )
  if (given.profile_id === undefined || given.profile_id === profile.profile_id) return profile
  throw new ProblemError(
    'bad-request',
    `semantic_profile: profile_id ${given.profile_id}, the other values give ${profile.profile_id}`,
  )
}

async function parseDocuments(
  raw: readonly unknown[],
  signal: AbortSignal,
): Promise<DocumentInput[]> {
  const pause = createPauser({ signal })
  const documents: DocumentInput[] = []
  for (const [i, item] of raw.entries()) {
    const outer = parseInput(outerDocument, item, `body: documents.${i}`)
    const chunks: ChunkInput[] = []
    for (const [j, part] of outer.chunks.entries()) {
      const chunk = parseInput(chunkSchema, part, `body: documents.${i}.chunks.${j}`)
      chunks.push({
        chunkId: chunk.chunk_id,
        text: chunk.text,
        ...(typeof chunk.chunk_index === 'number' ? { chunkIndex: chunk.chunk_index } : {}),
        ...(chunk.heading_path ? { headingPath: chunk.heading_path } : {}),
        ...(chunk.metadata ? { metadata: chunk.metadata } : {}),
        ...(chunk.dense_vector ? { vector: chunk.dense_vector } : {}),
      })
      await pause()
    }
    documents.push({
      docId: outer.doc_id,
      ...(typeof outer.title === 'string' ? { title: outer.title } : {}),
      ...(typeof outer.url === 'string' ? { url: outer.url } : {}),
      ...(typeof outer.source_timestamp === 'string'
        ? { sourceTimestamp: outer.source_timestamp }
        : {}),
      chunks,
    })
    await pause()
  }
  return documents
}
