// checkpointd for opencode and its fork Kilo, version 1. `checkpointd init` writes this file, and `checkpointd uninstall` removes it.
//
// It tells checkpointd's hook client what happens, and sends what checkpointd answers when the agent stops. It decides
// nothing itself, and whatever becomes of the client, the agent goes on.
import { spawn, spawnSync } from "node:child_process"

const AGENT = "opencode"
const CLIENT = "/abs/checkpointd-hook"
const STOP_MS = 7000
const PLAIN_MS = 2000
// `opencode run` ends with its first stop, so nothing can be sent then. `kilo run` ends unless something is sent at once.
const RUNS = process.argv.slice(2).includes("run")
const ENDS_AT_STOP = RUNS && AGENT === "opencode"
const AT_ONCE = RUNS && AGENT === "kilo"

// The agent makes a plugin once for each folder, all in one process, so this is shared.
const parents = new Map()
const working = new Set()
let last = Promise.resolve()
// Tells one stop from the next: two within a second say the same otherwise, and count as one call that came twice.
let calls = 0

// Runs the client after the calls before it, and returns the text of its answer.
function call(hook, session, fields, ms = PLAIN_MS) {
  const agent_id = parents.has(session) ? session : undefined
  const payload = { hook_event_name: hook, session_id: parents.get(session) ?? session, agent_id, call: ++calls, ...fields }
  if (AT_ONCE) return runAtOnce(JSON.stringify(payload), ms)
  const mine = last.then(() => run(JSON.stringify(payload), ms))
  last = mine.catch(() => undefined)
  return last
}

function run(payload, ms) {
  return new Promise((resolve) => {
    const child = spawn(CLIENT, [AGENT], { stdio: ["pipe", "pipe", "ignore"], timeout: ms, killSignal: "SIGKILL" })
    let said = ""
    child.stdout.on("data", (piece) => (said += piece))
    child.on("error", () => resolve())
    child.on("close", () => resolve(reason(said)))
    child.stdin.on("error", () => {})
    child.stdin.end(payload)
  })
}

function runAtOnce(input, ms) {
  const stdio = ["pipe", "pipe", "ignore"]
  return reason(spawnSync(CLIENT, [AGENT], { input, stdio, timeout: ms, killSignal: "SIGKILL" }).stdout)
}

function reason(said) {
  try {
    return JSON.parse(said).reason
  } catch {
    return undefined
  }
}

async function stopped(client, session, cwd) {
  if (parents.has(session)) return call("SubagentStop", session, { cwd })
  // Idle is told again after errors and aborts.
  if (!working.delete(session)) return
  const text = await call("Stop", session, { cwd, can_continue: !ENDS_AT_STOP }, STOP_MS)
  if (!text || ENDS_AT_STOP || working.has(session)) return
  await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text }] } })
}

async function happened(client, cwd, type, told) {
  const session = told.sessionID
  if (type === "session.created") {
    const { id, parentID } = told.info
    if (parentID) parents.set(id, parents.get(parentID) ?? parentID)
    call(parentID ? "SubagentStart" : "SessionStart", id, { cwd, source: "startup" })
  } else if (type === "session.idle") {
    await stopped(client, session, cwd)
  } else if (type === "session.error" && session && working.delete(session)) {
    const cause = told.error?.name === "MessageAbortedError" ? "user" : "api_error"
    call("Interrupt", session, { cwd, cause })
  } else if (type === "session.compacted") {
    call("PostCompact", session, { cwd })
  } else if (type === "permission.asked") {
    call("PermissionRequest", session, { cwd, tool_name: told.permission, tool_input: told.metadata ?? {} })
  } else if (type === "message.part.updated" && told.part.state?.status === "error") {
    const { sessionID, tool, callID, state } = told.part
    const fields = { tool_name: tool, tool_use_id: callID, tool_input: state.input, error: state.error }
    call("PostToolUseFailure", sessionID, { cwd, ...fields })
  }
}

export const Checkpointd = async ({ client, directory: cwd }) => ({
  dispose: () => last,
  event: async ({ event }) => {
    await happened(client, cwd, event.type, event.properties).catch(() => {})
  },
  "chat.message": async ({ sessionID }, { parts }) => {
    const texts = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    working.add(sessionID)
    call("UserPromptSubmit", sessionID, { cwd, prompt: texts.join("\n") })
  },
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    call("PreToolUse", sessionID, { cwd, tool_name: tool, tool_use_id: callID, tool_input: args })
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, { output, metadata }) => {
    const tool_response = { output, exit: metadata?.exit }
    call("PostToolUse", sessionID, { cwd, tool_name: tool, tool_use_id: callID, tool_input: args, tool_response })
  },
  "experimental.session.compacting": async ({ sessionID }) => {
    call("PreCompact", sessionID, { cwd, trigger: "auto" })
  },
  "shell.env": async ({ sessionID }, { env }) => {
    if (sessionID) env[`CHECKPOINTD_${AGENT.toUpperCase()}_SESSION`] = parents.get(sessionID) ?? sessionID
  },
})
