//! All agents whose hooks can be installed, in the order of names.

use journal::Agent;
use serde_json::json;

use super::{codex, configured, openhands};
use crate::install::check::Check;
use crate::install::hooks::{HookEntry, rows};
use crate::install::installer::{COMMANDS, DEFAULT, Folder, Format, Installer, Prompts};
use crate::install::plugin::Plugin;
use crate::install::settings::Shape;
use crate::install::tables::string;
use crate::install::version::Version;

/// All installers, a row for each agent.
pub(super) static INSTALLERS: [Installer; Agent::HOSTS.len()] = [
    ANTIGRAVITY,
    CLAUDE,
    CODEX,
    COPILOT,
    CURSOR,
    DROID,
    DSH,
    GEMINI,
    GROK,
    KILO,
    KIMI,
    OPENCODE,
    OPENHANDS,
    PI,
    QWEN,
    VIBE,
];

/// Only on request, because it was not run.
const ANTIGRAVITY: Installer = Installer {
    agent: Agent::Antigravity,
    folder: Folder::Home(".gemini/config"),
    project: Some(".agents"),
    note: "Antigravity runs them only where {project} is open as a workspace",
    is_on_request: true,
    file: "hooks.json",
    format: Format::Settings(Shape::Named, ""),
    // One key that it does not know makes it drop the file. `PreToolUse` must be answered with a permission, and the hooks
    // around each model call add nothing.
    rows: rows!(PostToolUse, Stop: Reply),
    tells_event: true,
    // It ends the turn if an answer is not JSON of the known form: what ends well says so, even if the client is missing,
    // is killed or has nothing to say.
    command: |client, arguments| {
        let client = client.to_string_lossy();
        let client = shlex::try_quote(&client).expect("a path has no NUL");
        format!("[ -x {client} ] && {client} {arguments} | grep -a '}}$' || echo '{{}}'; exit 0")
    },
    matcher: Some(("PostToolUse", "*")),
    ..DEFAULT
};

const CLAUDE: Installer = Installer {
    agent: Agent::Claude,
    folder: Folder::Named("CLAUDE_CONFIG_DIR", ".claude"),
    project: Some(".claude"),
    note: "Claude Code runs them once you trust {project} in its own dialog",
    depends_on_version: true,
    managed: &[
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d/",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
    ],
    // It ignores a whole settings file because of one unknown event, so each event comes with the first version that
    // knows it (checked in the published 2.0.42 to 2.1.89).
    rows: rows!(
        SessionStart: Reply, UserPromptSubmit, PreToolUse, PreSkillShellCommand since 2 1 332,
        PermissionRequest since 2 0 45, PermissionDenied since 2 1 88, PostToolUse,
        PostToolUseFailure since 2 1 0, Notification, Stop: Reply, StopFailure since 2 1 78,
        // These were tried with that version. A hook for `WorktreeCreate` would have to make the work tree itself.
        ConfigChange since 2 1 330, TaskCompleted since 2 1 330, TeammateIdle since 2 1 330,
        SubagentStart since 2 0 44, SubagentStop, PreCompact, PostCompact since 2 1 76,
        SessionEnd: End
    ),
    // Other agents read these settings too.
    arguments: configured::marks,
    prompts: Some(COMMANDS),
    plugin: Some(("plugins/installed_plugins.json", "\"checkpointd@")),
    ..DEFAULT
};

const CODEX: Installer = Installer {
    agent: Agent::Codex,
    // It derives the keys of trusted hooks from this path.
    folder: Folder::Resolved("CODEX_HOME", ".codex"),
    project: Some(".codex"),
    note: "Codex reads them only where {project} is trusted in your `config.toml`; it asks at its first start there",
    depends_on_version: true,
    file: codex::HOOKS_FILE,
    plugin: Some(("config.toml", "[plugins.\"checkpointd@")),
    format: Format::Codex,
    managed: &["/etc/codex/requirements.toml"],
    rows: rows!(
        SessionStart: Reply, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse,
        Stop: Reply, SubagentStart, SubagentStop, PreCompact, PostCompact, Interrupt: End,
        SessionEnd: End
    ),
    prompts: Some(Prompts {
        folder: "prompts",
        in_projects: false,
        ..COMMANDS
    }),
    checks: codex::checks,
    ..DEFAULT
};

const COPILOT: Installer = Installer {
    agent: Agent::Copilot,
    folder: Folder::Named("COPILOT_HOME", ".copilot"),
    project: Some(".github"),
    note: "Copilot runs them only where {project} is a trusted folder; it asks at its first start there",
    // Version 0.0.400 has no stop hook.
    hooks_since: Some(Version(0, 0, 401)),
    file: "hooks/checkpointd.json",
    format: Format::Copilot,
    // `permissionRequest` fires for calls that are allowed, too.
    rows: rows!(
        sessionStart: Reply, userPromptSubmitted, preToolUse, postToolUse, postToolUseFailure,
        agentStop: Reply, preCompact, sessionEnd
    ),
    stop_event: "agentStop",
    tells_event: true,
    // It denies a tool call whose hook fails, so the shell stays and ends well even if the client is killed.
    command: |client, arguments| {
        let client = client.to_string_lossy();
        let client = shlex::try_quote(&client).expect("a path has no NUL");
        format!("[ -x {client} ] && {client} {arguments}; exit 0")
    },
    prefers_bash: true,
    ..DEFAULT
};

/// Only on request, because it was not run.
const CURSOR: Installer = Installer {
    agent: Agent::Cursor,
    folder: Folder::Home(".cursor"),
    project: Some(".cursor"),
    note: "Cursor runs them only where {project} is a trusted workspace",
    is_on_request: true,
    file: "hooks.json",
    format: Format::Settings(Shape::Flat, "{\n  \"version\": 1\n}\n"),
    // An event that it does not know makes it ignore the whole file. What else there is says nothing more, or is read
    // nowhere: see its chapter.
    rows: rows!(
        sessionStart, beforeSubmitPrompt, postToolUse, postToolUseFailure, subagentStart,
        subagentStop, preCompact, stop: Reply, sessionEnd
    ),
    stop_event: "stop",
    ..DEFAULT
};

const DROID: Installer = Installer {
    agent: Agent::Droid,
    folder: Folder::Home(".factory"),
    project: Some(".factory"),
    note: "droid runs the hooks of {project} for everyone who works there",
    rows: rows!(
        SessionStart: Reply, UserPromptSubmit, PreToolUse, PostToolUse, Notification, Stop: Reply,
        SubagentStop, PreCompact, SessionEnd
    ),
    prompts: Some(COMMANDS),
    // A file in whose place droid does not look at the hooks of its settings.
    checks: |found, _| {
        let path = found.folder.join("hooks.json");
        if !path.is_file() {
            return Vec::new();
        }
        let path = path.display();
        vec![Check::warn(
            format!("{}.file", found.agent),
            format!("droid may read {path} in place of the hooks in its settings"),
            "move its hooks into settings.json",
        )]
    },
    ..DEFAULT
};

const DSH: Installer = Installer {
    agent: Agent::Dsh,
    folder: Folder::Named("DSH_HOME", ".dsh"),
    file: "checkpointd.mjs",
    format: Format::Harness(Plugin(include_str!("dsh.mjs"))),
    // As opencode's.
    rows: rows!(Stop: Reply),
    ..DEFAULT
};

const GEMINI: Installer = Installer {
    agent: Agent::Gemini,
    folder: Folder::Below("GEMINI_CLI_HOME", "", ".gemini"),
    project: Some(".gemini"),
    note: "Gemini CLI runs them only where {project} is a trusted folder (`/permissions`)",
    // The model hooks fire at every model call and add nothing. Subagents are tool calls here.
    rows: rows!(
        SessionStart: Reply, BeforeAgent, BeforeTool, AfterTool, AfterAgent: Reply, Notification,
        PreCompress, SessionEnd
    ),
    stop_event: "AfterAgent",
    tells_event: true,
    second: 1000,
    // The automatic one fires before every model call, with or without compression.
    matcher: Some(("PreCompress", "manual")),
    prefers_bash: true,
    prompts: Some(Prompts {
        // JSON's strings are valid TOML; a literal block keeps the text readable.
        file: |prompt| {
            let description = json!(prompt.description);
            let text = prompt.text("{{args}}");
            let text = format!("description = {description}\nprompt = '''\n{text}'''\n");
            (format!("{}.toml", prompt.name), text)
        },
        ..COMMANDS
    }),
    plugin: Some((
        "extensions/checkpointd/gemini-extension.json",
        "\"checkpointd\"",
    )),
    ..DEFAULT
};

const GROK: Installer = Installer {
    agent: Agent::Grok,
    folder: Folder::Named("GROK_HOME", ".grok"),
    project: Some(".grok"),
    note: "Grok runs them once you trust {project} (`/hooks-trust`)",
    file: "hooks/checkpointd.json",
    rows: rows!(
        SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, Notification,
        Stop: Reply, StopFailure, SubagentStart, SubagentStop, PreCompact, PostCompact, SessionEnd
    ),
    ..DEFAULT
};

/// A fork of opencode.
const KILO: Installer = Installer {
    agent: Agent::Kilo,
    folder: Folder::Below("XDG_CONFIG_HOME", ".config", "kilo"),
    project: Some(".kilo"),
    note: "Kilo loads the plugin of {project} without asking",
    ..OPENCODE
};

const KIMI: Installer = Installer {
    agent: Agent::Kimi,
    folder: Folder::Named("KIMI_CODE_HOME", ".kimi-code"),
    file: "config.toml",
    format: Format::Tables("event", |wanted: &HookEntry| {
        vec![
            ("event", string(wanted.event)),
            ("command", string(&wanted.command)),
            ("timeout", wanted.timeout.to_string()),
        ]
    }),
    // One name that it does not know, and it does not start.
    rows: rows!(
        SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse,
        PostToolUseFailure, Notification, Stop: Reply, StopFailure, Interrupt, SubagentStart,
        SubagentStop, PreCompact, PostCompact, SessionEnd
    ),
    ..DEFAULT
};

const OPENCODE: Installer = Installer {
    agent: Agent::OpenCode,
    folder: Folder::Below("XDG_CONFIG_HOME", ".config", "opencode"),
    project: Some(".opencode"),
    note: "opencode loads the plugin of {project} without asking",
    file: "plugins/checkpointd.js",
    format: Format::Plugin(Plugin(include_str!("opencode.js"))),
    // The plugin tells more. Of a stop the time limit is needed.
    rows: rows!(Stop: Reply),
    prompts: Some(COMMANDS),
    ..DEFAULT
};

const OPENHANDS: Installer = Installer {
    agent: Agent::OpenHands,
    folder: Folder::Home(".openhands"),
    project: Some(".openhands"),
    note: "OpenHands runs them in place of those of `~/.openhands/hooks.json`",
    file: "hooks.json",
    rows: openhands::ROWS,
    tells_event: true,
    refuses: openhands::refuses,
    checks: openhands::checks,
    ..DEFAULT
};

const PI: Installer = Installer {
    agent: Agent::Pi,
    folder: Folder::Named("PI_CODING_AGENT_DIR", ".pi/agent"),
    project: Some(".pi"),
    note: "Pi loads the extension of {project} without asking",
    file: "extensions/checkpointd.ts",
    format: Format::Plugin(Plugin(include_str!("pi.ts"))),
    // As opencode's.
    rows: rows!(Stop: Reply),
    prompts: Some(Prompts {
        folder: "prompts",
        ..COMMANDS
    }),
    ..DEFAULT
};

const QWEN: Installer = Installer {
    agent: Agent::Qwen,
    folder: Folder::Named("QWEN_HOME", ".qwen"),
    project: Some(".qwen"),
    note: "Qwen Code runs them only where {project} is a trusted folder, if you use folder trust",
    // Version 0.10.1 has no hooks.
    hooks_since: Some(Version(0, 12, 0)),
    // `PostToolBatch` repeats what `PostToolUse` says, and `MessageDisplay` comes for each piece of an answer.
    rows: rows!(
        SessionStart: Reply, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse,
        PostToolUseFailure, Notification, Stop: Reply, StopFailure, SubagentStart, SubagentStop,
        PreCompact, PostCompact, SessionEnd
    ),
    prefers_bash: true,
    prompts: Some(Prompts {
        file: |prompt| prompt.markdown("{{args}}"),
        ..COMMANDS
    }),
    ..DEFAULT
};

const VIBE: Installer = Installer {
    agent: Agent::Vibe,
    folder: Folder::Named("VIBE_HOME", ".vibe"),
    project: Some(".vibe"),
    note: "Vibe runs the hooks of {project} once the folder is trusted",
    file: "hooks.toml",
    // A name that a project's file has too takes the place of the user's, so the call is made once.
    format: Format::Tables("type", |wanted: &HookEntry| {
        vec![
            ("name", string(&format!("checkpointd-{}", wanted.event))),
            ("type", string(wanted.event)),
            ("command", string(&wanted.command)),
            ("timeout", format!("{}.0", wanted.timeout)),
        ]
    }),
    rows: rows!(pre_tool, post_tool, post_agent: Reply),
    stop_event: "post_agent",
    ..DEFAULT
};
