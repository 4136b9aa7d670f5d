// A language model of a few hundred kilobytes in the GGUF format (version 3): one layer of random weights over a
// vocabulary of bytes. It knows nothing, but it is loaded, constrained and run by exactly the code that runs a real one.
const embedding = 32;
const feedForward = 64;
const heads = 2;
const contextTokens = 8_192;
const alignment = 32;

const types = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const tokenTypes = { unknown: 2, control: 3, byte: 6 } as const;

type Part = Buffer;

function u32(value: number): Part {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
function u64(value: number): Part {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
function f32(values: Iterable<number>): Part {
  return Buffer.from(Float32Array.from(values).buffer);
}
function text(value: string): Part {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

const entry = {
  uint32: (key: string, value: number): Part => Buffer.concat([text(key), u32(types.uint32), u32(value)]),
  float32: (key: string, value: number): Part => Buffer.concat([text(key), u32(types.float32), f32([value])]),
  string: (key: string, value: string): Part => Buffer.concat([text(key), u32(types.string), text(value)]),
  array: (key: string, type: number, items: readonly Part[]): Part =>
    Buffer.concat([text(key), u32(types.array), u32(type), u64(items.length), ...items]),
};

/** Random numbers that are the same everywhere. */
function* noise(count: number): Generator<number> {
  let state = 12_345;
  for (let index = 0; index < count; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield (state / 0x7fffffff - 0.5) * 0.4;
  }
}

function* ones(count: number): Generator<number> {
  for (let index = 0; index < count; index += 1) yield 1;
}

/** The bytes of the file. */
export function tinyModel(): Buffer {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  const tokens = ["<unk>", "<s>", "</s>", ...bytes];
  const kinds = [tokenTypes.unknown, tokenTypes.control, tokenTypes.control, ...bytes.map(() => tokenTypes.byte)];
  const metadata = [
    entry.string("general.architecture", "llama"),
    entry.string("general.name", "tiny"),
    entry.uint32("general.alignment", alignment),
    entry.uint32("llama.vocab_size", tokens.length),
    entry.uint32("llama.context_length", contextTokens),
    entry.uint32("llama.embedding_length", embedding),
    entry.uint32("llama.block_count", 1),
    entry.uint32("llama.feed_forward_length", feedForward),
    entry.uint32("llama.rope.dimension_count", embedding / heads),
    entry.uint32("llama.attention.head_count", heads),
    entry.uint32("llama.attention.head_count_kv", heads),
    entry.float32("llama.attention.layer_norm_rms_epsilon", 1e-5),
    entry.string("tokenizer.ggml.model", "llama"),
    entry.array("tokenizer.ggml.tokens", types.string, tokens.map(text)),
    entry.array(
      "tokenizer.ggml.scores",
      types.float32,
      tokens.map((_, index) => f32([-index])),
    ),
    entry.array("tokenizer.ggml.token_type", types.int32, kinds.map(u32)),
    entry.uint32("tokenizer.ggml.unknown_token_id", 0),
    entry.uint32("tokenizer.ggml.bos_token_id", 1),
    entry.uint32("tokenizer.ggml.eos_token_id", 2),
  ];
  const tensors: readonly (readonly [string, readonly number[]])[] = [
    ["token_embd.weight", [embedding, tokens.length]],
    ["blk.0.attn_norm.weight", [embedding]],
    ["blk.0.attn_q.weight", [embedding, embedding]],
    ["blk.0.attn_k.weight", [embedding, embedding]],
    ["blk.0.attn_v.weight", [embedding, embedding]],
    ["blk.0.attn_output.weight", [embedding, embedding]],
    ["blk.0.ffn_norm.weight", [embedding]],
    ["blk.0.ffn_gate.weight", [embedding, feedForward]],
    ["blk.0.ffn_up.weight", [embedding, feedForward]],
    ["blk.0.ffn_down.weight", [feedForward, embedding]],
    ["output_norm.weight", [embedding]],
    ["output.weight", [embedding, tokens.length]],
  ];
  return file(metadata, tensors);
}

function file(metadata: readonly Part[], tensors: readonly (readonly [string, readonly number[]])[]): Buffer {
  const infos: Part[] = [];
  const data: Part[] = [];
  let offset = 0;
  for (const [name, shape] of tensors) {
    const count = shape.reduce((all, size) => all * size, 1);
    infos.push(Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)]));
    const values = padded(f32(name.includes("norm") ? ones(count) : noise(count)));
    data.push(values);
    offset += values.length;
  }
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(metadata.length), ...metadata, ...infos];
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}
