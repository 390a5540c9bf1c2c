//! The recordings that can be played.

/// A small project for a recorded agent to work on.
pub(super) struct Project {
    pub(super) name: &'static str,
    /// The files in it before the agent starts.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The file that the agent writes. It is code here; the recorded one was a text.
    pub(super) written: &'static str,
}

/// One recorded session of an agent, with one blocked stop.
pub(super) struct Recording {
    /// The agent's word, also the name of the folder with its recordings.
    pub(super) agent: &'static str,
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

/// One recording for each agent.
pub(super) static RECORDINGS: [Recording; 14] = [
    Recording {
        agent: "claude",
        project: &Project {
            name: "inventory",
            files: &[
                ("pyproject.toml", "[project]\nname = \"inventory\"\n"),
                ("stock/__init__.py", ""),
            ],
            written: "stock/reorder.py",
        },
        file: "notes.txt",
        feedback: DEBRIEF,
        transcript_place: None,
        calls: include_str!("../../../tests/data/fixtures/claude/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/claude/h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl"
        ),
    },
    Recording {
        agent: "gemini",
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
        calls: include_str!("../../../tests/data/fixtures/gemini/h-stop-deny-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/gemini/h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl"
        ),
    },
    Recording {
        agent: "codex",
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
        calls: include_str!("../../../tests/data/fixtures/codex/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/codex/h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl"
        ),
    },
    Recording {
        agent: "qwen",
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
        calls: include_str!("../../../tests/data/fixtures/qwen/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/qwen/h-stop-block-once.transcripts/20569a46-76ed-42bb-bd4a-bcec55c27485.jsonl"
        ),
    },
    Recording {
        agent: "copilot",
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
        calls: include_str!("../../../tests/data/fixtures/copilot/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/copilot/h-stop-block-once.transcripts/events.jsonl"
        ),
    },
    Recording {
        agent: "opencode",
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
        calls: include_str!("../../../tests/data/fixtures/opencode/t-stop-block-once.ndjson"),
        transcript: "",
    },
    Recording {
        agent: "droid",
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
        calls: include_str!("../../../tests/data/fixtures/droid/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/droid/h-stop-block-once.transcripts/25b85e3c-b4e1-41b5-95af-845b88e6fe5a.jsonl"
        ),
    },
    Recording {
        agent: "pi",
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
        calls: include_str!("../../../tests/data/fixtures/pi/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/pi/h-stop-block-once.transcripts/2026-11-23T13-05-19-008Z_01a20882-ca9f-77d2-884b-e7acdf26fbc8.jsonl"
        ),
    },
    Recording {
        agent: "kimi",
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
        calls: include_str!("../../../tests/data/fixtures/kimi/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/kimi/h-stop-block-once.transcripts/wire.jsonl"
        ),
    },
    Recording {
        agent: "vibe",
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
        calls: include_str!("../../../tests/data/fixtures/vibe/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/vibe/h-stop-block-once.transcripts/0000000000000001.jsonl"
        ),
    },
    Recording {
        agent: "kilo",
        project: &Project {
            name: "orchard",
            files: &[
                ("package.json", "{ \"name\": \"orchard\" }\n"),
                ("src/tree.ts", "export const age = () => 1;\n"),
            ],
            written: "src/tree.ts",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../tests/data/fixtures/kilo/t-stop-block-once.ndjson"),
        transcript: "",
    },
    Recording {
        agent: "openhands",
        project: &Project {
            name: "harbor",
            files: &[
                ("pyproject.toml", "[project]\nname = \"harbor\"\n"),
                ("harbor/pier.py", "def pier():\n    return 1\n"),
            ],
            written: "harbor/pier.py",
        },
        file: "src/x.py",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../tests/data/fixtures/openhands/h-stop-block-once.ndjson"),
        transcript: "",
    },
    Recording {
        agent: "grok",
        project: &Project {
            name: "routes",
            // It runs a Python file, which says nothing of Rust.
            files: &[
                ("Cargo.toml", "[package]\nname = \"routes\"\n"),
                ("src/plan.rs", "pub fn plan() -> u8 {\n    1\n}\n"),
            ],
            written: "src/plan.rs",
        },
        file: "b.py",
        feedback: "[CK] Before you stop:\n\n1. run the tests",
        transcript_place: None,
        calls: include_str!("../../../tests/data/fixtures/grok/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../tests/data/fixtures/grok/h-stop-block-once.transcripts/updates.jsonl"
        ),
    },
    Recording {
        agent: "dsh",
        project: &Project {
            name: "archive",
            files: &[
                ("pyproject.toml", "[project]\nname = \"archive\"\n"),
                ("archive/shelf.py", "def shelf():\n    return 1\n"),
            ],
            written: "archive/shelf.py",
        },
        file: "notes.txt",
        feedback: CHECKPOINT,
        transcript_place: None,
        calls: include_str!("../../../tests/data/fixtures/dsh/h-stop-block-once.ndjson"),
        transcript: "",
    },
];
