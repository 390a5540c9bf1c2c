//! The agents: what a quiet, offline home of each holds, and how it is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// Claude Code.
    Claude,
    /// Gemini CLI.
    Gemini,
    /// Codex CLI.
    Codex,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode.
    OpenCode,
    /// Factory droid.
    Droid,
    /// Pi.
    Pi,
    /// Kimi Code.
    Kimi,
    /// Mistral Vibe.
    Vibe,
    /// Grok Build.
    Grok,
    /// Kilo CLI.
    Kilo,
    /// OpenHands CLI.
    OpenHands,
    /// DeepSeek Harness.
    Dsh,
}

/// The folder with the agents' programs, as `install.sh` has made it.
pub(crate) const PROGRAMS: &str = "CHECKPOINTD_AGENTS";

/// Claude Code asks about keys that it does not know, by their last 20 characters.
const CLAUDE_KEY: &str = "sk-ant-dummy";

/// Returns the folder with the agents' programs.
pub(crate) fn programs() -> PathBuf {
    std::env::var_os(PROGRAMS)
        .expect("tests/agents/run.sh says where the agents are")
        .into()
}

impl Agent {
    /// All of them.
    pub(crate) const ALL: [Self; 14] = [
        Self::Claude,
        Self::Gemini,
        Self::Codex,
        Self::Qwen,
        Self::Copilot,
        Self::OpenCode,
        Self::Droid,
        Self::Pi,
        Self::Kimi,
        Self::Vibe,
        Self::Grok,
        Self::Kilo,
        Self::OpenHands,
        Self::Dsh,
    ];

    /// Its word on the command line, which is its program's name too.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Droid => "droid",
            Self::Pi => "pi",
            Self::Kimi => "kimi",
            Self::Vibe => "vibe",
            Self::Grok => "grok",
            Self::Kilo => "kilo",
            Self::OpenHands => "openhands",
            Self::Dsh => "dsh",
        }
    }

    /// The file in the home folder that its hooks go to.
    pub(crate) fn settings(self, home: &Path) -> PathBuf {
        home.join(match self {
            Self::Claude => ".claude/settings.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Codex => ".codex/config.toml",
            Self::Qwen => ".qwen/settings.json",
            Self::Copilot => ".copilot/hooks/checkpointd.json",
            Self::OpenCode => ".config/opencode/plugins/checkpointd.js",
            Self::Kilo => ".config/kilo/plugins/checkpointd.js",
            Self::OpenHands => ".openhands/hooks.json",
            Self::Droid => ".factory/settings.json",
            Self::Pi => ".pi/agent/extensions/checkpointd.ts",
            Self::Kimi => ".kimi-code/config.toml",
            Self::Vibe => ".vibe/hooks.toml",
            Self::Grok => ".grok/hooks/checkpointd.json",
            Self::Dsh => ".dsh/cordis.patch.yml",
        })
    }

    /// Returns where its settings are, which is elsewhere if its hooks have a file of their own.
    fn own_settings(self, home: &Path) -> PathBuf {
        match self {
            Self::Copilot => home.join(".copilot/config.json"),
            Self::OpenCode => home.join(".config/opencode/opencode.json"),
            Self::Kilo => home.join(".config/kilo/kilo.json"),
            Self::Pi => home.join(".pi/agent/models.json"),
            Self::Vibe => home.join(".vibe/config.toml"),
            Self::Grok => home.join(".grok/config.toml"),
            Self::Dsh => home.join(".dsh/profiles/headless/cordis.patch.yml"),
            _ => self.settings(home),
        }
    }

    /// Writes settings with which it asks a person nothing and calls nobody but the scripted model.
    pub(crate) fn settle(self, home: &Path, project: &Path, port: u16) {
        let settings = match self {
            Self::Claude => {
                let trusted = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
                let state = json!({
                    "hasCompletedOnboarding": true, "theme": "dark", "numStartups": 3,
                    "customApiKeyResponses": { "approved": [CLAUDE_KEY], "rejected": [] },
                    "projects": { project.to_str().expect("text"): trusted },
                });
                fs::write(home.join(".claude.json"), state.to_string()).expect("writes");
                let allow = ["Bash", "Write", "Edit", "Read", "Agent"];
                // Its automatic mode, which is the default, asks its vendor about each call.
                let permissions = json!({ "allow": allow, "defaultMode": "default", "disableAutoMode": "disable" });
                json!({ "permissions": permissions, "includeCoAuthoredBy": false }).to_string()
            }
            Self::Gemini => {
                let settings = json!({
                    "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
                    "privacy": { "usageStatisticsEnabled": false },
                    "telemetry": { "enabled": false },
                    "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
                    "model": { "skipNextSpeakerCheck": true },
                });
                serde_json::to_string_pretty(&settings).expect("JSON")
            }
            Self::Qwen => {
                let settings = json!({
                    "general": { "enableAutoUpdate": false },
                    "privacy": { "usageStatisticsEnabled": false },
                    "telemetry": { "enabled": false },
                    "security": { "auth": { "selectedType": "openai" } },
                    "memory": { "enableManagedAutoMemory": false },
                    // It adds this at its start.
                    "$version": 4,
                });
                serde_json::to_string_pretty(&settings).expect("JSON")
            }
            Self::Copilot => {
                let settings = json!({ "banner": "never", "trusted_folders": [project], "trustedFolders": [project] });
                settings.to_string()
            }
            Self::OpenCode | Self::Kilo | Self::Droid | Self::Pi => self.provider(port).to_string(),
            Self::Kimi => format!(
                "# Kept by a person: this comment must survive.\ndefault_model = \"scripted\"\n\n\
                 [providers.scripted]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
                 api_key = \"dummy\"\n\n[models.scripted]\nprovider = \"scripted\"\nmodel = \"scripted\"\n\
                 max_context_size = 100000\n"
            ),
            Self::Vibe => format!(
                "active_model = \"scripted\"\nenable_telemetry = false\nenable_update_checks = false\n\
                 enable_auto_update = false\n\n[[providers]]\nname = \"scripted\"\n\
                 api_base = \"http://127.0.0.1:{port}/v1\"\napi_key_env_var = \"SCRIPTED_KEY\"\n\
                 api_style = \"openai\"\nbackend = \"generic\"\n\n\
                 [[models]]\nname = \"scripted\"\nprovider = \"scripted\"\nalias = \"scripted\"\n"
            ),
            Self::Grok => format!(
                "[models]\ndefault = \"scripted\"\n\n[model.scripted]\nmodel = \"scripted\"\nname = \"scripted\"\n\
                 base_url = \"http://127.0.0.1:{port}/v1\"\napi_key = \"dummy\"\ncontext_window = 200000\n"
            ),
            Self::Dsh => format!(
                "- id: llm-pi-ai\n  config:\n    providers:\n      scripted:\n        displayName: Scripted\n        \
                 api: openai-completions\n        baseURL: http://127.0.0.1:{port}/v1\n        apiKeyEnv: SCRIPTED_KEY\n        \
                 models:\n          - id: scripted\n            name: Scripted\n            contextWindow: 200000\n            \
                 maxTokens: 4096\n- id: agent-default-model\n  config:\n    provider: scripted\n    model: scripted\n"
            ),
            // Its model is in its environment.
            Self::OpenHands => {
                let own = json!({ "type": "command", "command": "true" });
                json!({ "hooks": { "PostToolUse": [{ "matcher": "*", "hooks": [own] }] } })
                    .to_string()
            }
            // Its background daemon would outlive the test.
            Self::Codex => format!(
                "# Kept by a person: this comment must survive.\n\
                 model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
                 sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\n\
                 [notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n\n\
                 [features]\nmulti_agent_v2 = true\ndaemon_auto_start = false\n\n[analytics]\nenabled = false\n\n\
                 [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
                 env_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 0\n\
                 stream_max_retries = 0\n\n[projects.{}]\ntrust_level = \"trusted\"\n",
                json!(project)
            ),
        };
        let file = self.own_settings(home);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, settings).expect("writes");
        if self == Self::Dsh {
            fs::write(
                self.settings(home),
                "# Kept by a person.\n- id: llm-pi-ai\n",
            )
            .expect("writes");
        }
        if self == Self::Vibe {
            let own = "# Kept by a person.\n[[hooks]]\nname = \"own\"\ntype = \"post_tool\"\ncommand = \"true\"\n";
            fs::write(self.settings(home), own).expect("writes");
        }
    }

    /// Returns the settings of an agent for models of any vendor: the scripted model, and calls to nobody else.
    fn provider(self, port: u16) -> serde_json::Value {
        let url = format!("http://127.0.0.1:{port}/v1");
        match self {
            Self::OpenCode | Self::Kilo => {
                let options = json!({ "baseURL": url, "apiKey": "dummy" });
                let provider = json!({ "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
                    "models": { "scripted": { "name": "scripted" } } });
                json!({ "provider": { "scripted": provider }, "model": "scripted/scripted",
                    "small_model": "scripted/scripted", "autoupdate": false, "share": "disabled",
                    // On a busy machine Kilo would ask whether to go on without it.
                    "snapshot": false })
            }
            Self::Droid => {
                let model = json!({ "model": "scripted", "displayName": "scripted", "apiKey": "dummy", "baseUrl": url,
                    "maxOutputTokens": 4096, "provider": "generic-chat-completion-api" });
                json!({ "customModels": [model], "cloudSessionSync": false, "enableDroidShield": false })
            }
            _ => {
                let provider = json!({ "baseUrl": url, "apiKey": "dummy", "api": "openai-completions",
                    "models": [{ "id": "scripted" }] });
                json!({ "providers": { "scripted": provider } })
            }
        }
    }

    /// Returns the command that works on a task without a person, and ends. It may take up its last session.
    pub(crate) fn headless(self, task: &str, resume: bool, port: u16) -> Command {
        let mut command = self.command(port);
        let words: &[&str] = match (self, resume) {
            (Self::Claude, false) => &["-p"],
            (Self::Claude, true) => &["--continue", "-p"],
            (Self::Gemini, false) => &["-p"],
            (Self::Gemini, true) => &["--resume", "latest", "-p"],
            (Self::Qwen | Self::Copilot | Self::Kimi | Self::Vibe, false) => &["-p"],
            (Self::Qwen | Self::Copilot | Self::Kimi | Self::Vibe, true) => &["--continue", "-p"],
            (Self::Grok, false) => &["--always-approve", "-p"],
            (Self::Grok, true) => &["--always-approve", "--continue", "-p"],
            (Self::Dsh, _) => &["--profile", "headless"],
            (Self::Droid, _) => &["exec", "--auto", "high", "-m", "custom:scripted-0"],
            (Self::Pi, false) => &["-p"],
            (Self::Pi, true) => &["--continue", "-p"],
            (Self::OpenCode | Self::Kilo, false) => &["run"],
            (Self::OpenCode | Self::Kilo, true) => &["run", "--continue"],
            (Self::OpenHands, false) => &["--headless", "-t"],
            (Self::OpenHands, true) => &["--headless", "--resume", "--last", "-t"],
            (Self::Codex, false) => &["exec"],
            (Self::Codex, true) => &["exec", "resume", "--last"],
        };
        command.args(words);
        match self {
            // It puts a word with blanks in quotes.
            Self::OpenCode | Self::Kilo => command.args(task.split(' ')),
            _ => command.arg(task),
        };
        command
    }

    /// Whether it is told of a checkpoint only in its terminal: without one it ends with its first stop.
    pub(crate) fn needs_terminal(self) -> bool {
        self == Self::OpenCode
    }

    /// Whether it is opencode or a fork of it.
    pub(crate) fn is_opencode(self) -> bool {
        matches!(self, Self::OpenCode | Self::Kilo)
    }

    /// Whether it calls its stop hook once in a turn only, so that the next tool call shows that it was told.
    pub(crate) fn stops_once(self) -> bool {
        self == Self::Kimi
    }

    /// Whether it ends the hooks of a turn that still run with the turn.
    pub(crate) fn ends_hooks(self) -> bool {
        self == Self::Kimi
    }

    /// What it asks at its start in a new folder, if nothing prevents it. Enter says yes.
    pub(crate) fn asks_at_start(self) -> Option<&'static str> {
        (self == Self::Kimi).then_some("Trust this folder?")
    }

    /// Returns what makes it ask nothing in its terminal, beside the words of its command.
    pub(crate) fn allows(self) -> &'static [&'static str] {
        match self {
            Self::Kimi => &["--auto"],
            Self::OpenHands | Self::Grok => &["--always-approve"],
            _ => &[],
        }
    }

    /// The key that allows one call in its dialog.
    pub(crate) fn allows_once(self) -> &'static str {
        match self {
            // It would be allowed everything from then on.
            Self::Grok => "2",
            _ => "Enter",
        }
    }

    /// Has it ask before it runs a command, if it does not do that unless it is told otherwise.
    pub(crate) fn ask_before_commands(self, home: &Path) {
        if self.is_opencode() {
            let file = self.own_settings(home);
            let text = fs::read_to_string(&file).expect("settings");
            let mut settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            settings["permission"] = json!({ "bash": "ask" });
            fs::write(file, settings.to_string()).expect("writes");
        }
    }

    /// Returns the words that give it its task in a terminal; none if it has to be typed.
    pub(crate) fn asks(self, task: &str) -> Vec<&str> {
        match self {
            Self::Kimi | Self::Grok => vec![],
            // With a bare task it would end when that is done.
            Self::Qwen | Self::Copilot => vec!["-i", task],
            Self::OpenCode | Self::Kilo => vec!["--prompt", task],
            Self::OpenHands => vec!["-t", task],
            Self::Droid | Self::Dsh => unreachable!("it has no terminal view here"),
            Self::Claude | Self::Gemini | Self::Codex | Self::Pi | Self::Vibe => vec![task],
        }
    }

    /// Returns the command that works in a terminal, with nothing of this process's environment.
    pub(crate) fn command(self, port: u16) -> Command {
        let mut command = Command::new(programs().join(self.name()));
        command.env_clear().env("LANG", "C.UTF-8");
        let host = format!("http://127.0.0.1:{port}");
        match self {
            Self::Claude => command
                .env("ANTHROPIC_BASE_URL", host)
                .env("ANTHROPIC_API_KEY", CLAUDE_KEY)
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("DISABLE_AUTOUPDATER", "1"),
            Self::Gemini => command
                .env("GOOGLE_GEMINI_BASE_URL", host)
                .env("GEMINI_API_KEY", "dummy")
                .env("GEMINI_CLI_NO_RELAUNCH", "true")
                .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                // A model is named, so that no other one is asked which to take.
                .args(["--yolo", "-m", "gemini-2.5-flash"]),
            Self::Codex => command.env("SCRIPTED_KEY", "dummy"),
            Self::Copilot => command
                .env("COPILOT_PROVIDER_BASE_URL", format!("{host}/v1"))
                .env("COPILOT_PROVIDER_API_KEY", "dummy")
                .env("COPILOT_MODEL", "scripted")
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false")
                .args(["--allow-all-tools", "--allow-all-paths"]),
            Self::Kimi => &mut command,
            Self::Grok => command.env("GROK_DISABLE_AUTOUPDATER", "1"),
            Self::Dsh => command
                .env("SCRIPTED_KEY", "dummy")
                .env("DSH_PERMISSION_MODE", "danger-full-access"),
            Self::Vibe => command.env("SCRIPTED_KEY", "dummy").arg("--yolo"),
            Self::Droid => command.env("FACTORY_API_KEY", "dummy"),
            Self::Pi => command.env("PI_OFFLINE", "1").args([
                "--provider",
                "scripted",
                "--model",
                "scripted",
            ]),
            // It would install a package at its first start.
            Self::OpenCode => command
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("npm_config_offline", "true")
                .env("npm_config_fetch_retries", "0"),
            Self::Kilo => command
                .env("KILO_DISABLE_AUTOUPDATE", "1")
                .env("KILO_DISABLE_MODELS_FETCH", "1")
                .env("KILO_DISABLE_LSP_DOWNLOAD", "1")
                .env("KILO_DISABLE_SESSION_INGEST", "1")
                .env("KILO_TELEMETRY_LEVEL", "off")
                .env("npm_config_offline", "true")
                .env("npm_config_fetch_retries", "0"),
            Self::OpenHands => command
                .env("LLM_API_KEY", "dummy")
                .env("LLM_BASE_URL", format!("{host}/v1"))
                .env("LLM_MODEL", "openai/scripted")
                .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
                .env("OPENHANDS_SUPPRESS_BANNER", "1")
                .args(["--override-with-envs", "--exit-without-confirmation"]),
            Self::Qwen => command
                .env("OPENAI_BASE_URL", format!("{host}/v1"))
                .env("OPENAI_API_KEY", "dummy")
                .env("OPENAI_MODEL", "scripted")
                .env("QWEN_CODE_NO_RELAUNCH", "true")
                .args(["--approval-mode", "yolo"]),
        };
        command
    }
}
