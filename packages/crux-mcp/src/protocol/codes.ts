/** Version of the Model Context Protocol that is spoken, whatever a client asks for. */
export const PROTOCOL_VERSION = '2024-11-05'

/** Name under which the server introduces itself. */
export const SERVER_NAME = 'crux'

/** The body is no JSON-RPC request. */
export const PARSE_ERROR = -32700
/** Reserved by JSON-RPC for requests that are JSON but no request; not raised here. */
export const INVALID_REQUEST = -32600
/** No such method or tool. */
export const METHOD_NOT_FOUND = -32601
/** Arguments are missing or of the wrong form. */
export const INVALID_PARAMS = -32602
/** The fault is on this side. */
export const INTERNAL_ERROR = -32603
/** The caller may not use the tool, or the operator switched it off. */
export const CAPABILITY_DENIED = -32030
/** Active legal holds cover what was to be forgotten. */
export const LEGAL_HOLD_ACTIVE = -32044
/** The relay on stdio could not reach the daemon; raised there and nowhere else. */
export const UPSTREAM_ERROR = -32000
