import { context, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/** A span around one tool call. */
export interface ToolSpan {
  /** Run the handler inside the span, so that what it starts hangs below it. */
  run<T>(handler: () => T): T
  /** @param failure - The message of the error; absent when the call succeeded. */
  end(failure?: string): void
}

/** Starts a span for each tool call. */
export interface ToolSpans {
  start(tool: string, passport: string): ToolSpan
}

const SYSTEM = 'cuecrux'

/**
 * Spans of tool calls by OpenTelemetry's API.
 *
 * They go to the SDK that was registered in this process; without one they go nowhere and cost nothing.
 *
 * @param tracer - In place of the one that the registered provider gives.
 */
export function createToolSpans(tracer: Tracer = trace.getTracer('crux')): ToolSpans {
  return {
    start(tool, passport) {
      const attributes = {
        'gen_ai.system': SYSTEM,
        'gen_ai.operation.name': tool,
        'gen_ai.agent.id': passport,
        'cuecrux.tool': tool,
      }
      const span = tracer.startSpan('mcp.tool_dispatch', { attributes })
      span.addEvent('mcp.tool_dispatch.start', attributes)
      return {
        run: (handler) => context.with(trace.setSpan(context.active(), span), handler),
        end: (failure) => {
          if (failure !== undefined) {
            span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
          }
          span.end()
        },
      }
    },
  }
}
