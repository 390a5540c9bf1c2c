//! The agent for launchd: started at login, started again when it fails.

use std::path::{Path, PathBuf};

use super::{Setup, Unit};

/// The agent's name.
pub(crate) const LABEL: &str = "dev.checkpointd.daemon";

/// Returns the folder of the user's own agents.
pub(crate) fn folder() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join("Library/LaunchAgents"))
}

/// The user's own part of launchd.
pub(crate) fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// The agent as launchd names it.
pub(crate) fn target() -> String {
    format!("{}/{LABEL}", domain())
}

/// Returns the agent's property list, to be put into `folder`.
pub(crate) fn units(setup: &Setup, folder: &Path) -> Vec<Unit> {
    let log = escaped(&setup.home.logs.join("daemon.log").to_string_lossy());
    let environment: String = setup
        .env
        .iter()
        .map(|(name, value)| format!("    <key>{}</key>\n    <string>{}</string>\n", escaped(name), escaped(value)))
        .collect();
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{}</string>
    <string>daemon</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{environment}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>2</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>{log}</string>
</dict>
</plist>
"#,
        escaped(&setup.program.to_string_lossy())
    );
    vec![Unit { path: folder.join(format!("{LABEL}.plist")), text }]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Home;

    #[test]
    fn the_property_list_can_be_read_back() {
        let setup = Setup {
            program: "/opt/a & b/checkpointd".into(),
            home: Home::under(Path::new("/Users/u/<x>")),
            env: vec![("CHECKPOINTD_HOME".into(), "/Users/u/<x>".into())],
        };
        let text = units(&setup, Path::new("/agents")).remove(0).text;
        let read: plist::Dictionary = plist::from_bytes(text.as_bytes()).expect("a property list");
        let words = read["ProgramArguments"].as_array().expect("a list");
        assert_eq!(words[0].as_string(), Some("/opt/a & b/checkpointd"));
        let env = read["EnvironmentVariables"].as_dictionary().expect("a table");
        assert_eq!(env["CHECKPOINTD_HOME"].as_string(), Some("/Users/u/<x>"));
        assert_eq!(read["Umask"].as_unsigned_integer(), Some(0o077));
        assert_eq!(read["StandardErrorPath"].as_string(), Some("/Users/u/<x>/logs/daemon.log"));
    }
}
