// checkpointd for the DeepSeek Harness, version 1. `checkpointd init` writes this file, and `checkpointd uninstall` removes it.
//
// It tells checkpointd's hook client what happens, and sends what checkpointd answers when the agent stops. It decides
// nothing itself, and whatever becomes of the client, the agent goes on: the harness ends a run whose plugin throws, and
// waits for one that hangs, so nothing here does either.
import { execFile } from "node:child_process"

const CLIENT = "/abs/checkpointd-hook"
const STOP_MS = 7000
const PLAIN_MS = 2000
// Tells one call from the next: two within a second that say the same count as one that came twice.
let calls = 0
// By session: the one that it is a part of, and what its agent said last.
const parents = new Map()
const said = new Map()

// Runs the client, and returns the text of its answer.
function call(hook, session, fields, timeout = PLAIN_MS) {
  return new Promise((done) => {
    setTimeout(done, timeout + 500).unref()
    let top = session.id
    while (parents.get(top)) top = parents.get(top)
    const agent_id = top === session.id ? undefined : session.id
    const place = { session_id: top, agent_id, cwd: session.header.cwd }
    const input = JSON.stringify({ hook_event_name: hook, call: ++calls, ...place, ...fields })
    const limits = { timeout, killSignal: "SIGKILL", encoding: "utf8" }
    const child = execFile(CLIENT, ["dsh"], limits, (_, stdout) => done(reason(stdout)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  }).catch(() => undefined)
}

function reason(answer) {
  try {
    return JSON.parse(answer).reason
  } catch {
    return undefined
  }
}

function words(content) {
  const texts = (content ?? []).filter((part) => part.type === "text")
  return texts.map((part) => part.text).join("\n")
}

async function began(session, messages) {
  if (!parents.has(session.id)) {
    parents.set(session.id, session.header.parentSession)
    if (!session.header.parentSession) await call("SessionStart", session, { source: "startup" })
  }
  for (const { content, source } of messages ?? []) {
    const isSent = source?.kind === "user" || source?.kind === "checkpointd"
    if (isSent) await call("UserPromptSubmit", session, { prompt: words(content) })
  }
}

function used({ name, callId, arguments: input }) {
  return { tool_name: name, tool_use_id: callId, tool_input: input }
}

async function stopped(agent) {
  const session = agent.session
  const fields = { last_assistant_message: said.get(session.id) }
  if (parents.get(session.id)) return call("SubagentStop", session, fields)
  const text = await call("Stop", session, fields, STOP_MS)
  const source = { kind: "checkpointd" }
  const content = [{ type: "text", text }]
  if (text) agent.steer({ role: "user", id: crypto.randomUUID(), content, source })
}

function noted(session, { type, data }) {
  if (type === "assistant/message") said.set(session.id, words(data.message.content))
  const kind = type === "turn/end" ? data.reason?.kind : "completed"
  if (kind !== "completed") return call("Interrupt", session, { cause: /error|fail/.test(kind) ? "api_error" : "user" })
}

export const name = "checkpointd"
export function apply(ctx) {
  const quietly = async (handle) => {
    try {
      await handle()
    } catch {
      // The agent goes on.
    }
  }
  ctx.on("agent/pre-step", async ({ agent, messages }, next) => {
    await quietly(() => began(agent.session, messages))
    return next()
  })
  ctx.on("tools/pre-execute", async (tool, next) => {
    await quietly(() => call("PreToolUse", tool.agent.session, used(tool)))
    return next()
  })
  ctx.on("tools/post-execute", async (tool, result, next) => {
    const { kind, exitCode, timedOut } = result?.value ?? {}
    const tool_response = { content: result?.content, isError: result?.isError, kind, exitCode, timedOut }
    await quietly(() => call("PostToolUse", tool.agent.session, { ...used(tool), tool_response }))
    return next()
  })
  ctx.on("agent/turn-stopping", ({ agent }) => quietly(() => stopped(agent)))
  ctx.on("session/event", (session, event) => {
    quietly(() => noted(session, event))
  })
}
