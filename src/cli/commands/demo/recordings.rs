//! The recordings that can be played.

use super::project::Project;

/// One recorded session of an agent, with one blocked stop.
pub(super) struct Recording {
    /// The agent's word, also the name of the folder with its recordings.
    pub(super) agent: &'static str,
    /// The agent's name and version.
    pub(super) name: &'static str,
    /// The project in which it is played.
    pub(super) project: &'static Project,
    pub(super) file: &'static str,
    /// The message that blocked the recorded agent.
    pub(super) feedback: &'static str,
    /// Where the agent keeps its transcript, if its hooks do not say, or name a folder.
    pub(super) transcript_place: Option<&'static str>,
    pub(super) calls: &'static str,
    pub(super) transcript: &'static str,
}

/// The session's id in the place of a transcript.
pub(super) const SESSION: &str = "SESSION";

const DEBRIEF: &str = "DEBRIEF: say what you did.\nSecond line.";
const CHECKPOINT: &str =
    "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did";

/// One recording for each agent. The story plays in the first one's project.
pub(super) static RECORDINGS: [Recording; 10] = [
    Recording {
        agent: "claude",
        name: "Claude Code 2.1.330",
        project: &Project {
            name: "inventory",
            files: &[
                (
                    "pyproject.toml",
                    "[project]\nname = \"inventory\"\n\n[tool.pytest.ini_options]\npythonpath = [\".\"]\n",
                ),
                ("stock/__init__.py", ""),
                (
                    "tests/test_reorder.py",
                    "from stock.reorder import to_order


def test_none_left():
    assert to_order(0) == 5


def test_some_left():
    assert to_order(3) == 2


def test_enough_left():
    assert to_order(9) == 0
",
                ),
            ],
            written: "stock/reorder.py",
        },
        file: "notes.txt",
        feedback: DEBRIEF,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/claude/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/claude/h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl"
        ),
    },
    Recording {
        agent: "gemini",
        name: "Gemini CLI 0.61.0",
        project: &Project {
            name: "webshop",
            files: &[
                ("package.json", "{ \"name\": \"webshop\" }\n"),
                ("src/index.js", ""),
            ],
            written: "src/cart.js",
        },
        file: "notes.txt",
        feedback: DEBRIEF,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/gemini/h-stop-deny-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/gemini/h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl"
        ),
    },
    Recording {
        agent: "codex",
        name: "Codex CLI 0.169.0",
        project: &Project {
            name: "parser",
            files: &[
                ("Cargo.toml", "[package]\nname = \"parser\"\n"),
                ("src/lib.rs", ""),
            ],
            written: "src/tokens.rs",
        },
        file: "notes.txt",
        feedback: DEBRIEF,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/codex/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/codex/h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl"
        ),
    },
    Recording {
        agent: "qwen",
        name: "Qwen Code 0.24.4",
        project: &Project {
            name: "billing",
            files: &[
                ("package.json", "{ \"name\": \"billing\" }\n"),
                ("src/invoice.js", "export const total = () => 1;\n"),
            ],
            written: "src/invoice.js",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/qwen/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/qwen/h-stop-block-once.transcripts/20569a46-76ed-42bb-bd4a-bcec55c27485.jsonl"
        ),
    },
    Recording {
        agent: "copilot",
        name: "GitHub Copilot CLI 1.0.102",
        project: &Project {
            name: "weather",
            files: &[
                ("pyproject.toml", "[project]\nname = \"weather\"\n"),
                ("weather/report.py", "def report():\n    return 1\n"),
            ],
            written: "weather/report.py",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/copilot/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/copilot/h-stop-block-once.transcripts/events.jsonl"
        ),
    },
    Recording {
        agent: "opencode",
        name: "opencode 1.18.33",
        project: &Project {
            name: "gallery",
            files: &[
                ("package.json", "{ \"name\": \"gallery\" }\n"),
                ("src/album.ts", "export const size = () => 1;\n"),
            ],
            written: "src/album.ts",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/opencode/t-stop-block-once.ndjson"),
        transcript: "",
    },
    Recording {
        agent: "droid",
        name: "Factory droid 0.215.0",
        project: &Project {
            name: "planner",
            files: &[
                ("go.mod", "module planner\n"),
                (
                    "planner.go",
                    "package planner\n\nfunc Next() int { return 1 }\n",
                ),
            ],
            written: "planner.go",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/droid/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/droid/h-stop-block-once.transcripts/25b85e3c-b4e1-41b5-95af-845b88e6fe5a.jsonl"
        ),
    },
    Recording {
        agent: "pi",
        name: "Pi 0.73.1",
        project: &Project {
            name: "recipes",
            files: &[
                ("pyproject.toml", "[project]\nname = \"recipes\"\n"),
                ("recipes/scale.py", "def scale():\n    return 1\n"),
            ],
            written: "recipes/scale.py",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../../tests/data/fixtures/pi/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/pi/h-stop-block-once.transcripts/2026-11-23T13-05-19-008Z_01a20882-ca9f-77d2-884b-e7acdf26fbc8.jsonl"
        ),
    },
    Recording {
        agent: "kimi",
        name: "Kimi Code 2.1.0",
        project: &Project {
            name: "ledger",
            files: &[
                ("Cargo.toml", "[package]\nname = \"ledger\"\n"),
                ("src/entry.rs", "pub fn entry() -> u8 {\n    1\n}\n"),
            ],
            written: "src/entry.rs",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: Some(
            "/home/user/.kimi-code/sessions/project/SESSION/agents/main/wire.jsonl",
        ),
        calls: include_str!("../../../../tests/data/fixtures/kimi/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/kimi/h-stop-block-once.transcripts/wire.jsonl"
        ),
    },
    Recording {
        agent: "vibe",
        name: "Mistral Vibe 3.0.2",
        project: &Project {
            name: "notebook",
            files: &[
                ("pyproject.toml", "[project]\nname = \"notebook\"\n"),
                ("notebook/page.py", "def page():\n    return 1\n"),
            ],
            written: "notebook/page.py",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: Some(
            "/home/user/.vibe/logs/session/unified/SESSION/journal/0000000000000001.jsonl",
        ),
        calls: include_str!("../../../../tests/data/fixtures/vibe/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/vibe/h-stop-block-once.transcripts/0000000000000001.jsonl"
        ),
    },
];
