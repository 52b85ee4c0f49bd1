import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { createToolSpans } from './tool-spans.js'

describe('createToolSpans', () => {
  it('record the start before the handler runs, with what is called and by whom (MCP-11.6-pipe-otel)', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    const spans = createToolSpans(provider.getTracer('test'))

    const span = spans.start('query_facts', 'anna')
    await new Promise((resolve) => setTimeout(resolve, 5))
    const handledAt = Date.now()
    expect(span.run(() => 42)).toBe(42)
    span.end()
    spans.start('store_fact', '__anon__').end('refused')

    const [read, write] = exporter.getFinishedSpans()
    expect(read).toMatchObject({
      name: 'mcp.tool_dispatch',
      status: { code: SpanStatusCode.UNSET },
    })
    const [event] = read?.events ?? []
    expect(event).toMatchObject({
      name: 'mcp.tool_dispatch.start',
      attributes: {
        'gen_ai.system': 'cuecrux',
        'gen_ai.operation.name': 'query_facts',
        'gen_ai.agent.id': 'anna',
        'cuecrux.tool': 'query_facts',
      },
    })
    const [seconds = 0, nanoseconds = 0] = event?.time ?? []
    expect(seconds * 1000 + nanoseconds / 1e6).toBeLessThan(handledAt)
    expect(write?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'refused' })
  })

  it('do nothing without an SDK', () => {
    const span = createToolSpans().start('query', 'anna')
    expect(span.run(() => trace.getSpan(context.active())?.isRecording() ?? false)).toBe(false)
    span.end()
  })
})
