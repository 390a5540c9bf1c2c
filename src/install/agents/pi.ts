// checkpointd for Pi, version 1. `checkpointd init` writes this file, and `checkpointd uninstall` removes it.
//
// It tells checkpointd's hook client what happens, and sends what checkpointd answers when the agent stops. It decides
// nothing itself, and whatever becomes of the client, Pi goes on.
import { spawnSync } from "node:child_process"

const CLIENT = "/abs/checkpointd-hook"
const STOP_MS = 7000
const PLAIN_MS = 2000
// Tells one call from the next: two within a second that say the same count as one that came twice.
let calls = 0

// Runs the client, and returns the text of its answer. Pi waits for it: it would go on before a stop is answered, and the
// client ends at once.
function call(hook, ctx, fields, timeout = PLAIN_MS) {
  const sessions = ctx.sessionManager
  const place = { session_id: sessions.getSessionId(), transcript_path: sessions.getSessionFile(), cwd: ctx.cwd }
  const input = JSON.stringify({ hook_event_name: hook, call: ++calls, ...place, ...fields })
  const stdio = ["pipe", "pipe", "ignore"]
  const ran = spawnSync(CLIENT, ["pi"], { input, stdio, timeout, killSignal: "SIGKILL", encoding: "utf8" })
  return reason(ran.stdout)
}

function reason(said) {
  try {
    return JSON.parse(said).reason
  } catch {
    return undefined
  }
}

function words(message) {
  const texts = (message.content ?? []).filter((part) => part.type === "text")
  return texts.map((part) => part.text).join("\n")
}

function ended(pi, message, ctx) {
  const why = message.stopReason
  if (why === "aborted" || why === "error") {
    call("Interrupt", ctx, { cause: why === "aborted" ? "user" : "api_error" })
  } else if (why === "stop" && !ctx.hasPendingMessages?.()) {
    const text = call("Stop", ctx, { last_assistant_message: words(message) }, STOP_MS)
    if (text) pi.sendUserMessage(text, { deliverAs: "followUp" })
  }
}

export default function (pi) {
  const on = (name, handle) =>
    pi.on(name, (event, ctx) => {
      try {
        handle(event, ctx)
      } catch {
        // Pi goes on.
      }
    })
  on("session_start", (event, ctx) => {
    // Commands inherit it.
    process.env.CHECKPOINTD_PI_SESSION = ctx.sessionManager.getSessionId()
    call("SessionStart", ctx, { source: event.reason })
  })
  on("input", (event, ctx) => call("UserPromptSubmit", ctx, { prompt: event.text }))
  on("tool_call", (event, ctx) => {
    const { toolName, toolCallId, input } = event
    call("PreToolUse", ctx, { tool_name: toolName, tool_use_id: toolCallId, tool_input: input })
  })
  on("tool_result", (event, ctx) => {
    const { toolName, toolCallId, input, content, isError } = event
    const tool_response = { content, isError }
    call("PostToolUse", ctx, { tool_name: toolName, tool_use_id: toolCallId, tool_input: input, tool_response })
  })
  on("turn_end", (event, ctx) => ended(pi, event.message, ctx))
  on("session_before_compact", (_, ctx) => call("PreCompact", ctx, {}))
  on("session_compact", (_, ctx) => call("PostCompact", ctx, {}))
  on("session_shutdown", (event, ctx) => call("SessionEnd", ctx, { reason: event.reason }))
}
