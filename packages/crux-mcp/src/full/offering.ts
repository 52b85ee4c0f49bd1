import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/server'
import type { Caller } from 'crux-types'
import type { FullCall } from './full-request.js'

/** What one text of a resource is. */
export interface ResourceText {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** Bytes of a resource, as base64. */
export interface ResourceBlob {
  readonly uri: string
  readonly mimeType: string
  readonly blob: string
}

/** All resources of a source as they were at one moment. */
export interface ResourceView {
  /** Undefined when there is no such resource. */
  read(uri: string): ResourceText | ResourceBlob | undefined
}

/** Documents that clients attach or show. */
export interface ResourceSource {
  list(caller: Caller): Promise<readonly Resource[]>
  readonly templates: readonly ResourceTemplateType[]
  /** Undefined when there is no such resource for this caller. */
  read(caller: Caller, uri: string): Promise<ResourceText | ResourceBlob | undefined>
  /** What the resources of a caller depend on: callers with the same sight have the same. */
  sight(caller: Caller): string
  /** All that a caller may read, for whoever reads much of it. */
  view(caller: Caller): Promise<ResourceView>
  /** Values for an argument of one of the templates; undefined when the template is not of here. */
  complete(
    caller: Caller,
    template: string,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>>,
  ): Promise<readonly string[] | undefined>
}

/** A text that a user picks to begin with. */
export interface OfferedPrompt {
  readonly listed: Prompt
  get(
    args: Readonly<Record<string, string>>,
    call: FullCall,
  ): GetPromptResult | InputRequiredResult | Promise<GetPromptResult | InputRequiredResult>
  /** Values for an argument. */
  complete?(caller: Caller, argument: string): Promise<readonly string[]>
}

/** A tool that exists in the full profile only. */
export interface OfferedTool {
  readonly listed: Tool
  call(
    args: Readonly<Record<string, unknown>>,
    call: FullCall,
  ): CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>
}

/** What stands beside the tools of the registry. */
export interface Offering {
  readonly resources: readonly ResourceSource[]
  prompts(): readonly OfferedPrompt[]
  tools(): readonly OfferedTool[]
}
