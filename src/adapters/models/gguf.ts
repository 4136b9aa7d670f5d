/**
 * A GGUF file inside this process, by `node-llama-cpp`: an optional package of hundreds of megabytes that the user
 * installs. It is named only here, loaded with the first question, and configured neither to download nor to compile
 * anything.
 */
import { open as openFile } from "node:fs/promises";
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelClient, ModelFailure, ModelPlace, ModelReply, ModelRequest } from "../../gateway/ports/model.ts";
import { contextTokensMax } from "./model-limits.ts";
import { stopped } from "./model-link.ts";

/** The part of `node-llama-cpp` 3 that is used; its own types exist only where it is installed. */
type Library = {
  readonly getLlama: (options: object) => Promise<Llama>;
  readonly LlamaChatSession: new (options: object) => Session;
};
type Llama = {
  readonly loadModel: (options: object) => Promise<Model>;
  readonly createGrammarForJsonSchema: (schema: JsonObject) => Promise<object>;
};
type Model = { readonly createContext: (options: object) => Promise<{ readonly getSequence: () => object }> };
type Session = {
  readonly prompt: (text: string, options: object) => Promise<string>;
  readonly dispose: (options: object) => void;
};

type Opened = { readonly library: Library; readonly llama: Llama; readonly sequence: object };

/** Tensors and entries of a file; a real model has some thousands of each. */
const countMax = 1_000_000n;

const packageName = "node-llama-cpp";

const absent: ModelFailure = {
  kind: "setup",
  cause: `a model file needs the package ${packageName}: install it beside sluicegate, or use another \`kind\``,
};

export type LoadLibrary = () => Promise<unknown>;

export function ggufModel(place: ModelPlace, load: LoadLibrary = () => import(packageName)): ModelClient {
  let opened: Promise<Result<Opened, ModelFailure>> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    complete: (request, signal) => {
      // One context answers one question at a time.
      const turn = last.then(async () => {
        opened ??= open(place.model, load);
        const ready = await opened;
        // A failed open is tried again with the next question: the file or the package may be installed later.
        if (!ready.ok) opened = undefined;
        return ready.ok ? answer(ready.value, request, signal) : ready;
      });
      // A question that fails must not block the next one.
      last = turn.catch(() => undefined);
      return Promise.race([turn, stop(signal)]);
    },
  };
}

/** Failure of a question whose time is over: loading a model cannot be interrupted. */
function stop(signal: AbortSignal): Promise<Result<ModelReply, ModelFailure>> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(err(stopped));
    else signal.addEventListener("abort", () => resolve(err(stopped)), { once: true });
  });
}

/**
 * True if the file begins like a GGUF file. From any other file the library would read arbitrary counts and never
 * return.
 */
async function isGguf(path: string): Promise<boolean> {
  try {
    await using file = await openFile(path, "r");
    const head = Buffer.alloc(24);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const version = head.readUInt32LE(4);
    const counted = head.readBigUInt64LE(8) <= countMax && head.readBigUInt64LE(16) <= countMax;
    return bytesRead === head.length && head.toString("latin1", 0, 4) === "GGUF" && version <= 16 && counted;
  } catch {
    return false;
  }
}

async function open(modelPath: string, load: LoadLibrary): Promise<Result<Opened, ModelFailure>> {
  let library: Library;
  try {
    library = (await load()) as Library; // an optional package: what it exports is checked by using it
  } catch {
    return err(absent);
  }
  const unusable: ModelFailure = {
    kind: "setup",
    cause: "its model file cannot be loaded: check the path, and that it is a GGUF file",
  };
  if (!(await isGguf(modelPath))) return err(unusable);
  try {
    // It logs to the console unless it is given a logger, and standard output may be a protocol stream.
    const llama = await library.getLlama({ build: "never", skipDownload: true, progressLogs: false, logger: () => {} });
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({ contextSize: { max: contextTokensMax } });
    return ok({ library, llama, sequence: context.getSequence() });
  } catch {
    return err(unusable);
  }
}

async function answer(
  { library, llama, sequence }: Opened,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Result<ModelReply, ModelFailure>> {
  if (signal.aborted) return err(stopped);
  let session: Session | undefined;
  try {
    const grammar = request.schema === undefined ? undefined : await llama.createGrammarForJsonSchema(request.schema);
    session = new library.LlamaChatSession({
      contextSequence: sequence,
      systemPrompt: request.instructions,
      autoDisposeSequence: false,
    });
    const text = await session.prompt(request.evidence, {
      ...(grammar === undefined ? {} : { grammar }),
      temperature: 0,
      maxTokens: request.outputTokensMax,
      signal,
    });
    return ok({ text, tokens: undefined, first: undefined });
  } catch {
    return err(signal.aborted ? stopped : { kind: "unreadable", cause: "its model gave no answer" });
  } finally {
    // The sequence stays: the next session finds the common beginning of both prompts in it and evaluates the rest.
    session?.dispose({ disposeSequence: false });
  }
}
