//! The tasks that a command names whose words are not simply a verb and a name.

/// Returns the tasks that a call of gradle names, without their projects.
pub(crate) fn tasks_of_gradle<'a>(words: &[&'a str]) -> Vec<&'a str> {
    const TAKES_VALUE: [&str; 10] = [
        "-x",
        "--exclude-task",
        "-p",
        "--project-dir",
        "-b",
        "--build-file",
        "-I",
        "--init-script",
        "-g",
        "--tests",
    ];
    let mut is_value = false;
    let tasks = words.iter().copied().filter_map(|word| {
        let is_task = !std::mem::replace(&mut is_value, TAKES_VALUE.contains(&word));
        (is_task && !word.starts_with('-')).then(|| word.rsplit(':').next().unwrap_or(word))
    });
    tasks.collect()
}

/// Returns the sessions that a call of nox, or the environments that one of tox names.
pub(crate) fn chosen_sessions<'a>(program: &str, words: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut takes = false;
    for word in words.iter().copied().take_while(|word| *word != "--") {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if ["-s", "--session", "--sessions", "-e"].contains(&option) {
            takes = true;
            found.extend(value.split(',').filter(|name| !name.is_empty()));
        } else if word.starts_with('-') {
            takes = false;
        } else if takes {
            found.extend(word.split(',').filter(|name| !name.is_empty()));
            // Of tox only the next word is one.
            takes = program == "nox";
        }
    }
    found
}
