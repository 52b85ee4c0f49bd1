/** Rows of a table of vectors: one per word piece, in the order of the vocabulary. */
export type Table = readonly (readonly number[])[]

const FLOAT = 1
const INT64 = 7
const OPSET = 13
const IR_VERSION = 8

/**
 * A sentence model in ONNX form that looks each word piece up in a table, so that its vectors can
 * be computed by hand: `last_hidden_state[b, s] = table[input_ids[b, s]]`.
 *
 * It has the inputs of a BERT model, `input_ids`, `attention_mask` and `token_type_ids`, of which it
 * reads the first.
 *
 * @returns The bytes of `model.onnx`.
 * @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3 for the field numbers.
 */
export function tinyOnnxModel(table: Table): Uint8Array {
  const dims = table[0]?.length ?? 0
  const initializer = join(
    number(1, table.length), // dims
    number(1, dims),
    number(2, FLOAT), // data_type
    text(8, 'table'), // name
    block(9, new Uint8Array(Float32Array.from(table.flat()).buffer)), // raw_data
  )
  const node = join(
    text(1, 'table'), // input
    text(1, 'input_ids'),
    text(2, 'last_hidden_state'), // output
    text(4, 'Gather'), // op_type
  )
  const tokens = ['batch', 'sequence']
  const graph = join(
    block(1, node),
    text(2, 'tiny'),
    block(5, initializer),
    ...['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
      block(11, valueInfo(name, INT64, tokens)),
    ),
    block(12, valueInfo('last_hidden_state', FLOAT, [...tokens, dims])),
  )
  const opset = join(text(1, ''), number(2, OPSET))
  return join(number(1, IR_VERSION), block(7, graph), block(8, opset))
}

/** A named value of a shape; a dimension is a name when it varies. */
function valueInfo(name: string, type: number, shape: readonly (string | number)[]): Uint8Array {
  const dimensions = shape.map((one) =>
    block(1, typeof one === 'number' ? number(1, one) : text(2, one)),
  )
  const tensor = join(number(1, type), block(2, join(...dimensions)))
  return join(text(1, name), block(2, block(1, tensor)))
}

// Protocol Buffers: a field is its number and wire type (0 varint, 2 length and bytes), then the value.

function number(field: number, value: number): Uint8Array {
  return join(varint(field * 8), varint(value))
}

function block(field: number, bytes: Uint8Array): Uint8Array {
  return join(varint(field * 8 + 2), varint(bytes.length), bytes)
}

function text(field: number, value: string): Uint8Array {
  return block(field, new TextEncoder().encode(value))
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Uint8Array.of(...bytes, rest)
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}
